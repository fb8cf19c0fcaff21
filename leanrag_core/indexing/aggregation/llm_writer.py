"""F_entity (eq. 4) and F_rel (eq. 5) by a language model; what it cannot do, the built-in writer does, on record."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from leanrag_core.errors import ReplyError
from leanrag_core.indexing.aggregation.builtin_writer import BuiltinWriter
from leanrag_core.indexing.aggregation.writer import ClusterView, RelationGroupView, Sentence, Summary
from leanrag_core.models.asking import ask
from leanrag_core.models.base import Completion, LanguageModel
from leanrag_core.prompts.book import PromptBook
from leanrag_core.tokens import count_tokens, trim_to_tokens
from leanrag_core.types.extraction import Drop
from leanrag_core.types.graph import Finding, Layer
from leanrag_core.types.usage import Usage

ENTITY_REPLY: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "description": {"type": "string"},
        "findings": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"summary": {"type": "string"}, "explanation": {"type": "string"}},
                "required": ["summary", "explanation"],
                "additionalProperties": False,
            },
        },
    },
    "required": ["name", "description", "findings"],
    "additionalProperties": False,
}
_LONGEST_NAME = 200  # characters
_LONGEST_ITEM = 300  # tokens of one member or relation in a prompt


@dataclass(frozen=True)
class _Listing:
    """Lines that fit a budget, and how many did not."""

    text: str
    left_out: int


class LLMWriter:
    """Writes with a language model. See AggregationWriter.

    input_tokens: budget of members and relations in a prompt, two thirds for members, the most connected first.
    sentence_tokens: limit of a relation's sentence.
    """

    def __init__(
        self,
        model: LanguageModel,
        *,
        input_tokens: int = 6000,
        sentence_tokens: int = 100,
        prompts: PromptBook | None = None,
    ) -> None:
        self.model = model
        self.prompts = prompts or PromptBook()
        self.input_tokens = input_tokens
        self.sentence_tokens = sentence_tokens
        self.fallback = BuiltinWriter()

    def prepare(self, layers: Sequence[Layer], labels: np.ndarray) -> None:
        """The fallback knows the layer, should it be needed."""
        self.fallback.prepare(layers, labels)

    def entity(self, members: ClusterView) -> Summary:
        """The model's name, description and findings; asked again once when they do not parse or the name is a
        member's, then written by the built-in writer with a Drop that says so."""
        stage = "aggregate entities"
        order = members.most_connected()
        listed = _fitting((_member_line(members, place) for place in order), self.input_tokens * 2 // 3)
        relations = _fitting(_relation_lines(members), self.input_tokens - self.input_tokens * 2 // 3)
        drops = []
        if listed.left_out or relations.left_out:
            reason = (
                f"{listed.left_out} members and {relations.left_out} relations did not fit into the "
                f"{self.input_tokens} tokens of the prompt"
            )
            drops.append(Drop(stage, _label(members), reason))
        prompt = self.prompts.of("aggregate_entity")
        text = prompt.fill(members=listed.text, relations=relations.text or "(none)")
        try:
            asked = ask(
                self.model,
                [{"role": "user", "content": text}],
                lambda completion: parse_summary(_whole(completion), members.names),
                schema=ENTITY_REPLY,
                task=prompt.fingerprint,
            )
        except ReplyError as error:
            instead = self.fallback.entity(members)
            drops.append(Drop(stage, _label(members), f"{error}; the built-in writer wrote {instead.name!r} instead"))
            return Summary(instead.name, instead.description, instead.findings, Usage(), tuple(drops))
        written = asked.value
        return Summary(written.name, written.description, written.findings, asked.completion.usage, tuple(drops))

    def relation(self, view: RelationGroupView) -> Sentence:
        """The model's sentence, at most sentence_tokens long; the built-in one and a Drop when it stays silent."""
        stage, item = "aggregate relations", f"{view.left_name} / {view.right_name}"
        lines = (
            f"- {left} / {right}: {text}" for (left, right), text in zip(view.pairs, view.descriptions, strict=True)
        )
        relations = _fitting(lines, self.input_tokens // 2)
        drops = []
        if relations.left_out:
            drops.append(Drop(stage, item, f"{relations.left_out} relations did not fit into the prompt"))
        prompt = self.prompts.of("aggregate_relation")
        text = prompt.fill(
            left_name=view.left_name,
            left_description=trim_to_tokens(view.left_description, self.input_tokens // 4),
            right_name=view.right_name,
            right_description=trim_to_tokens(view.right_description, self.input_tokens // 4),
            relations=relations.text,
            max_tokens=str(self.sentence_tokens),
        )
        try:
            asked = ask(self.model, [{"role": "user", "content": text}], _sentence, task=prompt.fingerprint)
        except ReplyError as error:
            drops.append(Drop(stage, item, f"{error}; the built-in writer wrote the sentence instead"))
            return Sentence(self.fallback.relation(view).text, Usage(), tuple(drops))
        kept = trim_to_tokens(asked.value, self.sentence_tokens)
        if kept != asked.value:
            drops.append(Drop(stage, item, f"the sentence was cut at {self.sentence_tokens} tokens"))
        return Sentence(kept, asked.completion.usage, tuple(drops))


def _sentence(completion: Completion) -> str:
    text = " ".join(completion.text.split()).strip("`\"'“” ")
    if not text:
        raise ReplyError("the reply is empty")
    return text


def _whole(completion: Completion) -> str:
    if completion.cut:
        raise ReplyError("the reply was cut at the token limit: be shorter")
    return completion.text


def parse_summary(reply: str, member_names: Sequence[str]) -> Summary:
    """Name, description and findings of a reply, mended where its JSON is broken.

    Findings without a summary are passed over. Raises ReplyError when there is no object, no name or description, or
    when the name is a member's.
    """
    cells = _json_object(reply)
    name = " ".join(str(cells.get("name") or "").split())
    description = str(cells.get("description") or "").strip()
    if not name or not description:
        raise ReplyError("the reply lacks a name or a description")
    if len(name) > _LONGEST_NAME:
        raise ReplyError(f"the name has {len(name):,} characters; at most {_LONGEST_NAME} are wanted")
    if name.casefold() in {" ".join(member.split()).casefold() for member in member_names}:
        raise ReplyError(f"the name {name!r} is already the name of a member; a new name is needed")
    listed = cells.get("findings")
    findings = tuple(
        Finding(str(one["summary"]).strip(), str(one.get("explanation") or "").strip())
        for one in (listed if isinstance(listed, list) else [])
        if isinstance(one, dict) and str(one.get("summary") or "").strip()
    )
    return Summary(name, description, findings)


def _json_object(reply: str) -> dict[str, Any]:
    try:
        cells = json.loads(reply)
    except ValueError:
        import json_repair

        cells = json_repair.loads(reply)
    if isinstance(cells, list):  # a fence or a remark beside the object
        cells = next((one for one in cells if isinstance(one, dict)), None)
    if not isinstance(cells, dict):
        raise ReplyError("the reply is not a JSON object")
    return cells


def _fitting(lines: Iterable[str], max_tokens: int) -> _Listing:
    """The first lines that fit; a line that is too long by itself is cut, and all after the first misfit left out."""
    kept: list[str] = []
    room, left_out = max_tokens, 0
    for line in lines:
        if left_out:
            left_out += 1
            continue
        line = trim_to_tokens(line, min(_LONGEST_ITEM, max_tokens))
        cost = count_tokens(line + "\n")
        if cost > room and kept:
            left_out += 1
        else:
            kept.append(line)
            room -= cost
    return _Listing("\n".join(kept), left_out)


def _member_line(members: ClusterView, place: int) -> str:
    return f"- {members.names[place]} ({members.types[place] or 'unknown'}): {members.descriptions[place]}"


def _relation_lines(members: ClusterView) -> list[str]:
    """R_Cj, strongest first. Aggregated relations are told by lambda and keywords, which do not depend on tau, so that
    another tau asks for no aggregated entity again."""
    ordered = sorted(members.relations, key=lambda one: (-one.strength, -one.weight, one.source, one.target))
    lines = []
    for one in ordered:
        told = one.description
        if members.layer > 1:
            about = f", about {', '.join(one.keywords)}" if one.keywords else ""
            told = f"{one.strength} relations between them{about}"
        lines.append(f"- {members.names[one.source]} / {members.names[one.target]}: {told}")
    return lines


def _label(members: ClusterView) -> str:
    return f"layer {members.layer}, cluster {members.label} ({', '.join(members.names[:2])}, ...)"
