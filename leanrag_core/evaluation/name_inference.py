"""Anonymity reversion: a model infers which names the placeholders of a question and its answer hide.

Source: Youtu-GraphRAG, appendix B. In open mode the model may use what it knows; in reject mode it has to leave a name
out where the texts do not suffice (section 4.1).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from leanrag_core.errors import ReplyError
from leanrag_core.evaluation.anonymity import Dictionary, Placeholder, reverted
from leanrag_core.evaluation.gold import GoldQuestion, normalised
from leanrag_core.evaluation.statistics import Interval, share_interval
from leanrag_core.models.asking import ask, read_json
from leanrag_core.models.base import Completion, LanguageModel
from leanrag_core.models.pacing import Meter
from leanrag_core.models.window import fill_within
from leanrag_core.prompts.catalog import load_prompt
from leanrag_core.types.calls import object_schema
from leanrag_core.types.experiment import OPEN, REJECT
from leanrag_core.types.job import Progress, Report, silent

PUBLISHED = "youtu-anonymity"  # of paper_tables.csv: accuracy in percent over both kinds of questions of AnonyRAG
TASK_OF_MODE = {OPEN: "infer_names_open", REJECT: "infer_names_reject"}
_NAMED = object_schema({"placeholder": {"type": "string"}, "name": {"type": "string"}})
_SCHEMA = object_schema({"names": {"type": "array", "items": _NAMED}})


@dataclass(frozen=True)
class InferredName:
    """What the model took a placeholder of a question for. name: "" where it gave none."""

    question: str
    placeholder: str
    name: str
    is_right: bool


@dataclass(frozen=True)
class NameInference:
    """names: by question, then as the placeholders occur. right, left_out: share of a question's placeholders, mean of
    the questions whose reply could be used; None without any. n_lost: questions whose reply could not. n_bare:
    questions without a placeholder, about which nothing is asked."""

    names: tuple[InferredName, ...]
    right: Interval | None
    left_out: Interval | None
    n_lost: int
    n_bare: int


def infer_names(
    questions: Sequence[GoldQuestion],
    dictionary: Dictionary,
    context_of: Callable[[str], str],
    language: LanguageModel,
    meter: Meter,
    *,
    mode: str = OPEN,
    report: Report = silent,
) -> NameInference:
    """Ask the model about each anonymous question with its gold answer, and score what it infers.

    context_of: the text that is retrieved for a question from the anonymous corpus. A name is right if it is one of the
    entity's, without case, articles and punctuation. Raises BudgetSpent, CallFailed, and what `report` raises.
    """
    entry_of = {entry.placeholder: entry for entry in dictionary.entries}
    names: list[InferredName] = []
    rights: list[float] = []
    blanks: list[float] = []
    n_lost = n_bare = 0
    for place, question in enumerate(questions, 1):
        hidden = _hidden(question, dictionary)
        if not hidden:
            n_bare += 1
        else:
            given_names = _asked(question, hidden, context_of(question.question), language, meter, TASK_OF_MODE[mode])
            if given_names is None:
                n_lost += 1
            else:
                inferred = [_inferred(question, entry_of[each], given_names.get(each, "")) for each in hidden]
                names += inferred
                rights.append(sum(each.is_right for each in inferred) / len(inferred))
                blanks.append(sum(not each.name for each in inferred) / len(inferred))
        report(Progress("questions", place, len(questions), "questions", spent=meter.read()))
    return NameInference(tuple(names), share_interval(rights), share_interval(blanks), n_lost, n_bare)


def _hidden(question: GoldQuestion, dictionary: Dictionary) -> tuple[str, ...]:
    """Return the placeholders of the question and its answer, in the order in which they occur first."""
    known = reverted(f"{question.question}\n{_gold_answer(question)}", dictionary).known
    return tuple(dict.fromkeys(known))


def _gold_answer(question: GoldQuestion) -> str:
    return question.answer or ", ".join(question.answers)


def _asked(
    question: GoldQuestion, hidden: Sequence[str], context: str, language: LanguageModel, meter: Meter, task: str
) -> dict[str, str] | None:
    """Return the names that the model gives, by placeholder; None where its reply cannot be used."""
    prompt = load_prompt(task)
    meter.require_budget()
    text = fill_within(
        language,
        prompt,
        keep=("question", "answer", "placeholders"),
        context=context,
        question=question.question,
        answer=_gold_answer(question),
        placeholders=", ".join(hidden),
    )
    try:
        message = {"role": "user", "content": text}
        return ask(language, [message], _read, schema=_SCHEMA, task=prompt.fingerprint).value
    except ReplyError as error:
        meter.add_fault(str(error))
        return None


def _read(completion: Completion) -> dict[str, str]:
    reply = read_json(completion.text, (("names",),))
    if completion.cut:
        raise ReplyError("reply.broken_off")
    return dict(filter(None, map(_pair, reply.list_of("names"))))


def _pair(entry: Any) -> tuple[str, str] | None:
    """Return placeholder and name of an entry; placeholders as models write them, such as [PERSON#12]."""
    if not isinstance(entry, dict):
        return None
    placeholder, name = (str(entry.get(key) or "").strip() for key in ("placeholder", "name"))
    written = placeholder.strip("[]").upper().replace("#", "_").replace(" ", "_")
    return (written, name) if written else None


def _inferred(question: GoldQuestion, entry: Placeholder, name: str) -> InferredName:
    is_right = bool(normalised(name)) and normalised(name) in {normalised(each) for each in entry.names}
    return InferredName(question.id, entry.placeholder, name, is_right)
