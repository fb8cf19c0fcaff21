"""The program's own measures in one table; a file in this folder adds another one, found by itself."""

from collections.abc import Callable
from dataclasses import dataclass

from leanrag_core.evaluation.answers import (
    RIGHT,
    claim_clusters,
    claims_of,
    declines,
    exact_match,
    f1,
    grade,
    plain_text,
)
from leanrag_core.evaluation.base import (
    ANSWER,
    CLAIMS,
    CONTEXT,
    COUNT,
    EVIDENCE,
    HIGHER,
    LOWER,
    RATIO,
    SHARE,
    TOKENS,
    Outcome,
    Ratio,
)
from leanrag_core.evaluation.gold import is_named, normalised
from leanrag_core.messages.message import message
from leanrag_core.retrieval.repeats import RUN, WORD
from leanrag_core.text.tokens import count_tokens
from leanrag_core.types.question_set import WHOLE_CORPUS

_YES_NO = frozenset(("yes", "no", "true", "false"))


@dataclass
class OwnMeasure:
    """A measure of the table. formula: the score of an outcome, None where the question lacks what it needs.

    distance: of claim clusters: clusters of the answer's claims under complete linkage, distance 1 - ROUGE-L, cut there
    (GraphRAG, 4.2).
    """

    name: str
    group: str
    formula: Callable[[Outcome], float | None]
    unit: str = SHARE
    better: str = HIGHER
    is_main: bool = False
    ratio: Ratio | None = None
    distance: float | None = None

    def __post_init__(self) -> None:
        if self.distance is None:
            self.title, self.help = message(f"measure.{self.name}.title"), message(f"measure.{self.name}.help")
        else:
            self.title = message("measure.claim-clusters.title", distance=self.distance)
            self.help = message("measure.claim-clusters.help", distance=self.distance)

    def score(self, outcome: Outcome) -> float | None:
        """Score the outcome."""
        return self.formula(outcome)


def _of_ranking(name: str, field: str) -> OwnMeasure:
    """Return the measure that is a field of RankingScores; None where there is no ranking."""
    return OwnMeasure(name, EVIDENCE, lambda outcome: getattr(outcome.ranking_scores, field, None))


def _section(name: str) -> OwnMeasure:
    """Return the measure of the tokens of the context's section of that name; None where it has none."""

    def score(outcome: Outcome) -> float | None:
        return next((float(each.tokens) for each in outcome.trace.context.sections if each.name == name), None)

    return OwnMeasure(f"tokens-{name}", CONTEXT, score, unit=TOKENS, better=LOWER)


def _of_claims(percent: int) -> OwnMeasure:
    distance = percent / 100

    def score(outcome: Outcome) -> float | None:
        return float(claim_clusters(claims_of(outcome), distance)) if outcome.answer else None

    return OwnMeasure(f"claim-clusters-{percent}", CLAIMS, score, unit=COUNT, distance=distance)


def _answer_entities(outcome: Outcome) -> float | None:
    """Return the share of the entities of a whole-corpus question's gold answer that the context names, in any section;
    None for questions of another kind, and for those whose file lists no entities.

    Entities are those that the question's file lists, since a gold answer may be a sentence, which no context repeats.
    """
    question = outcome.question
    if question.kind != WHOLE_CORPUS or not question.entities:
        return None
    context = normalised(outcome.trace.context.text)
    return sum(is_named(names, context) for names in question.entities) / len(question.entities)


def _answer_in_context(outcome: Outcome) -> float | None:
    """Return 1 where the context contains one of the gold answers as whole words, else 0; None for a question without
    gold answers, and for yes and no, which any text contains."""
    answers = tuple(map(normalised, outcome.question.answers))
    wanted = tuple(answer for answer in answers if answer and answer not in _YES_NO)
    return float(is_named(wanted, normalised(outcome.trace.context.text))) if wanted else None


def _answer_right(outcome: Outcome) -> float | None:
    """Return 1 where the answer has a gold answer as whole words; unanswerable: where it declines; else 0. None without
    an answer, and for a question without short gold answers."""
    answer_grade = None if outcome.answer is None else grade(outcome.question, plain_text(outcome.answer))
    return None if answer_grade is None else float(answer_grade == RIGHT)


