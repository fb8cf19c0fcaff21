"""What pages call the runs of an experiment."""

from collections.abc import Mapping, Sequence

from leanrag_core.evaluation.run_titles import run_titles
from leanrag_core.types.experiment import RunSpec
from pages.common import session
from pages.common.messages import words


def titles(runs: Sequence[RunSpec]) -> dict[str, str]:
    """Return the titles of an experiment's runs, by their keys."""
    index_titles: Mapping[str, str] = {}
    if len({run.index for run in runs}) > 1:
        index_titles = {each.id: each.title for each in session.index_list().indexes}
    return {key: words(title) for key, title in run_titles(runs, index_titles).items()}
