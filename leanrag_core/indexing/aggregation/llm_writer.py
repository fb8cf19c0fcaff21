"""F_entity (eq. 4) and F_rel (eq. 5) by a language model; what it cannot do, the built-in writer does, on record."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from leanrag_core.errors import ReplyError
from leanrag_core.indexing.aggregation.builtin_writer import BuiltinWriter
from leanrag_core.indexing.aggregation.summary_reply import FINDINGS, faults_of, parse_summary, sentence_of, whole
from leanrag_core.indexing.aggregation.writer import (
    AggregationWriter,
    ClusterView,
    RelationGroupView,
    Sentence,
    Summary,
)
from leanrag_core.models.asking import ask
from leanrag_core.models.base import Completion, LanguageModel, call_made
from leanrag_core.models.window import count_cut, room_in
from leanrag_core.prompts.catalog import PromptBook
from leanrag_core.text.tokens import count_tokens, trim_to_tokens
from leanrag_core.types.calls import JSON_TEXT, Usage, json_object
from leanrag_core.types.extraction import Drop
from leanrag_core.types.graph import Layer

_SHORTEST = 60  # tokens of a line that is cut; what would be shorter is left out instead


@dataclass(frozen=True)
class Listing:
    """Lines that fit a budget. left_out: how many did not; cut: how many are not whole. tokens: what they take."""

    text: str
    tokens: int
    left_out: int = 0
    cut: int = 0


def fitting(lines: Sequence[str], max_tokens: int) -> Listing:
    """Fit the lines into the budget, whole where it holds them all.

    Otherwise the longest are cut to one length, as large as the budget allows; lines that still do not fit are left
    out, from the end.
    """
    sizes = [count_tokens(line + "\n") for line in lines]
    if sum(sizes) <= max_tokens:
        return Listing("\n".join(lines), sum(sizes))
    limit = _common_limit(sizes, max_tokens)
    kept: list[str] = []
    room, cut = max_tokens, 0
    for line, size in zip(lines, sizes, strict=True):
        shown = line if size <= limit else trim_to_tokens(line, min(limit, max_tokens) - 1)
        cost = size if size <= limit else count_tokens(shown + "\n")
        if cost > room and kept:
            break
        kept.append(shown)
        room -= cost
        cut += shown != line
    return Listing("\n".join(kept), max_tokens - room, len(lines) - len(kept), cut)


def _common_limit(sizes: Sequence[int], max_tokens: int) -> int:
    """Return the largest length to which lines can be cut so that all fit, at least _SHORTEST."""
    room, ordered = max_tokens, sorted(sizes)
    for place, size in enumerate(ordered):
        share = room // (len(ordered) - place)
        if size > share:
            return max(_SHORTEST, share)
        room -= size
    return max(_SHORTEST, *ordered)


def member_lines(members: ClusterView) -> list[str]:
    """Return a line for each member, the most connected first."""
    return [
        f"- {members.names[place]} ({members.types[place] or 'unknown'}): {members.descriptions[place]}"
        for place in members.most_connected()
    ]


def inside_lines(members: ClusterView) -> list[str]:
    """Return a line for each relation of R_Cj, strongest first.

    Aggregated relations are named by lambda and keywords, which do not depend on tau, so that a change of tau repeats
    no call for an aggregated entity.
    """
    ordered = sorted(
        members.relations, key=lambda relation: (-relation.strength, -relation.weight, relation.source, relation.target)
    )
    lines = []
    for inner in ordered:
        text = inner.description
        if members.layer > 1:
            about = f", about {', '.join(inner.keywords)}" if inner.keywords else ""
            text = f"{inner.strength} relations between them{about}"
        lines.append(f"- {members.names[inner.source]} / {members.names[inner.target]}: {text}")
    return lines


def losses(what: str, listing: Listing, budget: int) -> list[str]:
    """Say in words what a prompt lacks; nothing when it lacks nothing."""
    parts = []
    if listing.left_out:
        parts.append(f"{listing.left_out} {what} did not fit into the {budget} tokens of the prompt")
    if listing.cut:
        parts.append(f"the texts of {listing.cut} {what} were cut to fit into the {budget} tokens of the prompt")
    return parts


ENTITY_REPLY = json_object(name=JSON_TEXT, description=JSON_TEXT, findings=FINDINGS)


class LLMWriter:
    """Writes with a language model. See AggregationWriter.

    input_tokens: budget of members and relations in a prompt, a third at most for relations; the most connected members
    first.
    sentence_tokens: limit of a relation's sentence. fallback: writes what the model cannot; the built-in writer.
    """

    def __init__(
        self,
        model: LanguageModel,
        *,
        input_tokens: int = 6000,
        sentence_tokens: int = 100,
        prompts: PromptBook | None = None,
        fallback: AggregationWriter | None = None,
    ) -> None:
        self.model = model
        self.prompts = prompts or PromptBook()
        self.input_tokens = input_tokens
        self.sentence_tokens = sentence_tokens
        self.fallback = fallback or BuiltinWriter()

    def prepare(self, layers: Sequence[Layer], labels: np.ndarray) -> None:
        """Prepare the built-in writer for the layer, in case the model fails. labels: (n,) int, see
        AggregationWriter.
        """
        self.fallback.prepare(layers, labels)

    def entity(self, members: ClusterView) -> Summary:
        """Return the model's name, description and findings.

        The model is asked again once when they do not parse or the name is a member's; then the built-in writer writes
        them, with a Drop that says so.
        """
        stage = "aggregate entities"
        prompt = self.prompts.of("aggregate_entity")
        budget = room_in(self.model, prompt, wanted=self.input_tokens, members="", relations="(none)")
        relations = fitting(inside_lines(members), budget - budget * 2 // 3)
        listed = fitting(member_lines(members), budget - relations.tokens)
        lost = [*losses("members", listed, budget), *losses("relations", relations, budget)]
        drops = [Drop(stage, members.item, reason) for reason in lost]
        if lost and budget < self.input_tokens:
            count_cut(self.model)
        text = prompt.fill(members=listed.text, relations=relations.text or "(none)")
        try:
            answer = ask(
                self.model,
                [{"role": "user", "content": text}],
                lambda completion: parse_summary(whole(completion), members.names, stage=stage, item=members.item),
                schema=ENTITY_REPLY,
                task=prompt.fingerprint,
            )
        except ReplyError as error:
            instead = self.fallback.entity(members)
            reason = f"{error}; the built-in writer wrote {instead.name!r} instead"
            drops.append(Drop(stage, members.item, reason, by_builtin=True))
            return Summary(instead.name, instead.description, instead.findings, Usage(), tuple(drops))
        written = answer.value
        drops += written.drops
        call = call_made(answer.completion)
        return Summary(written.name, written.description, written.findings, call.usage, tuple(drops), call)

    def relation_prompt(self, view: RelationGroupView) -> str:
        """Return the prompt about a group of relations."""
        budget = self._relation_tokens(view)
        return self.prompts.of("aggregate_relation").fill(
            left_name=view.left_name,
            left_description=trim_to_tokens(view.left_description, budget // 4),
            right_name=view.right_name,
            right_description=trim_to_tokens(view.right_description, budget // 4),
            relations=fitting(_relation_lines(view), budget // 2).text,
            max_tokens=str(self.sentence_tokens),
        )

    def _relation_tokens(self, view: RelationGroupView) -> int:
        """Return the tokens that descriptions and relations of the group may take in its prompt."""
        return room_in(
            self.model,
            self.prompts.of("aggregate_relation"),
            wanted=self.input_tokens,
            left_name=view.left_name,
            left_description="",
            right_name=view.right_name,
            right_description="",
            relations="",
            max_tokens=str(self.sentence_tokens),
        )

    def relation(self, view: RelationGroupView) -> Sentence:
        """Return the model's sentence, at most sentence_tokens long.

        The model is asked again once when it is not one sentence or names a member; the built-in writer writes it, with
        a Drop, when no reply can be used.
        """
        stage, item = "aggregate relations", f"{view.left_name} / {view.right_name}"
        budget = self._relation_tokens(view)
        relations = fitting(_relation_lines(view), budget // 2)
        drops = [Drop(stage, item, reason) for reason in losses("relations", relations, budget // 2)]
        if drops and budget < self.input_tokens:
            count_cut(self.model)
        prompt = self.prompts.of("aggregate_relation")
        text = self.relation_prompt(view)

        def read(completion: Completion) -> str:
            sentence = sentence_of(completion)
            faults = faults_of(sentence, view)
            if faults and not completion.asked_again:  # a second reply is kept as it is, and its faults are reported
                raise ReplyError("; ".join(faults))
            return sentence

        try:
            answer = ask(self.model, [{"role": "user", "content": text}], read, task=prompt.fingerprint)
        except ReplyError as error:
            reason = f"{error}; the built-in writer wrote the sentence instead"
            drops.append(Drop(stage, item, reason, by_builtin=True))
            return Sentence(self.fallback.relation(view).text, Usage(), tuple(drops))
        drops += [Drop(stage, item, f"the sentence is kept, but {fault}") for fault in faults_of(answer.value, view)]
        sentence_text = trim_to_tokens(answer.value, self.sentence_tokens)
        if sentence_text != answer.value:
            drops.append(Drop(stage, item, f"the sentence was cut at {self.sentence_tokens} tokens"))
        call = call_made(answer.completion)
        return Sentence(sentence_text, call.usage, tuple(drops), call)


def _relation_lines(view: RelationGroupView) -> list[str]:
    return [f"- {left} / {right}: {text}" for (left, right), text in zip(view.pairs, view.descriptions, strict=True)]
