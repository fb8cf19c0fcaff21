"""Asking a judge: its reply is read, asked for once more where it cannot be read, and kept as it came."""

import hashlib
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from leanrag_core.errors import CallFailed, InvalidConfig, ReplyError
from leanrag_core.evaluation.answers import GRADES
from leanrag_core.evaluation.gold import GoldQuestion
from leanrag_core.evaluation.judging.tasks import JudgeTask, missing
from leanrag_core.models.asking import ask, complained, read_json
from leanrag_core.models.base import Completion, LanguageModel
from leanrag_core.models.registry import Models
from leanrag_core.models.window import fill_within
from leanrag_core.prompts.catalog import Prompt, load_prompt
from leanrag_core.text.words import lexical_tokens
from leanrag_core.types.calls import JsonSchema, object_schema
from leanrag_core.types.experiment import ABSOLUTE, GRADED, PAIRWISE, ExperimentResult, Judgement, is_human
from leanrag_core.types.job import Progress, Report
from leanrag_core.types.roles import JUDGING

OVERALL = "overall"
DIRECTNESS = "directness"  # the control criterion of GraphRAG, section 3.3: short answers should win it
SCORED = ("comprehensiveness", "empowerment", "diversity", OVERALL)
COMPARED = ("comprehensiveness", "empowerment", "diversity", DIRECTNESS, OVERALL)

FIRST, SECOND, TIE = 1.0, 2.0, 0.0
LOWEST, HIGHEST = 1.0, 10.0

_WINNER = re.compile(r"[\W_]*(?:(?:answer|assistant|response)[\W_]*)?([12])[\W_]*", re.IGNORECASE)
_NAMED = {"first": FIRST, "second": SECOND, "a": FIRST, "b": SECOND}
_TIES = frozenset(("0", "tie", "draw", "equal", "both", "neither"))
_NUMBER = re.compile(r"\s*(\d+(?:\.\d+)?)\s*(?:/\s*10)?\s*")


def winner_of(value: object) -> float | None:
    """Return FIRST, SECOND or TIE as the value says it ("Answer 1", 2, "tie", {"winner": ...}); None when it says
    nothing."""
    if isinstance(value, Mapping):
        return next((winner_of(inner) for key, inner in value.items() if _is_key(key, "winner")), None)
    if isinstance(value, bool) or value is None:
        return None
    text = str(value).strip().casefold()
    if text.endswith(".0"):
        text = text.removesuffix(".0")
    if match := _WINNER.fullmatch(text):
        return float(match[1])
    word = text.strip("[]()*\"'. ").removeprefix("answer ")
    return TIE if word in _TIES else _NAMED.get(word)


def score_of(value: object) -> float | None:
    """Read a score from 1 to 10 out of the value (7, "7/10", {"score": 7}); None when it has none."""
    if isinstance(value, Mapping):
        return next((score_of(inner) for key, inner in value.items() if _is_key(key, "score")), None)
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    match = _NUMBER.fullmatch(str(value))
    score = float(match[1]) if match else math.nan
    return score if LOWEST <= score <= HIGHEST else None


def criterion_of(name: object) -> str:
    """Return the criterion's name as judgements hold it: "Overall Winner" is "overall"."""
    words = re.sub(r"[\W_]+", " ", str(name)).strip().casefold()
    return words.removesuffix(" winner").removesuffix(" score") or words


def pair_verdicts(cells: Mapping[str, Any]) -> dict[str, float]:
    """Return the winner by criterion, for every key of the object that names one."""
    winners = {criterion_of(key): winner_of(value) for key, value in cells.items()}
    return {name: winner for name, winner in winners.items() if winner is not None}


