"""A page may show the parts of Ask several times side by side; each has a scope, which keeps their names apart."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Scope:
    """The prefix of all names of a group of widgets: their keys, their names in the URL and in the session's memory.

    The scope without a prefix belongs to a page that shows the group once; its names are the plain ones of links.
    """

    prefix: str = ""

    def name(self, plain: str) -> str:
        """Return the name in this scope: "n" stays "n" without a prefix, and is "b_n" with the prefix "b"."""
        return f"{self.prefix}_{plain}" if self.prefix else plain

    def key(self, plain: str) -> str:
        """Return the key in the session's state: "lr_n" without a prefix, "lr_b_n" with the prefix "b"."""
        return f"lr_{self.name(plain)}"


PAGE = Scope()
