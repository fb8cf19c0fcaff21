"""The views of Explore: every module *_view.py of this folder with a constant VIEW."""

import pkgutil
from functools import cache

from leanrag_core.extensions import BrokenExtension, imported
from leanrag_core.messages.message import message
from pages import explore
from pages.common.messages import known
from pages.explore.exploring import View


def views() -> tuple[View, ...]:
    """Return the views in the order of their control, without those that do not load (see broken_views())."""
    return _found()[0]


def broken_views() -> tuple[BrokenExtension, ...]:
    """Return the modules whose view cannot be shown, with the reasons."""
    return _found()[1]


@cache
def _found() -> tuple[tuple[View, ...], tuple[BrokenExtension, ...]]:
    views_found: list[View] = []
    broken: list[BrokenExtension] = []
    for name in sorted(each.name for each in pkgutil.iter_modules(explore.__path__) if each.name.endswith("_view")):
        file = f"{name}.py"
        module, reason = imported(f"{explore.__name__}.{name}")
        view = getattr(module, "VIEW", None)
        if isinstance(view, View) and view.title is None and not known(f"explore.view.{view.name}"):
            reason = message("extension.lacks", file=file, name=f"explore.view.{view.name}")
        if reason is not None:
            broken.append(BrokenExtension(file, reason))
        elif isinstance(view, View):
            views_found.append(view)
    return tuple(sorted(views_found, key=lambda view: view.place)), tuple(broken)