def required_verdicts(cells: Mapping[str, Any], criteria: Sequence[str], *, is_pair: bool) -> dict[str, float]:
    """Return the verdict on each criterion. Raises ReplyError where the object lacks any: half a reply is none."""
    read = winner_of if is_pair else score_of
    by_name = {criterion_of(key): read(value) for key, value in cells.items()}
    verdicts = {name: value for name in criteria if (value := by_name.get(name)) is not None}
    lacking = [name for name in criteria if name not in verdicts]
    if lacking:
        raise ReplyError("judge.reply_lacks", criteria=", ".join(lacking))
    return verdicts


def _is_key(key: object, wanted: str) -> bool:
    return wanted in str(key).casefold()


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


def filled(task: JudgeTask, language: LanguageModel | None = None) -> str:
    """Fill in the prompt of the task. The mark around each text depends on all of them, so that none can hold its own
    end. language: the judge; what does not fit its window is cut from the longest texts."""
    prompt = FORMS[task.kind].prompt()
    texts = {"question": task.text, "first": task.answers[0]}
    if task.kind == PAIRWISE:
        texts["second"] = task.answers[1]
    if task.kind == GRADED:
        texts["gold"] = "\n".join(f"- {answer}" for answer in task.gold) or _NO_GOLD
    digest = hashlib.sha256("\0".join(texts.values()).encode()).hexdigest()
    return fill_within(language, prompt, keep=("mark", "question"), mark=f"TEXT-{digest[:12]}", **texts)


def _compared(cells: Mapping[str, Any]) -> dict[str, float]:
    return required_verdicts(cells, COMPARED, is_pair=True)


def _scored(cells: Mapping[str, Any]) -> dict[str, float]:
    return required_verdicts(cells, SCORED, is_pair=False)


def _graded(cells: Mapping[str, Any]) -> dict[str, float]:
    verdict = {str(key).strip().casefold(): value for key, value in cells.items()}.get("verdict")
    grade = str(verdict).strip(" \"'.").casefold()
    if grade not in GRADES:
        raise ReplyError("judge.reply_lacks", criteria="verdict")
    return {name: float(name == grade) for name in GRADES}


def _explained(name: str, allowed: JsonSchema) -> JsonSchema:
    return object_schema({"explanation": {"type": "string"}, name: allowed})


_WINNER_FORM = _explained("winner", {"type": "integer", "enum": [0, 1, 2]})
_SCORE = _explained("score", {"type": "integer", "enum": list(range(1, 11))})
_GRADE = _explained("verdict", {"type": "string", "enum": list(GRADES)})
FORMS = {  # by the kind of judgement
    PAIRWISE: Form("judge_pair", COMPARED, COMPARED, _compared, object_schema(dict.fromkeys(COMPARED, _WINNER_FORM))),
    ABSOLUTE: Form("judge_score", SCORED, SCORED, _scored, object_schema(dict.fromkeys(SCORED, _SCORE))),
    GRADED: Form("judge_gold", GRADES, ("verdict",), _graded, _GRADE),
}


_ATTEMPTS = 2


@dataclass(frozen=True)
class JudgeReply:
    """The last reply of a judge, and its verdicts, empty where none could be read."""

    text: str = ""
    verdicts: Mapping[str, float] = field(default_factory=dict)


def judge(task: JudgeTask, models: Models) -> Judgement:
    """Ask the judge for the task's judgement; its verdicts are None where the second reply cannot be read either, or
    the endpoint refuses the request.

    Raises BudgetSpent, EndpointError where every further call
    would fail too, and InvalidConfig where the judge is no language model.
    """
    language = require_judge(task.judge, models)
    form, prompt = FORMS[task.kind], filled(task, language)
    reply = _asked(language, form, prompt, task.repeat)
    lengths = [len(lexical_tokens(answer)) for answer in task.answers]
    return Judgement(
        judge=task.judge,
        kind=task.kind,
        question=task.question,
        first=task.first,
        second=task.second,
        repeat=task.repeat,
        verdicts={name: reply.verdicts.get(name) for name in form.criteria},
        prompt=prompt,
        reply=reply.text,
        words=(lengths[0], lengths[1] if len(lengths) > 1 else 0),
    )


