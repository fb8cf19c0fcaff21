"""A strategy with roles, kinds, sections, letters and steps that no other one has. It asks a model, if there is one."""

from dataclasses import dataclass

from leanrag_core.messages.message import message
from leanrag_core.retrieval.base import Preset, Query, trace_index
from leanrag_core.retrieval.budgets import Candidate, SectionForm, fixed, section
from leanrag_core.retrieval.context import joined_sections, passage_line
from leanrag_core.retrieval.passages import passage_items, ranked_by_vector
from leanrag_core.retrieval.tools import Tools
from leanrag_core.text.tokens import count_tokens
from leanrag_core.types.config import option, validate
from leanrag_core.types.index import Index
from leanrag_core.types.job import Progress
from leanrag_core.types.trace import Style, Trace, TraceItem, TraceRelation, TraceStep

STYLES = (
    Style("asked", message("plain", text="Part of the question"), "no such colour", "box"),
    Style("hunch", message("plain", text="Hunch"), "lca", "double"),
    Style("proof", message("plain", text="Proof"), "chunk", "chip"),
    Style("supports", message("plain", text="Supports"), "inter", "arc", on="relation"),
)
HUNCHES = SectionForm(
    name="hunches",
    title=message("plain", text="Hunches"),
    phrase=message("plain", text="the hunches"),
    noun=message("plain", text="hunch"),
    letter="HU",
    colour="no such colour",
    heading="## Hunches\n",
)
PROOFS = SectionForm(
    name="proofs",
    title=message("plain", text="Proofs"),
    phrase=message("plain", text="the proofs"),
    noun=message("plain", text="proof"),
    letter="P",
    colour="chunk",
    heading="## Proofs\n",
)


@dataclass(frozen=True)
class Config:
    """Options of the strategy."""

    proofs: int = option(3, low=1, high=9, help="Passages.", in_row=True, scale=6)
    tokens: int = option(300, low=0, high=999, help="Of each section.")

    def __post_init__(self) -> None:
        validate(self)


class Strategy:
    """Halves the question, has a hunch about each half, and looks for proofs."""

    name = "zoo"
    title = message("plain", text="Zoo")
    help = message("plain", text="For tests.")
    badge = "style-of"
    differs = message("plain", text="Nothing is published under this name.")
    calls_model = True
    parts = ()
    presets = (Preset("official", message("plain", text="Official")),)

    def __init__(self, config: Config) -> None:
        self.config = config

    def retrieve(self, query: Query, index: Index, tools: Tools) -> Trace:
        words = query.text.split()
        halves = [" ".join(half) for half in (words[: len(words) // 2], words[len(words) // 2 :]) if half]
        asked = tuple(TraceItem(f"q{place}", "sub-question", half, ("asked",)) for place, half in enumerate(halves))
        vectors = tools.embed(halves)
        hunches = tuple(
            TraceItem(
                f"h{place}",
                "hunch",
                f"Hunch {place}",
                ("hunch",),
                parent=None,
                text=self._hunch(half, tools),
                score=float(vectors[place] @ query.vector),
                reason=message("plain", text=f"from {half}"),
            )
            for place, half in enumerate(halves)
        )
        ranking = ranked_by_vector(index, query.vector)
        rows = ranking[: self.config.proofs].tolist()
        proofs = tuple(
            TraceItem(**{**vars(passage), "roles": ("proof",)})
            for passage in passage_items(index, rows, scores=dict.fromkeys(rows, 0.5))
        )
        supports = tuple(
            TraceRelation(
                f"s{place}", proof.id, hunches[place % len(hunches)].id, "supports", None, "guessed", 1.0, "Yes."
            )
            for place, proof in enumerate(proofs)
        )
        lines = [
            Candidate("hunch", each.id, "Hunch:", each.text, (fixed(" Hunch:"),), count_tokens(f" {each.text}\n"))
            for each in hunches
        ]
        context = joined_sections(
            section(HUNCHES, lines, self.config.tokens),
            section(PROOFS, [passage_line(index, proof) for proof in proofs], self.config.tokens),
        )
        return Trace(
            question=query.text,
            strategy=self.name,
            title=self.title,
            parameters=dict(vars(self.config)),
            items=(*asked, *hunches, *proofs),
            relations=supports,
            context=context,
            steps=(
                TraceStep(
                    "halve",
                    message("plain", text="Halve"),
                    message("plain", text="The question is halved."),
                    tuple(each.id for each in asked),
                ),
                TraceStep(
                    "guess",
                    message("plain", text="Guess"),
                    message("plain", text="Guessed."),
                    tuple(each.id for each in hunches),
                    usage=tools.meter.read().usage,
                ),
                TraceStep(
                    "prove",
                    message("plain", text="Prove"),
                    message("plain", text="Proved."),
                    tuple(each.id for each in proofs),
                    tuple(each.id for each in supports),
                ),
            ),
            styles=STYLES,
            index=trace_index(index),
            notes=(message("plain", text="Hunches may be wrong."),),
            ranked_chunks=tuple(ranking.tolist()),
        )

    def _hunch(self, half: str, tools: Tools) -> str:
        tools.cancelled()
        tools.report(Progress("hunches", 0, 0))
        if tools.language is None:
            return f"Something is to be said of {half}."
        tools.meter.require_budget()
        return tools.language.complete([{"role": "user", "content": half}]).text
