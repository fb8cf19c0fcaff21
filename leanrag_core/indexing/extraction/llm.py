"""The extractor that asks a language model, chunk by chunk, in the manner of GraphRAG and LightRAG, with gleaning."""

import hashlib
import json
import re
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from leanrag_core.errors import CallFailed, EndpointError, InvalidConfig, PromptTooLong, ReplyCut, ReplyError
from leanrag_core.indexing.extraction.gathered import ExampleNames, Extractor, Gathered
from leanrag_core.indexing.extraction.reply import (
    ENTITIES_SCHEMA,
    GLEAN_SCHEMA,
    GRAPH_SCHEMA,
    SHORT_GRAPH_SCHEMA,
    Reply,
    parse_reply,
)
from leanrag_core.indexing.names import name_key
from leanrag_core.models.asking import Asked, ask, require_no_loop
from leanrag_core.models.base import Call, Completion, LanguageModel
from leanrag_core.models.remote import RemoteLanguageModel
from leanrag_core.models.window import count_cut, room, wants_short_prompts, window_of
from leanrag_core.prompts.catalog import PromptBook
from leanrag_core.storage.calls import CallStore
from leanrag_core.text.tokens import count_tokens
from leanrag_core.types.calls import JsonSchema
from leanrag_core.types.config import IndexConfig
from leanrag_core.types.corpus import Chunk, Document
from leanrag_core.types.extraction import Extraction
from leanrag_core.types.index import Index
from leanrag_core.types.manifest import BY_MODEL
from leanrag_core.types.settings import Apply

_FENCE = re.compile(r"PASSAGE>>>|<<<PASSAGE")
_BREAK = re.compile(r"\n\s*\n|(?<=[.!?。！？])\s+|\n")
_NAMED = 3  # names of a chunk that are shown while a build runs
_SMALLEST = 400  # characters of a passage that is still cut in two when its reply does not fit
_REPLY_SHARE = (
    1.25  # reply tokens kept free for each token of the passage; a longer reply is cut, and its passage read again
)
_DEFAULT_TYPES = "person, organization, location, event, concept"
_SIMPLER = 'Give the entities alone: {"entities": [{"name": "...", "type": "...", "description": "..."}]}'

Messages = list[dict[str, str]]
Recall = Callable[[Call], Completion | None]  # gives the stored reply to a call, if there is one


@dataclass(frozen=True)
class StoredReplies:
    """Replies about one passage, in their order. complete: a build would ask nothing more about it."""

    replies: tuple[tuple[Reply, Completion], ...]
    complete: bool


