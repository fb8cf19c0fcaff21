"""The gold of the question: from the corpus's question set, and what a person marks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import streamlit as st

from leanrag_core.comparing.gold_passages import Gold, GoldFinder
from leanrag_core.comparing.lost_evidence import Lane, held_ids, lane
from leanrag_core.errors import LeanRAGError
from leanrag_core.evaluation.gold import GoldQuestion
from leanrag_core.types.summary import IndexSummary
from pages.common import session, state
from pages.common.frame import page_path
from pages.common.messages import message, say
from pages.compare.loading import Loaded

MARKED = "mark"  # its name in links; see GoldFinder.marked()


@dataclass(frozen=True)
class GoldOf:
    """The evidence that the question should have found. found_ids: by column, ids of passages and entities with
    evidence that its context holds; lanes: by column and place of the evidence, how far it came."""

    question: GoldQuestion | None = None
    evidence: tuple[Gold, ...] = ()
    lanes: Mapping[str, tuple[Lane, ...]] = field(default_factory=dict)
    found_ids: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def n_found(self, letter: str) -> int:
        """Count the pieces of evidence that the context of that column holds."""
        return sum(way.is_found for way in self.lanes.get(letter, ()))

    def n_only_in(self, letter: str) -> int:
        """Count those that the context of no other column holds."""
        pieces = zip(*self.lanes.values(), strict=True)
        own = list(self.lanes).index(letter)
        return sum(ways[own].is_found and sum(way.is_found for way in ways) == 1 for ways in pieces)


def questions_of(summary: IndexSummary) -> tuple[GoldQuestion, ...]:
    """Return the question set of the index's corpus, a sample's or a person's own."""
    try:
        return session.workbench().question_sets.about(summary.corpus_id)
    except LeanRAGError:  # a file that does not read is reported where its questions are shown
        return ()


def offer_questions(key: str) -> None:
    """Draw that the corpus has no question set, with the way to make one."""
    message(say("board.no_questions"))
    if st.button(say("board.make_questions"), icon=":material/rule:", key=key):
        st.switch_page(page_path("evaluate"))


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
        ids[each.letter] = held_ids(each.trace, each.index, own, lanes[each.letter])
    return GoldOf(known, evidence, lanes, ids)


def marked(locate: GoldFinder) -> tuple[Gold, ...]:
    """Return what a person has marked in addition."""
    gold = locate.marked(state.recall(MARKED))
    return (gold,) if gold is not None else ()
