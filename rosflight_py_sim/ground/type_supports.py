"""Type supports of ROS messages without the message generator.

Every message class calls `rosidl_generator_py.import_type_support`. That package also holds the generator of message
classes, whose IDL parser and template engine take 7 MiB in each process.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import find_spec, module_from_spec
from typing import Any

PACKAGE = "rosidl_generator_py"


def leave_out_generator() -> None:
    """Import the package with only `import_type_support`; the first use of another attribute imports the rest."""
    spec = find_spec(PACKAGE)
    if PACKAGE in sys.modules or spec is None or spec.loader is None:
        return
    loader = spec.loader
    package: Any = module_from_spec(spec)
    sys.modules[PACKAGE] = package
    package.import_type_support = import_module(f"{PACKAGE}.import_type_support_impl").import_type_support

    def complete(name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        del package.__getattr__
        loader.exec_module(package)
        return getattr(package, name)

    package.__getattr__ = complete
