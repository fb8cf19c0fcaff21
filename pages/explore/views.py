"""The views of Explore, in the order of their control. A view is one module with `show(exploring)` and a line here."""

from collections.abc import Callable
from dataclasses import dataclass

from pages.explore import clusters_view, formation_view, graph_view, hierarchy_view, islands_view, map_view, schema_view
from pages.explore.exploring import Exploring


@dataclass(frozen=True)
class View:
    """A view. name: in the URL; its title is the message explore.view.NAME. wide: it takes the full width, without the
    inspector beside it. aside: draws a choice of the view's own at the right of the list of views."""

    name: str
    show: Callable[[Exploring], None]
    wide: bool = False
    aside: Callable[[], None] | None = None


VIEWS = (
    View("hierarchy", hierarchy_view.show, aside=hierarchy_view.shape_choice),
    View("graph", graph_view.show),
    View("schema", schema_view.show, wide=True),
    View("map", map_view.show, wide=True),
    View("formation", formation_view.show),
    View("islands", islands_view.show, wide=True),
    View("clusters", clusters_view.show),
)


def view_of(name: str) -> View:
    """The view of that name. Raises KeyError for an unknown name."""
    return {view.name: view for view in VIEWS}[name]
