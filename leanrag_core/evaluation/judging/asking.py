"""A judge is asked: its reply read, asked for again once, and kept as it came."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from leanrag_core.errors import CallFailed, InvalidConfig, ReplyError
from leanrag_core.evaluation.judging.forms import Form, filled, form_of
from leanrag_core.evaluation.judging.tasks import JudgeTask
from leanrag_core.models.asking import complained
from leanrag_core.models.base import Completion, LanguageModel
from leanrag_core.models.json_reply import read_json
from leanrag_core.models.registry import Models
from leanrag_core.text.words import lexical_tokens
from leanrag_core.types.experiment import Judgement

_ATTEMPTS = 2


def _never() -> None:
    return None


@dataclass(frozen=True)
class JudgeReply:
    """The last reply of a judge, and its verdicts, empty where none could be read."""

    text: str = ""
    verdicts: Mapping[str, float] = field(default_factory=dict)


def judge(task: JudgeTask, models: Models, *, cancelled: Callable[[], None] = _never) -> Judgement:
    """Ask the judge for the task's judgement; its verdicts are None where the second reply cannot be read either, or
    the endpoint refuses the request.

    cancelled: called before each call; raises Cancelled. Raises BudgetSpent, EndpointError where every further call
    would fail too, and InvalidConfig where the judge is no language model.
    """
    language = require_judge(task.judge, models)
    form, prompt = form_of(task.kind), filled(task)
    reply = _asked(language, form, prompt, task.repeat, cancelled)
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
    language = models.language(model)
    if language is None:
        raise InvalidConfig("judge.needs_model", model=model)
    return language


def _asked(language: LanguageModel, form: Form, prompt: str, repeat: int, cancelled: Callable[[], None]) -> JudgeReply:
    """Ask the judge, and once more where its reply cannot be read. Such replies are kept with the calls like others,
    so that a judgement which is made again after an interruption pays for none of them twice. The repeat is in the
    key of the calls, or every repeat would be the first one's reply."""
    messages = [{"role": "user", "content": prompt}]
    task = f"{form.prompt().fingerprint} #{repeat + 1}"
    asked, last = messages, JudgeReply()
    for _ in range(_ATTEMPTS):
        cancelled()
        try:
            completion = language.complete(asked, schema=form.schema, task=task)
            last = JudgeReply(completion.text)
            return JudgeReply(completion.text, _verdicts(completion, form))
        except CallFailed:
            return last
        except ReplyError as error:
            asked = complained(messages, last.text, error.message) if last.text.strip() else messages
    return last


def _verdicts(completion: Completion, form: Form) -> dict[str, float]:
    """Read the verdicts of the reply. Raises ReplyError where it lacks any, or was cut: the 1 at its end may have been
    a 10."""
    if completion.cut:
        raise ReplyError("reply.broken_off")
    return form.read(read_json(completion.text, [(key,) for key in form.keys]).cells)
