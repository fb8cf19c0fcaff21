"""A trial of a language model on one passage before a build: raw reply, what was read, speed, and a verdict."""

import time
from collections.abc import Iterator
from dataclasses import dataclass

from leanrag_core.errors import EndpointBusy, EndpointRefusal, InvalidConfig, ReplyError
from leanrag_core.indexing.extraction.gathered import NAMES
from leanrag_core.indexing.extraction.llm import LLMExtractor
from leanrag_core.messages.message import Message, message
from leanrag_core.models.base import Completion
from leanrag_core.models.endpoint import Reply
from leanrag_core.models.loops import LOOPED, repeats
from leanrag_core.models.registry import Models
from leanrag_core.models.remote import RemoteLanguageModel
from leanrag_core.models.window import wants_short_prompts
from leanrag_core.text.tokens import count_tokens
from leanrag_core.types.calls import Usage
from leanrag_core.types.config import IndexConfig, endpoint_model, is_file
from leanrag_core.types.extraction import Extraction
from leanrag_core.types.roles import EXTRACTION

GOOD, USABLE, USELESS = "good", "usable", "useless"

_SLOW = 8.0  # tokens a second
_FEW = 3  # entities of a passage


@dataclass(frozen=True)
class ModelCheck:
    """What a model made of one passage. window: tokens that the server reads, None where it does not tell.

    entities, relations: what a build keeps of the reply. verdict: GOOD, USABLE or USELESS; remarks: why, and what to
    do. mode: how JSON was asked for.
    """

    model: str
    raw: str
    mode: str
    seconds: float
    prompt_tokens: int
    completion_tokens: int
    window: int | None
    entities: tuple[tuple[str, str], ...]
    relations: tuple[tuple[str, str, str], ...]
    verdict: str
    remarks: tuple[Message, ...]

    @property
    def tokens_per_second(self) -> float:
        """Tokens written a second, the wait for the first one included."""
        return self.completion_tokens / self.seconds if self.seconds else 0.0


def check_model(models: Models, model: str, passage: str, config: IndexConfig) -> ModelCheck:
    """Try one call with the real extraction prompt; nothing is stored. Raises EndpointError when there is no reply,
    InvalidConfig without a model or a passage. model: its name at the endpoint, or file:NAME.
    """
    models = models.in_role(EXTRACTION)
    language = models.language(model if is_file(model) else endpoint_model(model))
    if not isinstance(language, RemoteLanguageModel) or not passage.strip():
        raise InvalidConfig("model_check.needs_model_and_passage")
    endpoint, extractor, model = language.endpoint, LLMExtractor.of(language, config), language.model
    question = extractor.first_question(passage)
    watch = language.watches  # as a build would
    started = time.perf_counter()
    reply = endpoint.chat(model, question.messages, schema=question.schema, watch=watch)
    seconds = time.perf_counter() - started
    try:
        window = endpoint.context_window(model)
    except (EndpointBusy, EndpointRefusal):
        window = None
    written = reply.completion_tokens or count_tokens(reply.text)
    usage = Usage(prompt_tokens=reply.prompt_tokens, completion_tokens=written, calls=1)
    extraction, problem = Extraction("", (), ()), ""
    try:
        extraction = extractor.read_once(passage, Completion(reply.text, reply.finish_reason, usage))
    except ReplyError as error:
        problem = str(error)
    loops = reply.finish_reason == LOOPED or repeats(reply.text)
    remarks = [*_remarks_on(reply, extraction, problem, loops=loops)]
    if written and written / max(seconds, 1e-9) < _SLOW:
        remarks.append(message("model_check.slow", speed=f"{written / seconds:.1f}"))
    needed = config.chunk_tokens + count_tokens(question.messages[0]["content"]) + 1000
    if window is not None and window < needed:
        remarks.append(message("model_check.window", window=window, needed=needed))
    if wants_short_prompts(language):
        remarks.append(message("model_check.short"))
    elif problem or loops or not extraction.mentions:
        remarks.append(message("model_check.try_short"))
    if reply.mode == "plain":
        remarks.append(message("model_check.no_json_mode"))
    good = len(extraction.mentions) >= _FEW and bool(extraction.relations) and not extraction.drops
    return ModelCheck(
        model=model,
        raw=reply.text,
        mode=reply.mode,
        seconds=seconds,
        prompt_tokens=reply.prompt_tokens,
        completion_tokens=written,
        window=window,
        entities=tuple((mention.name, mention.type) for mention in extraction.mentions),
        relations=tuple((relation.source, relation.target, relation.description) for relation in extraction.relations),
        verdict=USELESS if not extraction.mentions else GOOD if good else USABLE,
        remarks=tuple(remarks),
    )


def _remarks_on(reply: Reply, extraction: Extraction, problem: str, *, loops: bool) -> Iterator[Message]:
    """Yield what is wrong with the reply itself. extraction: what is read of it. problem: why it cannot be read."""
    if loops:  # a longer reply would not help
        yield message("model_check.loops")
    elif problem:
        yield message("model_check.unreadable", reason=problem)
    if reply.finish_reason == "length" and not loops:
        yield message("model_check.cut")
    if reply.has_reasoning:
        yield message("model_check.reasons")
    dropped = [drop for drop in extraction.drops if drop.stage != NAMES]
    if dropped:
        item = dropped[0].item.removeprefix("chunk ").lstrip(": ")
        first = ": ".join(filter(None, (item, dropped[0].reason)))
        yield message("model_check.dropped", n=len(dropped), first=first)
    if doubtful := len(extraction.drops) - len(dropped):
        yield message("model_check.doubtful", n=doubtful)
    if not problem and len(extraction.mentions) < _FEW:
        yield message("model_check.few_entities", n=len(extraction.mentions))
    if not problem and not extraction.relations:
        yield message("model_check.no_relation")
