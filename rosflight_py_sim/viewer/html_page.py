"""Self-contained HTML pages from templates."""

from __future__ import annotations

from importlib.resources import files


def html_page(template: str, **values: object) -> str:
    """Page of a jinja2 template, given by its path in the package; texts among the values are escaped."""
    from jinja2 import Environment, FunctionLoader

    package = files("rosflight_py_sim")
    loader = FunctionLoader(lambda name: package.joinpath(name).read_text(encoding="utf-8"))
    return Environment(loader=loader, autoescape=True, trim_blocks=True).get_template(template).render(**values)
