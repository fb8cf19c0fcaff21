"""An experiment: what is run over which questions, and what came out for each question.

spec/evaluation.md, "Experiments". Everything here but RunCost is the same whenever an experiment is repeated.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from leanrag_core.files.records import absent_at_default

Parameter = str | int | float | bool | None

ASKED = "asked"  # answers are written as on Ask, by the index's own prompt
OPEN = "open"  # answers may also come from what the model knows
REJECT = "reject"  # the answer is declined where the context does not suffice (Youtu-GraphRAG, section 4.1)
MODES = (ASKED, OPEN, REJECT)

ABSOLUTE = "absolute"  # a score from 1 to 10 for each criterion
PAIRWISE = "pairwise"  # a winner for each criterion, in both orders
GRADED = "graded"  # right, wrong or declined, against the gold answers
JUDGEMENTS = (ABSOLUTE, PAIRWISE)  # what is asked for unless a judge says otherwise
ALL_JUDGEMENTS = (*JUDGEMENTS, GRADED)

HUMAN = "human"  # the judge of verdicts that a person gave; "human:NAME" with a name


def human_judge(name: str = "") -> str:
    """Return the judge that a person of that name is."""
    return f"{HUMAN}:{name}" if name else HUMAN


def is_human(judge: str) -> bool:
    """Return whether the judge is a person."""
    return judge.partition(":")[0] == HUMAN


@dataclass(frozen=True)
class RunSpec:
    """A row of the experiment's tables: an index, a strategy and its options; those that are not named are official.

    name: what it is called whatever the other runs are, such as "LeanRAG without chunks"; "" for a name made of its
    differences from them (evaluation/run_titles.py). index: its id in the store, or the path of its folder. An
    experiment records all options of its runs, so that it stays what it was when a default changes. id: unique in the
    experiment; "" in experiments from before runs had one, whose names are unique.
    """

    name: str
    index: str
    strategy: str
    options: Mapping[str, Parameter] = field(default_factory=dict)
    id: str = absent_at_default("")

    @property
    def key(self) -> str:
        """The key by which rows, costs, judgements, baseline and pairs name the run."""
        return self.id or self.name


@dataclass(frozen=True)
class JudgeSpec:
    """How answers are judged. model: such as "openai:NAME". repeats: times that each judgement is asked for.

    kinds: of ALL_JUDGEMENTS. pairs: keys of two runs each, for pairwise judgements; empty: each run against the
    baseline.
    """

    model: str
    kinds: tuple[str, ...] = JUDGEMENTS
    repeats: int = 5
    pairs: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class ExperimentSpec:
    """Runs over the questions of a set. baseline: the run that others are compared with, by its key.

    answers: whether answers are written, which a language model does where the index was built with one. claims:
    whether that model lists the claims of each answer; else its sentences are counted.
    """

    title: str
    question_set: str
    runs: tuple[RunSpec, ...]
    baseline: str = ""
    answers: bool = True
    mode: str = ASKED
    judges: tuple[JudgeSpec, ...] = ()
    seed: int = 0
    claims: bool = absent_at_default(False)

    @property
    def order(self) -> tuple[str, ...]:
        """Keys of the runs as pairs of them are named: the baseline last."""
        return tuple(sorted((run.key for run in self.runs), key=lambda key: key == self.baseline))


@dataclass(frozen=True)
class QuestionRow:
    """What a run did with a question. run: its key. scores: by measure; None where the measure does not apply.

    kind: of the question, such as "multi-hop". passages: ids of the chunks in the context, in rank order. error: an
    English sentence where the run failed on the question, else "".
    """

    run: str
    question: str
    kind: str
    scores: Mapping[str, float | None]
    passages: tuple[str, ...] = ()
    answer: str = ""
    error: str = ""


@dataclass(frozen=True)
class RunCost:
    """What a question of a run took: milliseconds, and what models were paid for (nothing for a stored reply)."""

    run: str
    question: str
    retrieval_ms: float
    answer_ms: float = 0.0
    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float | None = None


@dataclass(frozen=True)
class Judgement:
    """One reply of a judge, or the verdicts of a person. first, second: keys of the runs whose answers it was shown;
    second is "" for an absolute score.

    verdicts, by criterion: for a pair 1 where the first shown won, 2 for the second, 0 for a tie; for a grade 1 or 0
    for each of right, wrong and declined; else the score; None where the reply could not be read, after it was asked
    for again. repeat: counts from 0. words: of the answers shown.
    """

    judge: str
    kind: str
    question: str
    first: str
    second: str
    repeat: int
    verdicts: Mapping[str, float | None]
    prompt: str
    reply: str
    words: tuple[int, int] = (0, 0)


@dataclass(frozen=True)
class ExperimentResult:
    """An experiment with what it has so far. is_complete: nothing is left to run. kinds of questions as in the rows."""

    id: str
    spec: ExperimentSpec
    rows: tuple[QuestionRow, ...] = ()
    costs: tuple[RunCost, ...] = ()
    judgements: tuple[Judgement, ...] = ()
    is_complete: bool = False
    is_shipped: bool = False
    versions: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class ExperimentSummary:
    """An experiment as a list shows it. runs: their keys. rows: of so many questions of its runs there are; all: of
    how many there will be. errors: rows whose run failed. changed: ISO 8601, UTC. has_answers: any question was
    answered."""

    id: str
    title: str
    question_set: str
    runs: tuple[str, ...]
    rows: int
    all: int
    errors: int
    judgements: int
    is_complete: bool
    is_shipped: bool
    changed: str
    has_answers: bool = False


@dataclass(frozen=True)
class MissingPart:
    """A part that a run of an experiment needs and its index lacks."""

    index: str
    part: str
