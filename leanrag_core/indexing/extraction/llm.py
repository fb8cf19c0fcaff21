"""The extractor that asks a language model, chunk by chunk, in the manner of GraphRAG and LightRAG, with gleaning."""

import hashlib
import json
import re
from collections.abc import Callable, Sequence

from leanrag_core.errors import ReplyError
from leanrag_core.indexing.extraction.base import BY_MODEL
from leanrag_core.indexing.extraction.reply import GLEAN_SCHEMA, GRAPH_SCHEMA, Reply, parse_reply
from leanrag_core.models.base import Completion, LanguageModel
from leanrag_core.prompts.catalog import load_prompt
from leanrag_core.types.corpus import Chunk, Document
from leanrag_core.types.extraction import Drop, Extraction, Mention, RelationMention
from leanrag_core.types.usage import NO_USAGE, Usage

_ATTEMPTS = 2
_FENCE = re.compile(r"PASSAGE>>>|<<<PASSAGE")
_SPACE = re.compile(r"\s+")

Messages = list[dict[str, str]]


class LLMExtractor:
    """Entities and relations as a language model states them (section 2, step 2).

    entity_types: what the model is asked for; others are allowed. gleaning_rounds: how often it is asked at most what
    it missed; it stops earlier when it says that nothing was, or lists nothing new.
    """

    name = "llm"
    kind = BY_MODEL

    def __init__(self, model: LanguageModel, *, entity_types: Sequence[str] = (), gleaning_rounds: int = 1) -> None:
        self.model = model
        self.entity_types = tuple(entity_types)
        self.gleaning_rounds = gleaning_rounds
        self._first = load_prompt("extract_graph")
        self._more = load_prompt("glean_graph")

    @property
    def fingerprint(self) -> str:
        """Hash of the model, the prompts, the entity types and the rounds."""
        made_of = [
            self.model.fingerprint,
            self._first.fingerprint,
            self._more.fingerprint,
            list(self.entity_types),
            self.gleaning_rounds,
        ]
        return f"llm-{hashlib.sha256(json.dumps(made_of).encode()).hexdigest()[:16]}"

    def extract(
        self, documents: Sequence[Document], chunks: Sequence[Chunk], report: Callable[[int], None]
    ) -> list[Extraction]:
        """One Extraction per chunk, in the chunks' order; report(n) is told after n chunks are done.

        A chunk whose replies cannot be read has an empty Extraction with a Drop. Errors of the model itself are raised.
        """
        extractions = []
        for done, chunk in enumerate(chunks, start=1):
            extractions.append(self.extract_chunk(chunk))
            report(done)
        return extractions

    def extract_chunk(self, chunk: Chunk) -> Extraction:
        """What the model finds in one chunk; depends on the chunk alone, so that chunks may be done in any order."""
        types = ", ".join(self.entity_types) or "person, organization, location, event, concept"
        prompt = self._first.fill(entity_types=types, text=_as_material(chunk.text))
        messages: Messages = [{"role": "user", "content": prompt}]
        found = _Found(chunk.id)
        said = self._asked(messages, GRAPH_SCHEMA, found)
        if said is None:
            return found.extraction()
        found.add(said)
        for _ in range(self.gleaning_rounds):
            messages.append({"role": "user", "content": self._more.fill(entity_types=types)})
            said = self._asked(messages, GLEAN_SCHEMA, found)
            if said is None or not found.add(said) or said.done:
                break
        return found.extraction()

    def _asked(self, messages: Messages, schema: dict[str, object], found: "_Found") -> Reply | None:
        """The model's reply, which is also added to messages; None and a Drop when two replies cannot be read."""
        problem = ""
        attempt = list(messages)
        for _ in range(_ATTEMPTS):
            completion = self.model.complete(attempt, schema=schema)
            found.usage = found.usage + completion.usage
            try:
                reply = parse_reply(completion.text, found.chunk_id)
            except ReplyError as error:
                problem = str(error) + (" (it was cut at the token limit)" if _cut(completion) else "")
                attempt = [
                    *messages,
                    {"role": "assistant", "content": completion.text},
                    {"role": "user", "content": f"That cannot be used: {problem}. Answer again with the JSON object."},
                ]
                continue
            if _cut(completion):
                found.drop("the reply was cut at the token limit; what was complete is kept")
            messages.append({"role": "assistant", "content": completion.text})
            return reply
        found.drop(f"{problem}, twice")
        return None


class _Found:
    """What has been found in a chunk so far."""

    def __init__(self, chunk_id: str) -> None:
        self.chunk_id = chunk_id
        self.usage: Usage = NO_USAGE
        self._mentions: dict[str, Mention] = {}
        self._relations: dict[tuple[str, str, str], RelationMention] = {}
        self._drops: list[Drop] = []

    def add(self, reply: Reply) -> bool:
        """Whether the reply held an entity or relation that was not known."""
        before = len(self._mentions) + len(self._relations)
        for mention in reply.mentions:
            self._mentions.setdefault(_key(mention.name), mention)
        for relation in reply.relations:
            ends = _key(relation.source), _key(relation.target)
            self._relations.setdefault((min(ends), max(ends), relation.description), relation)
            for end, name in zip(ends, (relation.source, relation.target), strict=True):
                unknown = Mention(name, "unknown", relation.description, self.chunk_id)
                known = self._mentions.setdefault(end, unknown)
                if known.type == "unknown" and not known.description:
                    self._mentions[end] = unknown
        self._drops += reply.drops
        return len(self._mentions) + len(self._relations) > before

    def drop(self, reason: str) -> None:
        """Something of the chunk was lost."""
        self._drops.append(Drop("extract", f"chunk {self.chunk_id}", reason))

    def extraction(self) -> Extraction:
        """All of it, in the order in which it was told."""
        return Extraction(
            self.chunk_id,
            tuple(self._mentions.values()),
            tuple(self._relations.values()),
            tuple(self._drops),
            self.usage,
        )


def _cut(completion: Completion) -> bool:
    return completion.finish_reason == "length"


def _key(name: str) -> str:
    return _SPACE.sub(" ", name).strip().casefold()


def _as_material(text: str) -> str:
    """The text, unable to close the fence that marks it as material."""
    return _FENCE.sub(lambda found: found[0].replace("<", "‹").replace(">", "›"), text)
