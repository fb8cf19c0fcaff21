"""The zoo with an answer of its own. Here no model has a hunch."""

from dataclasses import replace

from leanrag_core.messages.message import message
from leanrag_core.retrieval.base import Query
from leanrag_core.retrieval.tools import Tools
from leanrag_core.types.index import Index
from leanrag_core.types.trace import Answer, AnswerPart, Trace
from tests.contract.strategies import zoo

Config = zoo.Config


class Strategy(zoo.Strategy):
    """Answers with the first hunch."""

    name = "zoo_keeper"
    title = message("plain", text="Zoo keeper")
    calls_model = False

    def retrieve(self, query: Query, index: Index, tools: Tools) -> Trace:
        return super().retrieve(query, index, replace(tools, language=None))

    def answer(self, trace: Trace, tools: Tools) -> Answer:
        item = trace.context.sections[0].items[0]
        text = item.text[item.lead :]
        return Answer(
            text=f"{text} [{item.mark}]",
            parts=(AnswerPart(text, (item.mark,), "hunches"),),
            citations=(item.mark,),
            grounded=True,
            extractive=False,
            model="the keeper",
            trace=trace,
        )
