"""A strategy of the tests that shares nothing with LeanRAG: kinds, roles, steps, sections and letters of its own."""

from dataclasses import asdict, dataclass

from leanrag_core.messages.message import Message, message
from leanrag_core.retrieval.base import Query, trace_index
from leanrag_core.retrieval.budgets import SectionForm, section
from leanrag_core.retrieval.context import joined_sections, passage_line
from leanrag_core.retrieval.passages import passage_items
from leanrag_core.retrieval.tools import Tools
from leanrag_core.types.config import option
from leanrag_core.types.index import Index
from leanrag_core.types.trace import ContextItem, ContextSection, Style, Trace, TraceItem, TraceRelation, TraceStep

HOSTILE = '<img src=x onerror=alert(1)> [x](javascript:alert(1)) "claims"'


def say(text: str) -> Message:
    return message("plain", text=text)


@dataclass(frozen=True)
class Config:
    rounds: int = option(2, low=1, high=9, help="Rounds of the debate.")
    doubt: float = option(0.5, low=0, high=1, help="How much is doubted.")


class Strategy:
    name = "debate"
    title = say("Debate <b>of models</b>")
    help = say("Claims for and against.")
    badge = "style-of"
    differs = say("No debate is published.")
    calls_model = True
    parts = ()
    presets = ()

    def __init__(self, config: Config) -> None:
        self.config = config

    def retrieve(self, query: Query, index: Index, tools: Tools) -> Trace:
        if tools.language is not None:
            tools.language.complete([{"role": "user", "content": f"Debate: {query.text}"}])
        passages = passage_items(index, [0, 1])
        question = TraceItem("part-1", "sub-question", HOSTILE, ("part",), rank=1)
        claims = tuple(
            TraceItem(f"claim-{number}", "claim", f"Claim {number}", ("claim",), parent="part-1", text=HOSTILE)
            for number in range(self.config.rounds)
        )
        verdict = TraceItem("verdict", "verdict", "Undecided", ("verdict", "judge of all"), score=0.5)
        supports = TraceRelation("s1", "claim-0", passages[0].id, "supports", None, "argued", 2.0, HOSTILE)
        against = TraceRelation("s2", "claim-0", "claim-1", "speaks against", None, "argued", 1.0, "No.")
        text = "".join(f"- [CL{place}] {claim.name}\n" for place, claim in enumerate(claims, start=1))
        statements = ContextSection(
            name="claims and more",
            title=say("Claims"),
            letter="CL",
            colour="crimson);color:red",
            items=tuple(
                ContextItem(f"CL{place}", claim.id, claim.name, 3) for place, claim in enumerate(claims, start=1)
            ),
            text=text,
            tokens=6,
            budget=100,
        )
        form = SectionForm(
            "sources", say("Sources"), say("the sources"), say("source"), "S", "chunk", "## Sources\n", {}
        )
        filled = section(form, [passage_line(index, passage) for passage in passages], 500)
        ids = tuple(claim.id for claim in claims)
        return Trace(
            question=query.text,
            strategy=self.name,
            title=self.title,
            parameters=asdict(self.config),
            items=(question, *claims, verdict, *passages),
            relations=(supports, against),
            context=joined_sections(statements, filled),
            steps=(
                TraceStep("take apart", say("Parts"), say(HOSTILE), ("part-1",)),
                TraceStep("argue", say("Argue"), say("They argue."), ids, ("s1", "s2")),
            ),
            styles=(
                Style("part", say("Part of the question"), "entered", "disc"),
                Style("claim", say("Claim"), "crimson);color:red", "hexagon"),
                Style("verdict", say("Verdict"), "lca", "double"),
                Style("supports", say("Supports"), "inter", "wavy", on="relation"),
                Style("speaks against", say("Speaks against"), "left", "arc", on="relation"),
            ),
            index=trace_index(index),
            notes=(say(HOSTILE),),
        )
