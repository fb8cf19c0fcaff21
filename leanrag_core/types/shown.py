"""What draws itself in a notebook."""

from collections.abc import Callable
from typing import Any, ClassVar


class ShownInNotebooks:
    """Draws itself by what the workbench attaches: leanrag_core.notebook, which knows figures."""

    _html_of: ClassVar[Callable[[Any], str] | None] = None

    @staticmethod
    def draw_with(html_of: Callable[[Any], str]) -> None:
        """Let that function make the HTML of all such values."""
        ShownInNotebooks._html_of = html_of

    def _repr_html_(self) -> str | None:
        html_of = ShownInNotebooks._html_of
        return None if html_of is None else html_of(self)
