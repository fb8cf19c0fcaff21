"""The columns of a comparison: their number, the index and settings of each, and what holds for all of them."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from leanrag_core.comparing.as_code import Asked
from leanrag_core.errors import LeanRAGError
from leanrag_core.figures.drawing import isolated
from leanrag_core.retrieval.base import StrategyInfo, equal_budget
from leanrag_core.retrieval.base import strategies as all_strategies
from leanrag_core.retrieval.settings import own_settings, shown_settings
from leanrag_core.retrieval.variants import Group, VariantSettings, changed_settings, groups, index_settings
from leanrag_core.types.config import SETTINGS, IndexConfig
from leanrag_core.types.summary import IndexSummary
from leanrag_core.types.trace import Parameter
from leanrag_core.workbench.indexes import TRIAL
from pages.ask import asking, controls, presets
from pages.common import forms, session, state
from pages.common.messages import say, words
from pages.common.scope import Scope
from pages.compare import board_state

LETTERS = ("A", "B", "C", "D")
LEAST, MOST = 2, 4
SIDE, CONTEXTS, MISSED, QUESTIONS = "side", "contexts", "missed", "set"
BOARD, MULTIPLES = "board", "multiples"
VIEWS = (SIDE, CONTEXTS, MISSED, QUESTIONS, BOARD, MULTIPLES)
OFFICIAL, EQUAL = "official", "equal"
EQUAL_TOKENS = 4_000
_STARTERS = ("leanrag", "vector", "lightrag", "graphrag_local")  # strategies of the columns while none was chosen
_COLUMNS, _BASELINE = "cols", "base"
_TITLE = "title"  # of a column, within its scope
LONGEST_TITLE = 60
_VIEW_NAMES = (
    "cview",
    "budget",
    "equal",
    "differ",
    "mark",
    "piece",
    "others",
    "shared",
    "losses",
    "phone",
    "vary",
    "vary_at",
)
SHARED_NAMES = ("index", "q", _COLUMNS, _BASELINE, *_VIEW_NAMES, *board_state.NAMES)


@dataclass(frozen=True)
class Column:
    """A column with its settings. summary: the index that is asked. base: the index chosen for the column; `changed`
    holds the settings in which the column's index differs from it. unmade: that index does not exist yet, and summary
    is the base's."""

    letter: str
    summary: IndexSummary
    info: StrategyInfo
    chosen: controls.Chosen
    base: IndexSummary
    index_label: str = ""  # distinguishes its index from other columns'; empty if all share one
    fixed: Mapping[str, Any] = field(default_factory=dict)  # options that the equal budget decides
    changed: Mapping[str, Any] = field(default_factory=dict)
    unmade: bool = False
    group: Group | None = None  # with the other columns of its strategy
    named: str = ""  # the name that a person gave it

    @property
    def scope(self) -> Scope:
        """Return the scope of its widgets and of its names in links."""
        return scope_of(self.letter)

    @property
    def title(self) -> str:
        """Return its given name; else what differs from other columns of its strategy; else its strategy, with its
        index if the columns have several."""
        if self.named:
            return self.named
        name = self.group.name(self.letter) if self.group else None
        if name is not None:
            return words(name)
        title = words(self.info.title)
        return say("ask.comma").join((title, isolated(self.index_label))) if self.index_label else title

    @property
    def settings(self) -> VariantSettings:
        """Return the settings that it runs with."""
        index = index_settings(self.base.config.by_name(), self.changed)
        return VariantSettings(self.chosen.strategy, self.chosen.options, index)

    def does_the_same(self, other: "Column") -> bool:
        """Tell whether the other column sends the same request to the same index."""
        settings, other_settings = self.settings, other.settings
        return self.base.id == other.base.id and (
            (settings.strategy, settings.options, settings.index)
            == (other_settings.strategy, other_settings.options, other_settings.index)
        )

    @property
    def is_trial(self) -> bool:
        """Tell whether its index is a trial that nobody has kept."""
        return self.summary.id.startswith(TRIAL)

    @property
    def shown_options(self) -> dict[str, Parameter]:
        """Return the options that the head shows."""
        return shown_settings(self.info, self.chosen.options)

    @property
    def as_code(self) -> Asked:
        """Return what code needs to repeat it."""
        options = own_settings(self.info, self.chosen.options)
        return Asked(self.base.id, self.summary.path, self.info.name, options, self.changed)

    def ask(self, question: str) -> asking.Ask:
        """Return the question with the column's settings."""
        return asking.Ask.of(self.summary, question, self.chosen)


def scope_of(letter: str) -> Scope:
    """Return the scope of that column."""
    return Scope(letter.lower())


def letters() -> tuple[str, ...]:
    """Return the letters of the shown columns, in order."""
    text = state.fitting(_COLUMNS, "ab", str, _is_choice)
    return tuple(letter.upper() for letter in text)


def _is_choice(text: str) -> bool:
    known = "".join(LETTERS).lower()
    return LEAST <= len(text) <= MOST and len(set(text)) == len(text) and set(text) <= set(known)


def starter(letter: str, strategies: Mapping[str, StrategyInfo]) -> str:
    """Return the strategy with which a column begins."""
    name = _STARTERS[LETTERS.index(letter)]
    return name if name in strategies else next(iter(strategies))


def url_names(strategies: Mapping[str, StrategyInfo]) -> list[str]:
    """Return the names under which links hold a comparison: those of all columns that are shown."""
    names = list(SHARED_NAMES)
    for letter in letters():
        column_names = controls.url_names(scope_of(letter), strategies)
        column_names += [scope_of(letter).name(name) for name in (_TITLE, *map(index_name, SETTINGS))]
        names += [name for name in column_names if name not in names and name != scope_of(letter).name("q")]
    return names


