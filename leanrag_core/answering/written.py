"""An answer that a language model writes from a context alone."""

from leanrag_core.models.base import Completion, LanguageModel
from leanrag_core.prompts.book import PromptBook
from leanrag_core.retrieval.marks import cited_parts, distinct, with_marks
from leanrag_core.types.experiment import OPEN, REJECT
from leanrag_core.types.trace import Answer, AnswerPart, Trace

ANSWER = "answer"
TASK_OF_MODE = {OPEN: "answer_open", REJECT: "answer_reject"}
NOT_IN_CONTEXT = "NOT IN THE CONTEXT"  # how an answer in reject mode begins where the context does not suffice
CUT_SHORT = "(Cut at the token limit: raise the longest reply in Settings.)"


def answer_messages(
    trace: Trace, prompts: PromptBook | None = None, task: str = ANSWER
) -> tuple[list[dict[str, str]], str]:
    """Return the question as it is put to a language model, and the fingerprint of its prompt. prompts: the index's
    own. task: of the prompt."""
    prompt = (prompts or PromptBook()).of(task)
    content = prompt.fill(context=trace.context.text, question=trace.question)
    return [{"role": "user", "content": content}], prompt.fingerprint


def write_answer(
    trace: Trace, language: LanguageModel, prompts: PromptBook | None = None, task: str = ANSWER
) -> Answer:
    """Ask the language model to answer from the context; marks that the context does not have are removed."""
    messages, fingerprint = answer_messages(trace, prompts, task)
    return written_answer(trace, language.complete(messages, task=fingerprint), language.name)


def written_answer(trace: Trace, reply: Completion, model: str) -> Answer:
    """Turn the model's reply into an answer: sentences with the marks that the context has."""
    parts = cited_parts(reply.text, trace.context)
    if reply.cut:
        parts.append(AnswerPart(CUT_SHORT, ()))
    citations = distinct(mark for part in parts for mark in part.marks)
    return Answer(
        text=" ".join(with_marks(part.text, part.marks) for part in parts),
        parts=tuple(parts),
        citations=citations,
        grounded=bool(citations),
        extractive=False,
        model=model,
        trace=trace,
        usage=reply.usage,
    )