def _documents_touched(outcome: Outcome) -> float | None:
    """Return the share of a whole-corpus question's gold documents of which a passage is in the context; None for
    questions of another kind, of which evidence recall says more, and where a strategy retrieves no passages."""
    gold = {evidence.document for evidence in outcome.question.evidence}
    if outcome.question.kind != WHOLE_CORPUS or not gold or not outcome.trace.gives_passages:
        return None
    kept = outcome.trace.context.mark_of
    names = (item.source.names for item in outcome.trace.passages if item.source and item.id in kept)
    return len(gold.intersection(frozenset[str]().union(*names))) / len(gold)


def _recall_per_1000(outcome: Outcome) -> float | None:
    """Return evidence recall over thousands of context tokens; of several questions, mean recall over mean tokens."""
    tokens = outcome.trace.context.tokens
    return 1000 * outcome.ranking.recall / tokens if outcome.ranking and tokens else None


def _repeated_share(outcome: Outcome) -> float | None:
    """Return the share of the context's tokens that are in runs of five words seen earlier in it; None for an empty
    context."""
    context = outcome.trace.context
    return repeated_tokens(context.text) / context.tokens if context.tokens else None


def repeated_tokens(text: str) -> int:
    """Count the tokens of the words in runs of five words that occur earlier in the text.

    Words are compared in lower case without punctuation; a character of Chinese, Japanese or Korean is a word.
    """
    matches = list(WORD.finditer(text))
    words = [match.group().lower() for match in matches]
    seen: set[tuple[str, ...]] = set()
    spans: list[tuple[int, int]] = []  # of the repeated text, joined where runs overlap or touch
    for start in range(len(words) - RUN + 1):
        run = tuple(words[start : start + RUN])
        if run not in seen:
            seen.add(run)
            continue
        first, last = matches[start].start(), matches[start + RUN - 1].end()
        if spans and first <= spans[-1][1]:
            spans[-1] = (spans[-1][0], last)
        else:
            spans.append((first, last))
    return sum(count_tokens(text[first:last]) for first, last in spans)


OWN = (
    OwnMeasure("evidence-recall", EVIDENCE, lambda o: o.ranking.recall if o.ranking else None, is_main=True),
    OwnMeasure("documents-touched", EVIDENCE, _documents_touched, is_main=True),
    OwnMeasure(
        "recall-per-1000",
        EVIDENCE,
        _recall_per_1000,
        unit=RATIO,
        ratio=Ratio("evidence-recall", "context-tokens", 1000.0),
    ),
    _of_ranking("all-gold-8", "all_gold_8"),
    _of_ranking("ndcg", "ndcg"),
    _of_ranking("precision", "precision"),
    _of_ranking("recall-5", "recall_5"),
    _of_ranking("reciprocal-rank", "reciprocal_rank"),
    # How long the context is: the paper's measure of redundancy (RQ2).
    OwnMeasure(
        "context-tokens", CONTEXT, lambda o: float(o.trace.context.tokens), unit=TOKENS, better=LOWER, is_main=True
    ),
    OwnMeasure("repeated-share", CONTEXT, _repeated_share, better=LOWER),
    *map(_section, ("aggregated", "chunks", "entities", "relations")),
    OwnMeasure("answer-entities", ANSWER, _answer_entities, is_main=True),
    OwnMeasure("answer-in-context", ANSWER, _answer_in_context, is_main=True),
    OwnMeasure("answer-right", ANSWER, _answer_right),
    # For an experiment in reject mode, and the built-in engine.
    OwnMeasure(
        "answer-declined", ANSWER, lambda o: float(declines(plain_text(o.answer))) if o.answer else None, better=""
    ),
    OwnMeasure("exact-match", ANSWER, lambda o: exact_match(o.question, o.answer) if o.answer else None),
    OwnMeasure("f1", ANSWER, lambda o: f1(o.question, o.answer) if o.answer else None),
    OwnMeasure("claims", CLAIMS, lambda o: float(len(claims_of(o))) if o.answer else None, unit=COUNT),
    *map(_of_claims, (50, 60, 70, 80)),
)
