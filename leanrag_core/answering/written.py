"""An answer that a language model writes from a context alone."""

from dataclasses import replace

from leanrag_core.messages.message import message
from leanrag_core.models.base import Completion, LanguageModel
from leanrag_core.models.window import count_cut, fill_within, room_in, window_of
from leanrag_core.prompts.catalog import PromptBook
from leanrag_core.retrieval.context import within
from leanrag_core.retrieval.marks import cited_answer, cited_parts
from leanrag_core.types.experiment import OPEN, REJECT
from leanrag_core.types.trace import Answer, AnswerPart, Trace

ANSWER = "answer"
TASK_OF_MODE = {OPEN: "answer_open", REJECT: "answer_reject"}
NOT_IN_CONTEXT = "NOT IN THE CONTEXT"  # how an answer in reject mode begins where the context does not suffice
CUT_SHORT = "(Cut at the token limit: raise the longest reply in Settings.)"


def answer_messages(
    trace: Trace, prompts: PromptBook | None = None, task: str = ANSWER, language: LanguageModel | None = None
) -> tuple[list[dict[str, str]], str]:
    """Return the question as it is put to a language model, and the fingerprint of its prompt. prompts: the index's
    own. task: of the prompt. language: whose window the context fits."""
    prompt = (prompts or PromptBook()).of(task)
    content = fill_within(language, prompt, keep=("question",), context=trace.context.text, question=trace.question)
    return [{"role": "user", "content": content}], prompt.fingerprint


def within_window(trace: Trace, language: LanguageModel | None, prompts: PromptBook, task: str = ANSWER) -> Trace:
    """Return the trace with a context that the model's window holds beside the question and the longest prompt of an
    answer, and a note of what was cut; the trace itself where all fits."""
    window = window_of(language)
    if window is None:
        return trace
    templates = [prompts.of(name) for name in dict.fromkeys((task, ANSWER, *TASK_OF_MODE.values()))]
    room = min(
        room_in(language, template, wanted=trace.context.tokens, context="", question=trace.question)
        for template in templates
    )
    if room >= trace.context.tokens:
        return trace
    count_cut(language)
    cut = within(trace.context, room)
    note = message("answer.context_cut", before=trace.context.tokens, after=cut.tokens, window=window.tokens)
    return replace(trace, context=cut, notes=(*trace.notes, note))


def write_answer(
    trace: Trace, language: LanguageModel, prompts: PromptBook | None = None, task: str = ANSWER
) -> Answer:
    """Ask the language model to answer from the context; marks that the context does not have are removed."""
    messages, fingerprint = answer_messages(trace, prompts, task, language)
    return written_answer(trace, language.complete(messages, task=fingerprint), language.name)


def written_answer(trace: Trace, reply: Completion, model: str) -> Answer:
    """Turn the model's reply into an answer: sentences with the marks that the context has."""
    parts = cited_parts(reply.text, trace.context)
    if reply.cut:
        parts.append(AnswerPart(CUT_SHORT, ()))
    return cited_answer(trace, parts, model, usage=reply.usage)
