"""The columns of a comparison: how many there are, the index and settings of each, and what holds for all of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from leanrag_core.figures.drawing import isolated
from leanrag_core.retrieval.base import StrategyInfo, equal_budget
from leanrag_core.retrieval.settings import shown_settings
from leanrag_core.types.summary import IndexSummary
from leanrag_core.types.trace import Parameter
from pages.ask import asking, controls, presets
from pages.common import choices, state
from pages.common.messages import say, words
from pages.common.scope import Scope

LETTERS = ("A", "B", "C", "D")
LEAST, MOST = 2, 4
SIDE, CONTEXTS, MISSED, QUESTIONS = "side", "contexts", "missed", "set"
VIEWS = (SIDE, CONTEXTS, MISSED, QUESTIONS)
OFFICIAL, EQUAL = "official", "equal"
EQUAL_TOKENS = 4_000
_STARTERS = ("leanrag", "vector", "lightrag", "graphrag_local")  # strategies of the columns while none was chosen
_COLUMNS, _BASELINE = "cols", "base"
_VIEW_NAMES = ("cview", "budget", "equal", "differ", "mark", "piece", "others", "shared", "losses", "phone")
SHARED_NAMES = ("index", "q", _COLUMNS, _BASELINE, *_VIEW_NAMES)


@dataclass(frozen=True)
class Column:
    """A column with its settings. options: those of the strategy, with the equal budget where that is chosen."""

    letter: str
    summary: IndexSummary
    info: StrategyInfo
    chosen: controls.Chosen
    index_label: str = ""  # what tells its index from those of other columns; empty where all have one
    fixed: Mapping[str, Any] = field(default_factory=dict)  # options that the equal budget decides

    @property
    def scope(self) -> Scope:
        """Of its widgets and of its names in links."""
        return scope_of(self.letter)

    @property
    def title(self) -> str:
        """What it is called: its strategy, and its index where columns are of several."""
        title = words(self.info.title)
        return f"{title}, {isolated(self.index_label)}" if self.index_label else title

    @property
    def shown_options(self) -> dict[str, Parameter]:
        """The options that the head shows."""
        return shown_settings(self.info, self.chosen.options)

    def ask(self, question: str) -> asking.Ask:
        """The question with the column's settings."""
        return asking.Ask.of(self.summary, question, self.chosen)


def scope_of(letter: str) -> Scope:
    """The scope of that column."""
    return Scope(letter.lower())


def letters() -> tuple[str, ...]:
    """The columns that are shown, in order."""
    text = state.fitting(_COLUMNS, "ab", str, _is_choice)
    return tuple(letter.upper() for letter in text)


def _is_choice(text: str) -> bool:
    known = "".join(LETTERS).lower()
    return LEAST <= len(text) <= MOST and len(set(text)) == len(text) and set(text) <= set(known)


def starter(letter: str, strategies: Mapping[str, StrategyInfo]) -> str:
    """The strategy of a column while none was chosen for it."""
    name = _STARTERS[LETTERS.index(letter)]
    return name if name in strategies else next(iter(strategies))


def url_names(strategies: Mapping[str, StrategyInfo]) -> list[str]:
    """The names under which links hold a comparison: those of all columns that are shown."""
    names = list(SHARED_NAMES)
    for letter in letters():
        own = controls.url_names(scope_of(letter), strategies)
        names += [name for name in own if name not in names and name != scope_of(letter).name("q")]
    return names


def gone_indexes(indexes: Mapping[str, IndexSummary]) -> dict[str, str]:
    """Column -> the index that a link names for it and that is not here."""
    named = {letter: state.recall(scope_of(letter).name("index")) for letter in letters()}
    return {letter: id_ for letter, id_ in named.items() if id_ and id_ not in indexes}


def take_index_of_page(letter: str) -> None:
    """The column has the index of the sidebar. For callbacks."""
    state.remember(scope_of(letter).name("index"), None)


def chosen_columns(
    summary: IndexSummary, indexes: Mapping[str, IndexSummary], strategies: Mapping[str, StrategyInfo]
) -> tuple[Column, ...]:
    """The columns with what they hold. summary: the index of a column that names none."""
    columns = []
    summaries = [indexes.get(state.recall(scope_of(letter).name("index")), summary) for letter in letters()]
    several = len({each.id for each in summaries}) > 1
    one_name = len({each.name for each in summaries}) == 1
    for letter, own in zip(letters(), summaries, strict=True):
        chosen = controls.held(scope_of(letter), strategies, default=starter(letter, strategies))
        info = strategies[chosen.strategy]
        fixed = {}
        if budget() == EQUAL:
            fixed = equal_budget(info, equal_tokens())
        options = {**chosen.options, **fixed}
        label = ((own.apart if one_name else "") or own.title) if several else ""
        columns.append(
            Column(letter, own, info, controls.Chosen(chosen.strategy, options, chosen.calls_model), label, fixed)
        )
    return tuple(columns)


def budget() -> str:
    """Whether each column has the budget of its own settings, or all the same number of tokens."""
    return str(state.fitting("budget", OFFICIAL, str, lambda value: value in (OFFICIAL, EQUAL)))


def equal_tokens() -> int:
    """Tokens of every context under the equal budget."""
    return int(state.fitting("equal", EQUAL_TOKENS, int, lambda value: 200 <= value <= 64_000))


def baseline(shown: Sequence[str]) -> str:
    """The column that others are measured against: the pinned one, else the first with naive retrieval, else the
    last."""
    pinned = state.recall(_BASELINE).upper()
    return pinned if pinned in shown else ""


def pin(letter: str) -> None:
    """Pins that column as the baseline; pinning it twice pins none. For callbacks."""
    now = state.recall(_BASELINE)
    state.remember(_BASELINE, None if now == letter.lower() else letter.lower())


def add() -> None:
    """One more column, of the first free letter. For callbacks."""
    free = [letter for letter in LETTERS if letter not in letters()]
    if free and len(letters()) < MOST:
        state.remember(_COLUMNS, "".join((*letters(), free[0])).lower())


def remove(letter: str) -> None:
    """The column is gone, its settings are kept for when it comes back. For callbacks."""
    rest = [each for each in letters() if each != letter]
    if len(rest) >= LEAST:
        state.remember(_COLUMNS, "".join(rest).lower())


def set_options(letter: str, info: StrategyInfo, options: Mapping[str, Any], *, reset: bool = False) -> None:
    """The column's options hold these values. reset: the others are at their defaults. For callbacks."""
    presets.set_options(scope_of(letter), info, options, reset=reset)


def form(column: Column, indexes: Mapping[str, IndexSummary], strategies: Mapping[str, StrategyInfo]) -> None:
    """The settings of a column, one below the other."""
    scope, letter = column.scope, column.letter
    if len(indexes) > 1:
        titles = {"": say("compare.index_of_page"), **{id_: each.title for id_, each in indexes.items()}}
        choices.dropdown(scope.name("index"), say("frame.index"), titles)
    presets.buttons(scope, column.info)
    controls.stacked(scope, strategies, default=starter(letter, strategies))