class LLMExtractor(Extractor):
    """Entities and relations as a language model states them (section 2, step 2).

    entity_types: what the model is asked for; others are allowed. gleaning_rounds: how often the model is asked at most
    what it missed; gleaning ends earlier when the model says that nothing is missing, or lists nothing new. apply: see
    build_hierarchy.
    """

    name = "llm"
    kind = BY_MODEL

    def __init__(
        self,
        model: LanguageModel,
        *,
        entity_types: Sequence[str] = (),
        gleaning_rounds: int = 1,
        prompts: PromptBook | None = None,
        apply: Apply = map,
    ) -> None:
        super().__init__()
        self.model = model
        self.entity_types = tuple(entity_types)
        short = wants_short_prompts(model)
        # A small model that is asked what it missed repeats itself, and the window has no room for it.
        self.gleaning_rounds = 0 if short else gleaning_rounds
        self._schema = SHORT_GRAPH_SCHEMA if short else GRAPH_SCHEMA
        self.apply = apply
        book = prompts or PromptBook()
        self._first = book.of("extract_graph", short=short)
        self._more = book.of("glean_graph")
        self._example = ExampleNames(self._first.text)

    @classmethod
    def of(cls, model: LanguageModel, config: IndexConfig, *, apply: Apply = map) -> "LLMExtractor":
        """Return the extractor that an index's settings ask for."""
        return cls(
            model,
            entity_types=config.entity_types,
            gleaning_rounds=config.gleaning_rounds,
            prompts=PromptBook(config.prompts),
            apply=apply,
        )

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
        """Return one Extraction per chunk, in the chunks' order; report(n) is called after n chunks are done.

        A chunk whose replies cannot be read has an empty Extraction with a Drop. Errors that would meet every chunk (no
        key, server down, budget spent) are raised, and EndpointError with the server's words when calls failed and no
        chunk gave anything.
        """
        done, lock = 0, threading.Lock()

        def read(chunk: Chunk) -> Extraction:
            nonlocal done
            extraction = self.extract_chunk(chunk)
            with lock:  # as chunks end, not in their order: a slow one must not make the build look stuck
                done += 1
                self.latest = ", ".join(mention.name for mention in extraction.mentions[:_NAMED]) or self.latest
                self.names.update(name_key(mention.name) for mention in extraction.mentions)
                self.n_relations += len(extraction.relations)
                self.news.add(
                    {name_key(mention.name): mention.name for mention in extraction.mentions},
                    [(name_key(each.source), name_key(each.target)) for each in extraction.relations],
                )
                report(done)
            return extraction

        extractions = list(self.apply(read, chunks))
        _require_something(extractions)
        return extractions

    def extract_chunk(self, chunk: Chunk) -> Extraction:
        """Return what the model finds in one chunk; depends on the chunk alone, so that chunks may be done in any
        order.
        """
        gathered = Gathered(chunk, self._example)
        self._read(chunk.text, gathered)
        return gathered.extraction()

    def first_question(self, text: str) -> Call:
        """Return the first call about a passage."""
        return Call(self.first_messages(text), self._schema, task=self._first.fingerprint)

    def first_messages(self, text: str) -> Messages:
        """Return the first question about a passage."""
        prompt = self._first.fill(entity_types=self._types, text=_as_material(text))
        return [{"role": "user", "content": prompt}]

    def read_once(self, passage: str, completion: Completion) -> Extraction:
        """Return what a build keeps of a first reply about the passage, and what it drops. Raises ReplyError for a
        reply that a build refuses.
        """
        gathered = Gathered(Chunk("", "", 0, 0, len(passage), 1, passage), self._example)
        if completion.looped:
            gathered.keep_complete_part(_Looped(completion))
            return gathered.extraction()
        require_no_loop(completion.text)
        if completion.cut:
            gathered.keep_complete_part(_Cut(completion))
            return gathered.extraction()
        reply = parse_reply(completion.text, "")
        _require_plausible(reply, _most_items(passage))
        gathered.add(reply, completion)
        if reply.breaks_off:
            gathered.drop("the reply breaks off before its end; what was complete is kept")
        return gathered.extraction()

    def stored_replies(self, text: str, recall: Recall) -> "StoredReplies":
        """Return the replies about a passage that are stored already, as a build would meet them."""
        call = self.first_question(text)
        replies: list[tuple[Reply, Completion]] = []
        parts = self._parts(text)
        if parts is not None:
            return self._stored_of_parts(parts, recall, replies)
        for number in range(self.gleaning_rounds + 1):
            if number and not self._has_room(call.messages):
                break
            completion = recall(call)
            if completion is None:
                return StoredReplies(tuple(replies), False)
            if completion.looped:
                return StoredReplies(tuple(replies), True)
            if completion.cut:
                return self._stored_of_parts(_halves(text) or (), recall, replies)
            try:
                reply = parse_reply(completion.text, "")
            except ReplyError:
                return StoredReplies(tuple(replies), False)
            if reply.breaks_off:  # a build asks again
                return StoredReplies(tuple(replies), False)
            replies.append((reply, completion))
            if number and (reply.done or not (reply.mentions or reply.relations)):
                break
            call = Call(self._next_messages(call.messages, completion), GLEAN_SCHEMA, task=self._more.fingerprint)
        return StoredReplies(tuple(replies), True)

    def _stored_of_parts(
        self, parts: Sequence[str], recall: Recall, before: Sequence[tuple[Reply, Completion]]
    ) -> StoredReplies:
        """Return the replies before, and those about the parts of a passage."""
        of_parts = [self.stored_replies(part, recall) for part in parts]
        replies = (*before, *(stored for part in of_parts for stored in part.replies))
        return StoredReplies(replies, all(part.complete for part in of_parts))

    def _next_messages(self, messages: Messages, completion: Completion) -> Messages:
        """Return the next gleaning question."""
        return [
            *messages,
            {"role": "assistant", "content": completion.text},
            {"role": "user", "content": self._more.fill(entity_types=self._types)},
        ]

    @property
    def _types(self) -> str:
        return ", ".join(self.entity_types) or _DEFAULT_TYPES

    def questions(self, text: str) -> Iterator[Call]:
        """Yield the first calls about a passage: one, or one for each part of a passage that is too long for the
        model's window."""
        parts = self._parts(text)
        if parts is None:
            yield self.first_question(text)
        else:
            for part in parts:
                yield from self.questions(part)

    def _parts(self, text: str) -> tuple[str, str] | None:
        """Return two halves of a passage that leaves the model's window too little room for a reply; None for one that
        fits, or cannot be cut."""
        window = window_of(self.model)
        if window is None:
            return None
        prompt, passage = count_tokens(self.first_messages(text)[0]["content"]), count_tokens(text)
        reply = min(window.reply_tokens, _REPLY_SHARE * passage * window.factor)
        fits = prompt <= window.prompt_tokens and prompt * window.factor + reply <= window.tokens
        return None if fits else _halves(text)

    def _has_room(self, messages: Messages) -> bool:
        """Return whether the model's window holds the messages and a reply."""
        tokens = sum(count_tokens(message["content"]) for message in messages)
        return room(self.model, beside=0, wanted=tokens) >= tokens

    def _read(self, text: str, gathered: Gathered) -> None:
        """Add everything that the model finds in the passage; a passage that does not fit the model's window, or whose
        reply does not fit, is read in two halves.
        """
        parts = self._parts(text)
        if parts is not None:
            count_cut(self.model)
            for part in parts:
                self._read(part, gathered)
            return
        messages = self.first_messages(text)
        try:
            answer = self._asked(messages, self._schema, self._first.fingerprint, gathered, _most_items(text))
        except PromptTooLong as error:
            halves = _halves(text)
            if halves is None:
                gathered.drop(str(error))
            for half in halves or ():
                self._read(half, gathered)
            return
        except ReplyCut as error:
            halves = None if isinstance(error, _Looped) else _halves(text)
            if halves:
                for half in halves:
                    self._read(half, gathered)
            else:
                gathered.keep_complete_part(error)
            return
        if answer is None:
            return
        gathered.add(answer.value, answer.completion)
        for _ in range(self.gleaning_rounds):
            messages = self._next_messages(messages, answer.completion)
            if not self._has_room(messages):
                count_cut(self.model)
                return
            try:
                answer = self._asked(messages, GLEAN_SCHEMA, self._more.fingerprint, gathered, _most_items(text))
            except PromptTooLong as error:
                gathered.drop(str(error))
                return
            except ReplyCut as error:
                gathered.keep_complete_part(error)
                return
            if answer is None or not gathered.add(answer.value, answer.completion) or answer.value.done:
                return

    def _asked(
        self, messages: Messages, schema: JsonSchema, task: str, gathered: Gathered, most: int
    ) -> "Asked[Reply] | None":
        """Return the model's reply; None and a Drop when it cannot be read, not even its entities alone."""

        broken: list[Asked[Reply]] = []

        def read(completion: Completion) -> Reply:
            if completion.looped:
                raise _Looped(completion)
            if completion.cut:
                raise _Cut(completion)
            reply = parse_reply(completion.text, gathered.chunk_id)
            if reply.breaks_off:
                broken.append(Asked(reply, completion))
                raise ReplyError("reply.broken_off")
            _require_plausible(reply, most)
            return reply

        try:
            return ask(self.model, messages, read, schema=schema, task=task)
        except (PromptTooLong, ReplyCut):
            raise
        except CallFailed as error:
            gathered.drop(str(error))
            return None
        except ReplyError as error:
            problem = error
        if broken:
            fullest = max(broken, key=lambda answer: len(answer.value.mentions) + len(answer.value.relations))
            gathered.add(fullest.value, fullest.completion)
            gathered.drop("the reply breaks off before its end, and so does another one; what was complete is kept")
            return None
        if schema is self._schema:
            simpler = [*messages[:-1], {"role": "user", "content": f"{messages[-1]['content']}\n\n{_SIMPLER}"}]
            try:
                entities_alone = ask(self.model, simpler, read, schema=ENTITIES_SCHEMA, task=task, attempts=1)
            except ReplyError:
                gathered.drop(f"{problem}, also when asked in a simpler form")
                return None
            gathered.drop(f"{problem}; asked in a simpler form, the model gave entities without relations")
            return entities_alone
        gathered.drop(str(problem))
        return None


