"""The views of Explore: each module *_view.py of this folder that says so by a constant VIEW is found by itself."""

import importlib
import pkgutil
from functools import cache

from pages import explore
from pages.explore.exploring import View


@cache
def views() -> tuple[View, ...]:
    """Return the views in the order of their control."""
    names = sorted(each.name for each in pkgutil.iter_modules(explore.__path__) if each.name.endswith("_view"))
    modules = [importlib.import_module(f"{explore.__name__}.{name}") for name in names]
    return tuple(sorted((each.VIEW for each in modules if hasattr(each, "VIEW")), key=lambda view: view.place))
