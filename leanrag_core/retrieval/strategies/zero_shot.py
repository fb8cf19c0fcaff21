"""Zero-shot: the language model alone, without any document."""

from dataclasses import dataclass

from leanrag_core.messages.catalog import sentence
from leanrag_core.messages.message import message
from leanrag_core.retrieval.base import Query, StrategyBase, UnrankedOptions
from leanrag_core.retrieval.context import joined_sections
from leanrag_core.retrieval.model_replies import ask_text
from leanrag_core.retrieval.tools import Tools
from leanrag_core.retrieval.tracing import Retrieval
from leanrag_core.types.index import Index
from leanrag_core.types.trace import Answer, AnswerPart, Trace

_NO_MODEL = message("zero_shot.no_model")


@dataclass(frozen=True)
class Config(UnrankedOptions):
    """There is nothing to set."""


class Strategy(StrategyBase[Config]):
    """What the model knows by itself; the floor that retrieval has to beat."""

    name = "zero_shot"
    badge = "faithful"
    calls_model = False  # to retrieve
    model_answers = True

    def retrieve(self, query: Query, index: Index, tools: Tools) -> Trace:
        """Return a trace without items: nothing is searched."""
        run = Retrieval(self, query, index, tools)
        run.note(_NO_MODEL if tools.language is None else None)
        step = run.step("none", message("zero_shot.step.caption"), title=message("zero_shot.step"))
        return run.trace(joined_sections(), steps=(step,), styles=(), items=())

    def answer(self, trace: Trace, tools: Tools) -> Answer:
        """Return the model's answer from its own knowledge, which cites nothing; without a model it says so."""
        if tools.language is None:
            return Answer(sentence(_NO_MODEL), (), (), False, True, "builtin", trace)
        spent = tools.meter.read().usage
        text = ask_text(tools, "answer_without_context", question=trace.question)
        usage = tools.meter.read().usage - spent
        part = AnswerPart(text, ())
        return Answer(text, (part,), (), False, False, tools.language.name, trace, usage)