def gone_indexes(indexes: Mapping[str, IndexSummary]) -> dict[str, str]:
    """Return, by column, the index that a link names for it and that no longer exists."""
    named = {letter: state.recall(scope_of(letter).name("index")) for letter in letters()}
    return {letter: id_ for letter, id_ in named.items() if id_ and id_ not in indexes}


def take_index_of_page(letter: str) -> None:
    """Make the column use the index of the sidebar. For callbacks."""
    state.forget(scope_of(letter).name("index"))


def chosen_columns(
    summary: IndexSummary, indexes: Mapping[str, IndexSummary], strategies: Mapping[str, StrategyInfo]
) -> tuple[Column, ...]:
    """Return the columns with their settings. summary: the index of a column that names none."""
    columns = []
    for letter in letters():
        scope = scope_of(letter)
        base = indexes.get(state.recall(scope.name("index")), summary)
        changed, trial = changed_index(scope, base), None
        with suppress(LeanRAGError):  # the column says why its index cannot be made
            trial = session.trial(base, changed)
            trial = indexes.get(trial.id, trial) if trial else None
        chosen = controls.held(scope, strategies, default=starter(letter, strategies))
        info = strategies[chosen.strategy]
        fixed = equal_budget(info, equal_tokens()) if budget() == EQUAL else {}
        chosen = replace(chosen, options={**chosen.options, **fixed})
        columns.append(
            Column(letter, trial or base, info, chosen, base, fixed=fixed, changed=changed, unmade=trial is None)
        )
    several = len({each.base.id for each in columns}) > 1
    one_name = len({each.base.name for each in columns}) == 1
    group_of = {
        letter: group for group in groups({each.letter: each.settings for each in columns}) for letter in group.settings
    }
    return tuple(
        replace(
            each,
            index_label=((each.base.apart if one_name else "") or each.base.title) if several else "",
            group=group_of.get(each.letter),
            named=_cleaned(state.recall(each.scope.name(_TITLE))),
        )
        for each in columns
    )


def rename(letter: str, title: str) -> None:
    """Give the column that name; an empty one restores the automatic name. For callbacks."""
    state.remember(scope_of(letter).name(_TITLE), _cleaned(title))


def _cleaned(title: str) -> str:
    """Return the title as one line of limited length, without invisible characters."""
    visible_title = "".join(character if character.isprintable() else " " for character in title)
    return " ".join(visible_title.split())[:LONGEST_TITLE]


def index_name(setting: str) -> str:
    """Return the name in links of a column's index setting, without the column's scope."""
    return f"ix_{setting}"


def changed_index(scope: Scope, base: IndexSummary) -> dict[str, Any]:
    """Return the index settings of a column that differ from those of its base."""
    wanted = {}
    for name in SETTINGS:
        link = scope.name(index_name(name))
        if state.recall(link):
            value = forms.field_value(IndexConfig, name, link)
            if link not in state.memory().unfit:
                wanted[name] = value
    return changed_settings(base.config.by_name(), wanted)


def budget() -> str:
    """Return whether each column has its own token budget, or all have the same."""
    return str(state.fitting("budget", OFFICIAL, str, lambda value: value in (OFFICIAL, EQUAL)))


def equal_tokens() -> int:
    """Return the tokens of every context under the equal budget."""
    return int(state.fitting("equal", EQUAL_TOKENS, int, lambda value: 200 <= value <= 64_000))


def baseline(shown: Sequence[str]) -> str:
    """Return the letter of the pinned column, against which the others are measured; empty if none is pinned."""
    pinned = state.recall(_BASELINE).upper()
    return pinned if pinned in shown else ""


def pin(letter: str) -> None:
    """Pin that column as the baseline, or unpin it. For callbacks."""
    now = state.recall(_BASELINE)
    state.remember(_BASELINE, None if now == letter.lower() else letter.lower())


def add() -> None:
    """Add one more column, with the first free letter. For callbacks."""
    free = [letter for letter in LETTERS if letter not in letters()]
    if free and len(letters()) < MOST:
        state.remember(_COLUMNS, "".join((*letters(), free[0])).lower())


def duplicate(letter: str) -> str:
    """Add a column after this one, with the same index and settings; return its letter, empty if there is no room. For
    callbacks."""
    free = [each for each in LETTERS if each not in letters()]
    if not free or len(letters()) >= MOST:
        return ""
    copy_settings(scope_of(letter), scope_of(free[0]), letter)
    rename(free[0], "")
    shown = list(letters())
    shown.insert(shown.index(letter) + 1, free[0])
    state.remember(_COLUMNS, "".join(shown).lower())
    return free[0]


def copy_settings(source: Scope, target: Scope, starts_as: str) -> None:
    """Copy the index, strategy and settings of the source to the target. starts_as: the column whose initial strategy
    the source has while none was chosen."""
    strategies = all_strategies().by_name()
    names = [*controls.url_names(Scope(), strategies), *map(index_name, SETTINGS)]
    for plain in names:
        if plain not in ("q", "step", "node", "show"):
            state.remember(target.name(plain), state.recall(source.name(plain)))
    if not state.recall(target.name("strategy")):
        state.remember(target.name("strategy"), starter(starts_as, strategies))


def remove(letter: str) -> None:
    """Remove the column, and keep its settings for its return. For callbacks."""
    rest = [each for each in letters() if each != letter]
    if len(rest) >= LEAST:
        state.remember(_COLUMNS, "".join(rest).lower())


def set_options(letter: str, info: StrategyInfo, options: Mapping[str, Any], *, reset: bool = False) -> None:
    """Set the column's options to these values. reset: set all others to their defaults. For callbacks."""
    presets.set_options(scope_of(letter), info, options, reset=reset)
