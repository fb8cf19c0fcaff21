"""The traces and answers of the columns: computed at once without a model, in a thread of their own with one."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from leanrag_core.errors import LeanRAGError, PartMissing
from leanrag_core.execution.background import StreamedCall
from leanrag_core.messages.message import Message
from leanrag_core.retrieval.settings import settings_line
from leanrag_core.types.forecast import Forecast
from leanrag_core.types.index import Index
from leanrag_core.types.job import Progress
from leanrag_core.types.summary import IndexSummary
from leanrag_core.types.trace import Answer, Parameter, Trace, TraceStep
from pages.ask import asking, part_view
from pages.common import session, state
from pages.common.messages import say, words
from pages.common.scope import Scope
from pages.compare.columns import Column, scope_of

_LOOK_SECONDS = 0.1  # between two checks whether a column is done


Pill = tuple[str, str]  # title and value of what differs
_WANTED = "lr_trials_wanted"  # in the session: trials that a person asked for, whatever they cost
_QUICK_SECONDS = 20.0  # a trial that takes longer, or calls a model, is made on request only


@dataclass(frozen=True)
class Head:
    """What the head of a column shows. settings: options and their values; differs: from the published system. tag: its
    strategy, if the title says what differs from other columns of the same one; then `pills` hold what differs, and
    `facts` the counts of a different index. named: the name that a person gave the column, which replaces its title."""

    letter: str
    title: str
    badge: str
    differs: Message
    settings: Mapping[str, Parameter]
    tag: str = ""
    pills: tuple[Pill, ...] = ()
    facts: tuple[Pill, ...] = ()
    named: str = ""

    @property
    def scope(self) -> Scope:
        """Return the scope of the column's widgets."""
        return scope_of(self.letter)

    @property
    def settings_line(self) -> str:
        """Return the settings in words."""
        return words(settings_line(self.settings))


@dataclass(frozen=True)
class Loaded:
    """What is known of a column. live: its settings; None in a saved comparison, which has no index either. error: why
    there is no trace; answer_error: why there is no answer. waits: a model is called only after the person presses
    Compare. takes: the forecast of making its index, which needs the person's consent. call: the one under way."""

    head: Head
    question: str
    live: Column | None = None
    index: Index | None = None
    trace: Trace | None = None
    answer: Answer | None = None
    error: LeanRAGError | None = None
    answer_error: LeanRAGError | None = None
    waits: bool = False
    takes: Forecast | None = None
    call: StreamedCall[TraceStep, Trace] | StreamedCall[str, Answer] | StreamedCall[Progress, Index] | None = None

    @property
    def letter(self) -> str:
        """Return the column's letter."""
        return self.head.letter

    @property
    def scope(self) -> Scope:
        """Return the scope of its widgets."""
        return self.head.scope

    @property
    def column(self) -> Column:
        """Return its settings; not for a saved comparison."""
        assert self.live is not None
        return self.live

    @property
    def missing_part(self) -> str:
        """Return the name of the index part that its strategy lacks, "" for none."""
        if isinstance(self.error, PartMissing):
            return part_view.missing(self.error)
        return ""


def traces_of(loaded: Sequence[Loaded]) -> dict[str, Trace]:
    """Return the traces by the columns' letters; a column without one is left out."""
    return {each.letter: each.trace for each in loaded if each.trace is not None}


def first_index(loaded: Sequence[Loaded]) -> Index | None:
    """Return the index of the first column that has one."""
    return next((each.index for each in loaded if each.index is not None), None)


def head_of(column: Column) -> Head:
    """Return the head of a live column."""
    info = column.info
    head = Head(column.letter, column.title, info.badge, info.differs, column.shown_options, named=column.named)
    group = column.group
    if group is None or not group.differing:
        return head
    pills = []
    if len(group.differing) > 1 or column.named:
        own = column.settings
        pills = [(words(setting.title), words(setting.value_words(own.value(setting)))) for setting in group.differing]
    if any(setting.of_index for setting in group.differing) and not column.unmade:
        layers = column.summary.layers
        counts = {
            "layers": len(layers),
            "aggregated": sum(layer.entities for layer in layers[1:]),
            "summarised": sum(layer.summarised for layer in layers[1:]),
        }
        facts = tuple((say(f"compare.pill.{name}"), f"{count:,}") for name, count in counts.items())
        head = replace(head, facts=facts)
    return replace(head, tag=words(info.title), pills=tuple(pills))


def blank(column: Column, question: str) -> Loaded:
    """Return the column before it has any result."""
    return Loaded(head_of(column), question, column)


def load(column: Column, question: str) -> Loaded:
    """Return what is known of the column; a model is called only after a person has asked for it. Without a question
    only its index is made, if that is missing."""
    try:
        if column.unmade:
            return _with_index(column, question)
        if not question:
            return blank(column, question)
        index = session.open_index(column.summary)
        with session.workbench().questions.naming_damage(index):
            return part_view.with_quick_parts(
                column.scope, column.summary, question, lambda: _load(column, question, index)
            )
    except LeanRAGError as error:
        if not isinstance(error, PartMissing) or column.ask(question).calls_model:
            asking.withdraw(column.scope)
        return replace(blank(column, question), error=error)


