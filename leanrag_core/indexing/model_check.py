"""Trying a language model on one passage before anybody builds: raw reply, what was read, speed, and a verdict."""

import time
from dataclasses import dataclass

from leanrag_core.errors import EndpointBusy, EndpointRefusal, InvalidConfig, ReplyError
from leanrag_core.indexing.extraction.llm import LLMExtractor
from leanrag_core.indexing.extraction.reply import GRAPH_SCHEMA, Reply, parse_reply
from leanrag_core.models.registry import Models
from leanrag_core.tokens import count_tokens
from leanrag_core.types.config import IndexConfig
from leanrag_core.types.model_names import endpoint_model

_SLOW = 8.0  # tokens a second
_FEW = 3  # entities of a passage


@dataclass(frozen=True)
class ModelCheck:
    """What a model made of one passage. window: tokens that the server reads, None where it does not tell.

    verdict: good, usable or useless; remarks: why, and what to do, in plain words. mode: how JSON was asked for.
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
    remarks: tuple[str, ...]

    @property
    def tokens_per_second(self) -> float:
        """Tokens written a second, the wait for the first one included."""
        return self.completion_tokens / self.seconds if self.seconds else 0.0


def check_model(models: Models, model: str, passage: str, config: IndexConfig) -> ModelCheck:
    """One call with the real extraction prompt; nothing is stored. Raises EndpointError when there is no reply,
    InvalidConfig without a model or a passage."""
    language = models.language(endpoint_model(model))
    if language is None or not passage.strip():
        raise InvalidConfig("model_check.needs_model_and_passage")
    endpoint, extractor = models.endpoint, LLMExtractor.of(language, config)
    messages = extractor.first_messages(passage)
    started = time.perf_counter()
    reply = endpoint.chat(model, messages, schema=GRAPH_SCHEMA)
    seconds = time.perf_counter() - started
    try:
        window = endpoint.context_window(model)
    except (EndpointBusy, EndpointRefusal):
        window = None
    graph, problem = Reply((), (), (), False), ""
    try:
        graph = parse_reply(reply.text, "check")
    except ReplyError as error:
        problem = str(error)
    written = reply.completion_tokens or count_tokens(reply.text)
    remarks = []
    if problem:
        remarks.append(
            f"The reply cannot be read: {problem}. A larger model, or one tuned for instructions, may do it."
        )
    if reply.finish_reason == "length":
        remarks.append(
            "The reply was cut at the token limit. Raise the longest reply in Settings, or use smaller chunks."
        )
    if reply.has_reasoning:
        remarks.append("It thinks before it replies, which takes time and tokens. Its thoughts are left out.")
    if graph.drops:
        remarks.append(f"{len(graph.drops)} items of the reply were not as asked for and would be left out.")
    if not problem and len(graph.mentions) < _FEW:
        remarks.append(f"It found {len(graph.mentions)} entities; a good model finds ten or more in such a passage.")
    if not problem and not graph.relations:
        remarks.append("It stated no relation: the hierarchy would have no aggregated relations.")
    if written and written / max(seconds, 1e-9) < _SLOW:
        remarks.append(f"It writes {written / seconds:.1f} tokens a second: a build will take long.")
    needed = config.chunk_tokens + count_tokens(messages[0]["content"]) + 1000
    if window is not None and window < needed:
        remarks.append(
            f"The server reads {window:,} tokens of a prompt and cuts the rest without a word; this build needs "
            f"{needed:,}. Raise num_ctx (Ollama), max_model_len (vLLM) or the context size of a slot (llama.cpp), or "
            "use smaller chunks."
        )
    if reply.mode == "plain":
        remarks.append("The server has no JSON mode; replies are asked for in words and repaired.")
    useless = bool(problem) or not graph.mentions
    good = not useless and len(graph.mentions) >= _FEW and bool(graph.relations) and not graph.drops
    return ModelCheck(
        model=model,
        raw=reply.text,
        mode=reply.mode,
        seconds=seconds,
        prompt_tokens=reply.prompt_tokens,
        completion_tokens=written,
        window=window,
        entities=tuple((mention.name, mention.type) for mention in graph.mentions),
        relations=tuple((relation.source, relation.target, relation.description) for relation in graph.relations),
        verdict="useless" if useless else "good" if good and reply.finish_reason != "length" else "usable",
        remarks=tuple(remarks),
    )
