"""The gold of the question: from the corpus's question set, and what a person marks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from leanrag_core.comparing.gold_passages import Gold, GoldFinder
from leanrag_core.comparing.lost_evidence import Lane, found_ids, lane
from leanrag_core.errors import LeanRAGError
from leanrag_core.evaluation.gold import GoldQuestion
from leanrag_core.types.summary import IndexSummary
from pages.common import session, state
from pages.compare.loading import Loaded

MARKED = "mark"  # its name in links; see GoldFinder.marked()


@dataclass(frozen=True)
class GoldOf:
    """The evidence that the question should have found. found_ids: by column, ids of passages and entities that its
    context holds; lanes: by column and place of the evidence, how far it came."""

    question: GoldQuestion | None = None
    evidence: tuple[Gold, ...] = ()
    lanes: Mapping[str, tuple[Lane, ...]] = field(default_factory=dict)
    found_ids: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def questions_of(summary: IndexSummary) -> tuple[GoldQuestion, ...]:
    """Return the question set of the index's corpus."""
    try:
        return session.workbench().corpora.samples.questions(summary.corpus_id)
    except LeanRAGError:  # a sample's file that does not read is reported where its questions are shown
        return ()


def finder_of(loaded: Loaded) -> GoldFinder | None:
    """Locate gold in the index of that column."""
    if loaded.index is None:
        return None
    return session.finder(loaded.column.summary)


def of_question(loaded: Sequence[Loaded], question: str) -> GoldOf:
    """Return the gold of that question, where a question set has it, and what was marked; with the way of each through
    every column."""
    known: GoldQuestion | None = None
    for each in loaded:
        known = known or next((gold for gold in questions_of(each.column.summary) if gold.question == question), None)
    evidence: tuple[Gold, ...] = ()
    lanes: dict[str, tuple[Lane, ...]] = {}
    ids: dict[str, tuple[str, ...]] = {}
    for each in loaded:
        locate = finder_of(each)
        if locate is None or each.index is None:
            continue
        own = (*(locate.of_question(known) if known else ()), *marked(locate))
        evidence = evidence or own
        if each.trace is None:
            continue
        lanes[each.letter] = tuple(lane(each.trace, each.index, gold) for gold in own)
        ids[each.letter] = found_ids(each.trace, lanes[each.letter])
    return GoldOf(known, evidence, lanes, ids)


def marked(locate: GoldFinder) -> tuple[Gold, ...]:
    """Return what a person has marked in addition."""
    gold = locate.marked(state.recall(MARKED))
    return (gold,) if gold is not None else ()
