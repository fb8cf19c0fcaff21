"""Methods about an index that take an opened one, its id or the path of its folder."""

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

from leanrag_core.types.index import Index

_Rest = ParamSpec("_Rest")
_Result = TypeVar("_Result")


def takes_index(
    method: Callable[Concatenate[Any, Index, _Rest], _Result],
) -> Callable[Concatenate[Any, Index | str | Path, _Rest], _Result]:
    """The method, to which the index may be given by its id or its path; see Workbench.opened()."""

    @wraps(method)
    def with_opened(self: Any, index: Index | str | Path, /, *arguments: _Rest.args, **named: _Rest.kwargs) -> _Result:
        return method(self, self.opened(index), *arguments, **named)

    return with_opened