def require_judge(model: str, models: Models) -> LanguageModel:
    """Return the language model of that name. Raises InvalidConfig where it is none, or lacks the price that a budget
    in dollars needs."""
    language = models.language(model, JUDGING)
    if language is None:
        raise InvalidConfig("judge.needs_model", model=model)
    return language


def _asked(language: LanguageModel, form: Form, prompt: str, repeat: int) -> JudgeReply:
    """Ask the judge, and once more where its reply cannot be read. Such replies are kept with the calls like others,
    so that a judgement which is made again after an interruption pays for none of them twice. The repeat is in the
    key of the calls, or every repeat would be the first one's reply."""
    messages = [{"role": "user", "content": prompt}]
    task = f"{form.prompt().fingerprint} #{repeat + 1}"
    asked, last = messages, JudgeReply()
    for _ in range(_ATTEMPTS):
        try:
            completion = language.complete(asked, schema=form.schema, task=task)
            last = JudgeReply(completion.text)
            return JudgeReply(completion.text, _verdicts(completion, form))
        except CallFailed:
            return last
        except ReplyError as error:
            again = complained(messages, last.text, error.message, language) if last.text.strip() else None
            asked = again or messages
    return last


def _verdicts(completion: Completion, form: Form) -> dict[str, float]:
    """Read the verdicts of the reply. Raises ReplyError where it lacks any, or was cut: the 1 at its end may have been
    a 10."""
    if completion.cut:
        raise ReplyError("reply.broken_off")
    return form.read(read_json(completion.text, [(key,) for key in form.keys]).cells)


TASK = "list_claims"
_KEY = "claims"
_REPLY = object_schema({_KEY: {"type": "array", "items": {"type": "string"}}})


def list_claims(answer: str, language: LanguageModel) -> tuple[str, ...]:
    """Ask the model for the answer's claims, once more where its reply cannot be read.

    Raises ReplyError where the second reply cannot be read either, BudgetSpent, EndpointError.
    """
    prompt = load_prompt(TASK)
    mark = f"TEXT-{hashlib.sha256(answer.encode()).hexdigest()[:12]}"
    content = fill_within(language, prompt, keep=("mark",), mark=mark, answer=answer)
    messages = [{"role": "user", "content": content}]
    return ask(language, messages, _read, schema=_REPLY, task=prompt.fingerprint).value


def _read(completion: Completion) -> tuple[str, ...]:
    reply = read_json(completion.text, ((_KEY,),))
    listed = {str(key).strip().casefold(): value for key, value in reply.cells.items()}.get(_KEY)
    if completion.cut or reply.breaks_off:
        raise ReplyError("reply.broken_off")
    if not isinstance(listed, list):
        raise ReplyError("judge.reply_lacks", criteria=_KEY)
    return tuple(" ".join(claim.split()) for claim in listed if isinstance(claim, str) and claim.strip())


STAGE = "judge"

DoTasks = Callable[[Callable[[JudgeTask], Judgement], Iterable[JudgeTask]], Iterator[Judgement]]


def judge_result(
    result: ExperimentResult,
    questions: Sequence[GoldQuestion],
    models: Models,
    do_tasks: DoTasks,
    keep: Callable[[Judgement], None],
    report: Report,
) -> None:
    """Ask for every judgement that the experiment lacks, and keep each.

    do_tasks: maps over tasks, in their order. keep: puts a judgement on the disk. report: may raise Cancelled. Raises
    BudgetSpent, EndpointError, InvalidConfig; what was judged until then is kept.
    """
    open_tasks = missing(result.spec, result.rows, result.judgements, questions)
    n_done = sum(not is_human(judgement.judge) for judgement in result.judgements)
    total = n_done + len(open_tasks)
    if total:
        report(Progress(STAGE, n_done, total, "judgements"))
    for judgement in do_tasks(lambda task: judge(task, models), open_tasks):
        keep(judgement)
        n_done += 1
        report(Progress(STAGE, n_done, total, "judgements", current=judgement.judge))
