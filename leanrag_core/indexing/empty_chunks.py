"""The chunks of an index in which a language model found nothing, and how a new build asks about them again."""

from leanrag_core.errors import InvalidConfig
from leanrag_core.indexing.extraction.llm import LLMExtractor
from leanrag_core.models.base import LanguageModel
from leanrag_core.models.remote import RemoteLanguageModel
from leanrag_core.storage.calls import CallStore
from leanrag_core.types.config import IndexConfig
from leanrag_core.types.index import Index


def forget_empty_chunks(index: Index, config: IndexConfig, language: LanguageModel | None, calls: CallStore) -> None:
    """Delete the stored answers about those chunks, so that the next build asks the model again.

    Raises InvalidConfig for an index of the built-in engine, which would find the same again.
    """
    if not isinstance(language, RemoteLanguageModel):
        raise InvalidConfig("build.builtin_finds_the_same")
    empty = set(index.report.empty_chunks)
    rows = [row for row, chunk_id in enumerate(index.chunks["id"].to_pylist()) if chunk_id in empty]
    extractor = LLMExtractor.of(language, config)
    questions = (extractor.first_question(index.chunk(row).text) for row in rows)
    calls.forget(language.key(messages, schema=schema, task=task) for messages, schema, task in questions)
