"""The form of a judge's question and reply, for each kind of judgement."""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from leanrag_core.errors import ReplyError
from leanrag_core.evaluation.declining import GRADES
from leanrag_core.evaluation.judging.tasks import JudgeTask
from leanrag_core.evaluation.judging.verdicts import COMPARED, SCORED, required_verdicts
from leanrag_core.prompts.catalog import Prompt, load_prompt
from leanrag_core.types.calls import JsonSchema
from leanrag_core.types.experiment import ABSOLUTE, GRADED, PAIRWISE

_NO_GOLD = "(none: the documents do not hold the answer)"

Read = Callable[[Mapping[str, Any]], dict[str, float]]


@dataclass(frozen=True)
class Form:
    """A kind of judgement. criteria: of its verdicts. read: the verdicts of an object; raises ReplyError. keys: of the
    object, in lower case."""

    task: str
    criteria: tuple[str, ...]
    keys: tuple[str, ...]
    read: Read
    schema: JsonSchema

    def prompt(self) -> Prompt:
        """Load the newest version of the prompt."""
        return load_prompt(self.task)


def form_of(kind: str) -> Form:
    """Return the form of that kind of judgement."""
    return _FORMS[kind]


def filled(task: JudgeTask) -> str:
    """Fill in the prompt of the task. The mark around each text depends on all of them, so that none can hold its own
    end."""
    prompt = form_of(task.kind).prompt()
    texts = {"question": task.text, "first": task.answers[0]}
    if task.kind == PAIRWISE:
        texts["second"] = task.answers[1]
    if task.kind == GRADED:
        texts["gold"] = "\n".join(f"- {answer}" for answer in task.gold) or _NO_GOLD
    digest = hashlib.sha256("\0".join(texts.values()).encode()).hexdigest()
    return prompt.fill(mark=f"TEXT-{digest[:12]}", **texts)


def _compared(cells: Mapping[str, Any]) -> dict[str, float]:
    return required_verdicts(cells, COMPARED, is_pair=True)


def _scored(cells: Mapping[str, Any]) -> dict[str, float]:
    return required_verdicts(cells, SCORED, is_pair=False)


def _graded(cells: Mapping[str, Any]) -> dict[str, float]:
    said = {str(key).strip().casefold(): value for key, value in cells.items()}.get("verdict")
    grade = str(said).strip(" \"'.").casefold()
    if grade not in GRADES:
        raise ReplyError("judge.reply_lacks", criteria="verdict")
    return {name: float(name == grade) for name in GRADES}


def _object(properties: Mapping[str, JsonSchema]) -> JsonSchema:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def _explained(name: str, allowed: JsonSchema) -> JsonSchema:
    return _object({"explanation": {"type": "string"}, name: allowed})


_WINNER = _explained("winner", {"type": "integer", "enum": [0, 1, 2]})
_SCORE = _explained("score", {"type": "integer", "enum": list(range(1, 11))})
_GRADE = _explained("verdict", {"type": "string", "enum": list(GRADES)})
_FORMS = {
    PAIRWISE: Form("judge_pair", COMPARED, COMPARED, _compared, _object(dict.fromkeys(COMPARED, _WINNER))),
    ABSOLUTE: Form("judge_score", SCORED, SCORED, _scored, _object(dict.fromkeys(SCORED, _SCORE))),
    GRADED: Form("judge_gold", GRADES, ("verdict",), _graded, _GRADE),
}
