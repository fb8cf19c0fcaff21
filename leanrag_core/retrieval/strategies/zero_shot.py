"""Zero-shot: the language model alone, without any document."""

from dataclasses import dataclass

from leanrag_core.messages.catalog import sentence
from leanrag_core.messages.message import message
from leanrag_core.retrieval.base import OFFICIAL, Query, trace_index
from leanrag_core.retrieval.context import joined_sections
from leanrag_core.retrieval.model_replies import ask_text
from leanrag_core.retrieval.tools import Tools
from leanrag_core.types.index import Index
from leanrag_core.types.trace import Answer, AnswerPart, Trace, TraceStep

_NO_MODEL = message("zero_shot.no_model")


@dataclass(frozen=True)
class Config:
    """There is nothing to set."""


class Strategy:
    """What the model knows by itself; the floor that retrieval has to beat."""

    name = "zero_shot"
    title = message("strategy.zero_shot.title")
    help = message("strategy.zero_shot.help")
    badge = "faithful"
    differs = message("strategy.zero_shot.differs")
    calls_model = False  # to retrieve; its answer is a model's
    parts = ()
    presets = (OFFICIAL,)

    def __init__(self, config: Config) -> None:
        self.config = config

    def retrieve(self, query: Query, index: Index, tools: Tools) -> Trace:
        """A trace without items: nothing is searched."""
        return Trace(
            question=query.text,
            strategy=self.name,
            title=self.title,
            parameters={},
            items=(),
            relations=(),
            context=joined_sections(),
            steps=(TraceStep("none", message("zero_shot.step"), message("zero_shot.step.caption")),),
            styles=(),
            index=trace_index(index),
            notes=() if tools.language is not None else (_NO_MODEL,),
        )

    def answer(self, trace: Trace, tools: Tools) -> Answer:
        """The model's answer from its own knowledge, which cites nothing; without a model it says so."""
        if tools.language is None:
            return Answer(sentence(_NO_MODEL), (), (), False, True, "builtin", trace)
        spent = tools.meter.read().usage
        text = ask_text(tools.language, tools, "answer_without_context", question=trace.question)
        usage = tools.meter.read().usage - spent
        part = AnswerPart(text, ())
        return Answer(text, (part,), (), False, False, tools.language.name, trace, usage)
