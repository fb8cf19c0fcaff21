"""What changes when something that was retrieved is taken out: in the context, and in the answer."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from leanrag_core.comparing.sentences import same_sentence
from leanrag_core.errors import InvalidConfig
from leanrag_core.figures.passages import trace_names
from leanrag_core.messages.message import message
from leanrag_core.retrieval.base import StrategyInfo
from leanrag_core.text.tokens import count_tokens
from leanrag_core.types.trace import Answer, AnswerPart, Context, ContextSection, Trace

SEED, RELATION, CHUNK, OTHER = "seed", "relation", "chunk", "other"
RETRIEVED, SENT = "retrieved", "sent"  # it was retrieved anew, or the same context was sent without it


@dataclass(frozen=True)
class Removable:
    """Something of a retrieval that can be taken out. mark: its citation mark, "" where the context lacks it."""

    id: str
    kind: str
    name: str
    mark: str


def removables(trace: Trace, info: StrategyInfo, language: str = "en") -> tuple[Removable, ...]:
    """List what can be taken out: what the strategy can retrieve without, else all that the context holds. language: of
    the places of passages."""
    kinds = leaves_out(info)
    marks = trace.context.mark_of
    names = trace_names(trace, language)
    candidates = dict.fromkeys((*(item.id for item in trace.with_role("seed")), *marks) if kinds else marks)
    listed = [
        Removable(id_, kind_of(trace, id_), names.get(id_, marks.get(id_, "")), marks.get(id_, ""))
        for id_ in candidates
    ]
    return tuple(each for each in listed if not kinds or each.kind in kinds)


def leaves_out(info: StrategyInfo) -> tuple[str, ...]:
    """Return the kinds of things without which the strategy can retrieve; none for most of them."""
    kinds: tuple[str, ...] = getattr(info.strategy, "leaves_out", ())
    return kinds


def kind_of(trace: Trace, id_: str) -> str:
    """Return whether the id is that of a seed, a relation, a chunk, or of something else."""
    if any(relation.id == id_ for relation in trace.relations):
        return RELATION
    item = next((each for each in trace.items if each.id == id_), None)
    if item is None:
        return OTHER
    return CHUNK if item.source is not None else SEED if "seed" in item.roles else OTHER


def sent_without(trace: Trace, ids: frozenset[str]) -> Trace:
    """Return the same retrieval with a context without those items: their lines are cut, and other marks stay as
    they are.

    Raises InvalidConfig when the context holds none of them.
    """
    sections = tuple(_without(section, ids) for section in trace.context.sections)
    if sections == trace.context.sections:
        raise InvalidConfig("without.not_in_context")
    text = "".join(section.text for section in sections)
    return replace(
        trace,
        items=tuple(item for item in trace.items if item.id not in ids),
        relations=tuple(
            relation for relation in trace.relations if ids.isdisjoint((relation.id, relation.source, relation.target))
        ),
        context=Context(text, count_tokens(text), sections),
        notes=(*trace.notes, message("without.note_sent", n=len(ids))),
    )


def _without(section: ContextSection, ids: frozenset[str]) -> ContextSection:
    removed = [item for item in section.items if item.ref in ids]
    if not removed:
        return section
    text = section.text
    for item in removed:
        line = f"[{item.mark}] {item.text}\n"
        at = text.find(line)
        if at >= 0:
            start = text.rfind("\n", 0, at) + 1  # the sign of a list, where a strategy writes one
            text = text[:start] + text[at + len(line) :]
    kept = tuple(item for item in section.items if item.ref not in ids)
    return replace(section, items=kept, text=text if kept else "", tokens=count_tokens(text) if kept else 0)


@dataclass(frozen=True)
class Moved:
    """A sentence that both answers say, and the names of what it cites before and after."""

    text: str
    before: tuple[str, ...]
    after: tuple[str, ...]


@dataclass(frozen=True)
class AnswerChanges:
    """gone, new: sentences that only the answer before, or only the one after, says. moved: those that both say and
    that cite something else. n_same: those that stay as they are."""

    gone: tuple[str, ...]
    new: tuple[str, ...]
    moved: tuple[Moved, ...]
    n_same: int

    @property
    def any(self) -> bool:
        """Whether the answer has changed."""
        return bool(self.gone or self.new or self.moved)


def answer_changes(before: Answer, after: Answer, language: str = "en") -> AnswerChanges:
    """Compare two answers. Sentences are the same where they share most of their words, in the first answer's order.
    language: of the places of passages."""
    unmatched = list(after.parts)
    gone: list[str] = []
    moved: list[Moved] = []
    n_same = 0
    for part in before.parts:
        twin = next((other for other in unmatched if other.text == part.text), None)
        twin = twin or next((other for other in unmatched if same_sentence(part.text, other.text)), None)
        if twin is None:
            gone.append(part.text)
            continue
        unmatched.remove(twin)
        cited_before, cited_after = _cited(part, before, language), _cited(twin, after, language)
        if set(cited_before) == set(cited_after):
            n_same += 1
        else:
            moved.append(Moved(twin.text, tuple(cited_before.values()), tuple(cited_after.values())))
    return AnswerChanges(tuple(gone), tuple(part.text for part in unmatched), tuple(moved), n_same)


def _cited(part: AnswerPart, answer: Answer, language: str) -> dict[str, str]:
    """Map ids to names of what the part cites: marks may stand for other things in another context."""
    refs = {item.mark: item.ref for item in answer.trace.context.items}
    names = trace_names(answer.trace, language)
    return {refs[mark]: names.get(refs[mark], mark) for mark in part.marks if mark in refs}


def ids_of(trace: Trace, wanted: Sequence[str]) -> tuple[str, ...]:
    """Return the ids of marks or ids, each once. Raises InvalidConfig for one that the retrieval lacks."""
    marks = {item.mark: item.ref for item in trace.context.items}
    known = {*marks.values(), *(item.id for item in trace.items), *(relation.id for relation in trace.relations)}
    ids = [marks.get(each, each) for each in wanted]
    unknown = [each for each, id_ in zip(wanted, ids, strict=True) if id_ not in known]
    if unknown:
        raise InvalidConfig("without.unknown", item=unknown[0])
    return tuple(dict.fromkeys(ids))