def _with_index(column: Column, question: str) -> Loaded:
    """Return the column while its index is being made, or waits for the person's consent."""
    loaded, topic = blank(column, question), trial_topic(column.base, column.changed)
    call = _call(column, "trial", topic)
    if call is None:
        if not is_wanted(topic):
            index, trials = session.open_index(column.base), session.workbench().trials
            takes = trials.forecast(index, trials.config(index, column.changed))
            if takes.calling or takes.seconds.expected > _QUICK_SECONDS:
                return replace(loaded, takes=takes)
        call = session.make_trial(column.base, column.changed)
        _hold(column, "trial", topic, call)
    if call.wait(0):
        call.result()  # an error is shown, and the trial is not retried automatically
        del _calls()[column.letter, "trial"]  # it has been deleted since, or the next run finds it
    return replace(loaded, call=call)


def trial_topic(base: IndexSummary, changed: Mapping[str, Any]) -> tuple[object, ...]:
    """Return the key by which a trial is recognised."""
    return base.id, base.created, tuple(sorted(changed.items()))


def want_trial(base: IndexSummary, changed: Mapping[str, Any]) -> None:
    """Record that a person wants that trial, whatever it costs; a failed one is retried. For callbacks."""
    topic = trial_topic(base, changed)
    _wanted_trials().add(topic)
    for key in [key for key, (call_topic, _) in _calls().items() if call_topic == topic]:
        del _calls()[key]


def is_wanted(topic: tuple[object, ...]) -> bool:
    """Return whether a person wants that trial, whatever it costs."""
    return topic in _wanted_trials()


def _wanted_trials() -> set[object]:
    return state.in_session(_WANTED, set[object])


def _load(column: Column, question: str, index: Index) -> Loaded:
    ask, loaded = column.ask(question), replace(blank(column, question), index=index)
    if ask.calls_model:
        trace = session.retrievals().kept(ask.topic)
        if trace is None:
            call = _call(column, "retrieval", ask.topic)
            if call is None:
                if ask.topic not in session.retrievals() and not asking.is_wanted(column.scope, ask):
                    return replace(loaded, waits=True)
                call = session.begin_retrieval(ask.topic, index, question, ask.strategy, ask.options)
                _hold(column, "retrieval", ask.topic, call)
            if not call.wait(0):
                return replace(loaded, call=call)
            trace = _result(column, "retrieval", call)
    else:
        trace = session.retrieve(column.summary, question, ask.strategy, ask.options)
    try:
        answer = session.kept_answer(column.summary, question, ask.strategy, ask.options, trace)
        if answer is None:
            writing = _call(column, "answer", ask.topic)
            if writing is None and (asking.is_wanted(column.scope, ask) or session.writing(ask.topic)):
                writing = session.write_answer(ask.topic, index, trace)
                _hold(column, "answer", ask.topic, writing)
            if writing is not None:
                if not writing.wait(0):
                    return replace(loaded, trace=trace, call=writing)
                answer = _result(column, "answer", writing)
    except LeanRAGError as error:
        return replace(loaded, trace=trace, answer_error=error)
    return replace(loaded, trace=trace, answer=answer, waits=answer is None)


def _calls() -> dict[tuple[str, str], tuple[object, StreamedCall[Any, Any]]]:
    """Return the calls of this session's columns: those under way, and ended ones, so that an error is shown once."""
    return state.in_session("lr_compare_calls", dict[tuple[str, str], tuple[object, StreamedCall[Any, Any]]])


def _call(column: Column, purpose: str, topic: object) -> StreamedCall[Any, Any] | None:
    of_topic, call = _calls().get((column.letter, purpose), (None, None))
    return call if of_topic == topic else None


def _hold(column: Column, purpose: str, topic: object, call: StreamedCall[Any, Any]) -> None:
    _calls()[column.letter, purpose] = (topic, call)


def _result(column: Column, purpose: str, call: StreamedCall[Any, Any]) -> Any:
    """Return what the call returned. After an error it is not retried automatically, unless an index part was
    missing."""
    try:
        return call.result()
    except LeanRAGError as error:
        del _calls()[column.letter, purpose]
        if not isinstance(error, PartMissing):
            asking.withdraw(column.scope)
        raise


def wait_for_any(loaded: Sequence[Loaded], on_look: Mapping[str, Callable[[Loaded, int], None]]) -> None:
    """Wait until a call of a column has ended, and draw the progress meanwhile. on_look: by column, a function that
    draws it; called with the column and the elapsed seconds whenever there is something new."""
    pending = {each.letter: each for each in loaded if each.call is not None}
    drawn: dict[str, tuple[int, int]] = {}
    began = time.monotonic()
    while pending and not any(each.call is not None and each.call.wait(0) for each in pending.values()):
        for letter, each in pending.items():
            assert each.call is not None
            n_new = len(each.call.pieces) + len(session.retrievals().pieces(each.column.ask(each.question).topic))
            now = (n_new, int(time.monotonic() - began))
            if drawn.get(letter) != now:
                drawn[letter] = now
                on_look[letter](each, now[1])
        time.sleep(_LOOK_SECONDS)
