"""What draws itself in a notebook."""

from importlib import import_module


class ShownInNotebooks:
    """Its _repr_html_ is that of leanrag_core.notebook, which knows figures and is loaded when something is drawn."""

    def _repr_html_(self) -> str:
        return str(import_module("leanrag_core.notebook").html_of(self))
