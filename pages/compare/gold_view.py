"""The gold of the question: from the corpus's question set, and marked by a person."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from leanrag_core.comparing.gold_passages import Gold, GoldFinder
from leanrag_core.comparing.lost_evidence import Lane, held_ids, lane
from leanrag_core.errors import LeanRAGError
from leanrag_core.evaluation.gold import GoldQuestion
from leanrag_core.types.summary import IndexSummary
from pages.common import session, state
from pages.common.frame import page_button
from pages.common.messages import message, say
from pages.compare.loading import Loaded
from pages.evaluate import experiments

MARKED = "mark"  # its name in links; see GoldFinder.marked()


@dataclass(frozen=True)
class GoldOf:
    """The evidence that should be found for the question. found_ids: by column, ids of the passages and entities with
    evidence in its context; lanes: by column and piece of evidence, the stages that it passed."""

    question: GoldQuestion | None = None
    evidence: tuple[Gold, ...] = ()
    lanes: Mapping[str, tuple[Lane, ...]] = field(default_factory=dict)
    found_ids: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def n_found(self, letter: str) -> int:
        """Count the pieces of evidence in the context of that column."""
        return sum(gold_lane.is_found for gold_lane in self.lanes.get(letter, ()))

    def n_only_in(self, letter: str) -> int:
        """Count the pieces of evidence that only this column's context holds."""
        pieces = zip(*self.lanes.values(), strict=True)
        column_place = list(self.lanes).index(letter)
        return sum(
            piece_lanes[column_place].is_found and sum(gold_lane.is_found for gold_lane in piece_lanes) == 1
            for piece_lanes in pieces
        )


def questions_of(summary: IndexSummary) -> tuple[GoldQuestion, ...]:
    """Return the question set of the index's corpus, of a sample or made by the person."""
    try:
        return session.workbench().question_sets.about(summary.corpus_id)
    except LeanRAGError:  # an unreadable file is reported where its questions are shown
        return ()


def offer_questions(key: str) -> None:
    """Draw that the corpus has no question set, with a link to making one."""
    message(say("board.no_questions"))
    to_sets = (state.remember, experiments.TAB, experiments.SETS)
    page_button("evaluate", say("board.make_questions"), "rule", key, *to_sets)


def finder_of(loaded: Loaded) -> GoldFinder | None:
    """Return the finder of gold in the index of that column."""
    if loaded.index is None:
        return None
    return session.finder(loaded.column.summary)


def of_question(loaded: Sequence[Loaded], question: str) -> GoldOf:
    """Return the question's gold from a question set and from marks, with its lane through every column."""
    known: GoldQuestion | None = None
    for each in loaded:
        known = known or _known(each.column.summary, question)
    evidence: tuple[Gold, ...] = ()
    lanes: dict[str, tuple[Lane, ...]] = {}
    ids: dict[str, tuple[str, ...]] = {}
    for each in loaded:
        locate = finder_of(each)
        if locate is None or each.index is None:
            continue
        pieces = (*(locate.of_question(known) if known else ()), *marked(locate))
        evidence = evidence or pieces
        if each.trace is None:
            continue
        lanes[each.letter] = tuple(lane(each.trace, each.index, gold) for gold in pieces)
        ids[each.letter] = held_ids(each.trace, each.index, pieces, lanes[each.letter])
    return GoldOf(known, evidence, lanes, ids)


def _known(summary: IndexSummary, question: str) -> GoldQuestion | None:
    """Return the question with its gold from the corpus's question set, else from any other set about it."""
    sets = session.workbench().question_sets
    for questions in (sets.about, sets.with_evidence):
        with suppress(LeanRAGError):  # an unreadable file is reported where its questions are shown
            for gold in questions(summary.corpus_id):
                if gold.question == question:
                    return gold
    return None


def marked(locate: GoldFinder) -> tuple[Gold, ...]:
    """Return the gold that a person has marked in addition."""
    gold = locate.marked(state.recall(MARKED))
    return (gold,) if gold is not None else ()
