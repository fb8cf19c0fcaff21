"""The zoo, with an answer of its own."""

from leanrag_core.messages.message import message
from leanrag_core.retrieval.tools import Tools
from leanrag_core.types.trace import Answer, AnswerPart, Trace
from tests.contract.strategies import zoo

Config = zoo.Config


class Strategy(zoo.Strategy):
    """Answers with the first hunch."""

    name = "zoo_keeper"
    title = message("plain", text="Zoo keeper")

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