def _require_something(extractions: Sequence[Extraction]) -> None:
    """Raise EndpointError when no chunk gave an entity and replies were lost."""
    lost = [extraction for extraction in extractions if extraction.drops]
    if lost and not any(extraction.mentions for extraction in extractions):
        raise EndpointError(
            "extraction.nothing_found", chunks=len(extractions), lost=len(lost), reason=lost[0].drops[0].reason
        )


class _Cut(ReplyCut):
    """A reply that ended at the token limit; text: what there is of it."""

    problem = "the reply was cut at the token limit"

    def __init__(self, completion: Completion) -> None:
        super().__init__(self.problem)
        self.completion, self.text = completion, completion.text


class _Looped(_Cut):
    """A reply that was stopped because it repeated itself."""

    problem = "the reply began to repeat itself and was ended"


def _require_plausible(reply: Reply, most: int) -> None:
    """Raise ReplyError for more items than a passage can hold."""
    if len(reply.mentions) > most or len(reply.relations) > 2 * most:
        raise ReplyError("reply.too_many_items", n_entities=len(reply.mentions), n_relations=len(reply.relations))


def _most_items(text: str) -> int:
    """Return how many entities a passage can hold at most, by any reading."""
    return max(40, len(text) // 6)


def _halves(text: str) -> tuple[str, str] | None:
    """Return the text in two parts, cut between paragraphs or sentences near its middle; None when it is too short."""
    if len(text) < 2 * _SMALLEST:
        return None
    middle = len(text) // 2
    places = [match.end() for match in _BREAK.finditer(text) if _SMALLEST <= match.end() <= len(text) - _SMALLEST]
    place = min(places, key=lambda cut: (abs(cut - middle), cut), default=middle)
    return text[:place], text[place:]


def _as_material(text: str) -> str:
    """Return the text, unable to close the fence that marks it as material."""
    return _FENCE.sub(lambda fence: fence[0].replace("<", "‹").replace(">", "›"), text)


def forget_empty_chunks(index: Index, config: IndexConfig, language: LanguageModel | None, calls: CallStore) -> None:
    """Delete the stored answers about chunks in which nothing was found, so that the next build asks the model again.

    Raises InvalidConfig for an index of the built-in engine, which would find the same again.
    """
    if not isinstance(language, RemoteLanguageModel):
        raise InvalidConfig("build.builtin_finds_the_same")
    empty = set(index.report.empty_chunks)
    rows = [row for row, chunk_id in enumerate(index.chunks["id"].to_pylist()) if chunk_id in empty]
    extractor = LLMExtractor.of(language, config)
    questions = (question for row in rows for question in extractor.questions(index.chunk(row).text))
    calls.forget(language.key(question) for question in questions)
