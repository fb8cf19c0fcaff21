"""What can be done with settings found on the board: use them for the index, open a column, compare a question."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from leanrag_core.errors import RecordDamaged
from leanrag_core.retrieval.base import StrategyInfo
from leanrag_core.retrieval.settings import own_settings
from leanrag_core.types.config import SETTINGS
from leanrag_core.workbench.indexes import TRIAL
from leanrag_core.workbench.settings import AskedWith
from pages.ask import defaults, presets
from pages.common import session, state
from pages.common.scope import PAGE
from pages.compare import columns
from pages.compare.board_scores import Board

Options = Mapping[str, Any]


@dataclass(frozen=True)
class Used:
    """What *Use these settings* replaced. remembered: all values that links hold."""

    index_id: str
    before: AskedWith | None
    remembered: Mapping[str, str]


def use(index_id: str, info: StrategyInfo, options: Mapping[str, Any], trial_id: str) -> Used:
    """Make Ask and column A use the settings on this index, now and in later sessions; keep the index if it is a trial.

    trial_id: id of another index to which the settings belong. Raises the errors of keeping a trial and of writing a
    file.
    """
    bench, remembered = session.workbench(), dict(state.memory().values)
    used_id = bench.trials.keep(trial_id) if trial_id.startswith(TRIAL) else trial_id or index_id
    asked_with = AskedWith(info.name, own_settings(info, options))
    before = bench.defaults.use(used_id, asked_with)
    state.remember("index", used_id)
    state.forget(columns.scope_of("A").name("index"))
    for name in SETTINGS:  # the kept index has them now
        state.forget(columns.scope_of("A").name(columns.index_name(name)))
    for scope in (PAGE, columns.scope_of("A")):
        defaults.take(scope, asked_with, {info.name: info})
    return Used(used_id, before, remembered)


def is_used(this_board: Board, settings: Mapping[str, Any]) -> bool:
    """Return whether Ask and Compare use these settings for the board's index, also after a reload."""
    with suppress(RecordDamaged):  # the page has said so
        asked_with = session.workbench().defaults.chosen_for(this_board.summary.id)
        own = AskedWith(this_board.info.name, own_settings(this_board.info, this_board.options(settings)))
        return asked_with == own and not this_board.of_index(settings)
    return False


def undo(used: Used) -> None:
    """Restore what Ask and Compare used before; an index that was kept stays."""
    session.workbench().defaults.use(used.index_id, used.before)
    values = state.memory().values
    values.clear()
    values.update(used.remembered)


def open_as_column(info: StrategyInfo, options: Mapping[str, Any], of_index: Mapping[str, Any]) -> None:
    """Add a column with the settings, side by side; replace the last one if there are four. of_index: index settings
    that differ from those of column A's index."""
    columns.add()
    _set_column(columns.letters()[-1], info, options, of_index)
    state.remember("cview", columns.SIDE)


def open_question(question: str, info: StrategyInfo, pairs: Sequence[tuple[Options, Options]]) -> None:
    """Open the question side by side with the two settings as columns A and B. pairs: for each the options, and the
    index settings that differ from those of column A's index."""
    for letter, (options, of_index) in zip(("A", "B"), pairs, strict=True):
        _set_column(letter, info, options, of_index)
    state.remember("cols", "ab")
    state.remember("q", question)
    state.remember("cview", columns.SIDE)


def _set_column(letter: str, info: StrategyInfo, options: Mapping[str, Any], of_index: Mapping[str, Any]) -> None:
    scope, base = columns.scope_of(letter), state.recall(columns.scope_of("A").name("index"))
    state.remember(scope.name("strategy"), info.name)
    columns.rename(letter, "")
    state.remember(scope.name("index"), base)
    presets.set_options(scope, info, options, reset=True)
    for name in SETTINGS:
        state.remember(scope.name(columns.index_name(name)), of_index.get(name))
