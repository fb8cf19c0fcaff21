"""The facade: wires stores, models and jobs; pages and command line go through it."""

import os
from pathlib import Path

from leanrag_core.facade.conversing import Conversing
from leanrag_core.facade.evaluating import Evaluating
from leanrag_core.facade.judging import Judging
from leanrag_core.facade.presenting import Presenting
from leanrag_core.facade.presetting import Presetting
from leanrag_core.facade.suggesting import Suggesting
from leanrag_core.facade.sweep_points import SweepPoints
from leanrag_core.program_files import default_home
from leanrag_core.storage import layout
from leanrag_core.types.index import Index


def open_index(path: str | Path) -> Index:
    """The index in that directory, read-only; no workbench is needed.

    Raises IndexNotFound, IndexDamaged or IndexTooNew, each with what to do.
    """
    return layout.read_index(Path(path))


class Workbench(SweepPoints, Presenting, Suggesting, Conversing, Evaluating, Judging, Presetting):
    """Corpora, indexes and jobs below one folder, and the models that work on them.

    Its methods are in leanrag_core/facade, a file for each subject.
    """

    @classmethod
    def default(cls, root: str | Path | None = None) -> "Workbench":
        """The workbench in `root`, else in the folder that LEANRAG_HOME names, else in cache/ beside the app, or in the
        user's data folder where the program is installed."""
        return cls(Path(root or os.environ.get("LEANRAG_HOME") or default_home()).resolve())
