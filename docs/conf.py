"""The documentation's site: `make docs`. The source directory is the project's, so that links work as on a forge."""

from __future__ import annotations

import gc
import sys
from pathlib import Path

PROJECT = Path(__file__).parents[1]
sys.path[:0] = [str(PROJECT), str(PROJECT / "tools")]

from set_version import stated  # noqa: E402

# The pages stay in memory until the end, so garbage collection frees little and takes a fifth of the build time.
gc.disable()

project = "rosflight_py_sim"
version = release = stated("setup.cfg")
author = "rosflight_py_sim developers"
project_copyright = author

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "docs_site"]
root_doc = "docs/index"
include_patterns = ["*.md", "docs/*.md", "benchmarks/README.md", "changes/README.md", "rosflight_msgs/README.md"]
exclude_patterns = [".*", "build", "install", "log", "flights", "dist", "test", "docs/examples", "**/build"]

myst_heading_anchors = 4
myst_fence_as_directive = ["mermaid"]

autodoc_typehints = "signature"
autodoc_preserve_defaults = True
add_module_names = False
toc_object_entries = False
python_use_unqualified_type_names = True
napoleon_google_docstring = True
napoleon_custom_sections = [("Class attributes", "params_style")]

html_theme = "furo"
html_title = f"{project} {release}"
templates_path = ["templates"]
html_sidebars = {
    "**": [
        *("sidebar/brand.html", "sidebar/search.html", "sidebar/scroll-start.html", "sidebar/navigation.html"),
        *("versions.html", "sidebar/scroll-end.html"),
    ]
}
html_context = {"versions_page": "versions.html"}  # tools/build_docs.py gives another one for an earlier version
html_static_path = ["static"]
html_css_files = ["site.css"]
html_logo = "pictures/logo.svg"
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#c2410c", "color-brand-content": "#9a3412"},
    "dark_css_variables": {"color-brand-primary": "#fb923c", "color-brand-content": "#fdba74"},
}
