"""Kinds of damage to a stored index: what is changed, the check that must find it, and the file that it must name."""

from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType

import numpy as np

from tests.checking.stored import Stored


@dataclass(frozen=True)
class Damage:
    """do: does the damage, and gives the row that is to be named. file: "*" stands for the folder of a part."""

    name: str
    do: Callable[[Stored], int | None]
    check: str
    file: str


def damage(check: str, file: str) -> Callable[[Callable[[Stored], int | None]], Damage]:
    """Make a function a kind of damage."""
    return lambda do: Damage(do.__name__, do, check, file)


def kinds_in(*modules: ModuleType) -> tuple[Damage, ...]:
    """Return the kinds of damage that are defined in the modules, in their order."""
    return tuple(value for module in modules for value in vars(module).values() if isinstance(value, Damage))


def row_of(stored: Stored, kind: str, layer: int = 1) -> int:
    """Return the first relation of that kind in the layer."""
    return stored.cells(f"relations-{layer}.arrow", "kind").index(kind)


def between(stored: Stored, inside: bool) -> int:
    """Return a base relation inside a cluster, or between two."""
    base = stored.index().layers[0]
    lifted = base.parent[base.ends]
    return int(np.flatnonzero((lifted[:, 0] == lifted[:, 1]) == inside)[0])
