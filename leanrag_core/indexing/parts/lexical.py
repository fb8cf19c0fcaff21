"""The lexical index: how much each word weighs in each chunk, by BM25.

Robertson and Zaragoza 2009, The Probabilistic Relevance Framework; the library is bm25s.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from leanrag_core.errors import PartDamaged
from leanrag_core.indexing.part_base import Options, PartBase, PartTools
from leanrag_core.messages.message import message
from leanrag_core.text.words import lexical_tokens
from leanrag_core.types.config import option
from leanrag_core.types.forecast import Range
from leanrag_core.types.index import Index
from leanrag_core.types.job import Progress
from leanrag_core.types.manifest import CHUNKS

if TYPE_CHECKING:
    from bm25s import BM25

_REPORT_EVERY = 500  # chunks


@dataclass(frozen=True)
class Config(Options):
    """Parameters of BM25."""

    k1: float = option(1.2, low=0.0, high=3.0, help=message("part.lexical.option.k1"))
    b: float = option(0.75, low=0.0, high=1.0, help=message("part.lexical.option.b"))


class Part(PartBase):
    """Term weights of all chunks."""

    name = "lexical"
    needs: tuple[str, ...] = (CHUNKS,)
    version = 2
    seconds_a_chunk = Range(0.0001, 0.0004, 0.002)

    def build(self, index: Index, folder: Path, config: Config, tools: PartTools) -> None:
        """Write the term weights; a chunk without any word has none."""
        import bm25s

        n_chunks = index.chunks.num_rows
        tokens = []
        for row in range(n_chunks):
            if row % _REPORT_EVERY == 0:
                tools.report(Progress("make", row, n_chunks, "chunks"))
            tokens.append(lexical_tokens(index.chunk(row).text))
        # bm25s sorts no vocabulary by itself; ids in the words' order make the same bytes in every run.
        words = sorted({word for chunk in tokens for word in chunk})
        if not words:  # bm25s writes no index of an empty vocabulary
            words, tokens = [""], [[""] for _ in tokens]
        number = {word: place for place, word in enumerate(words)}
        retriever = bm25s.BM25(method="lucene", k1=config.k1, b=config.b)
        numbered = bm25s.tokenization.Tokenized(
            ids=[[number[word] for word in chunk] for chunk in tokens], vocab=number
        )
        retriever.index(numbered, create_empty_token=False, show_progress=False)
        retriever.save(str(folder), show_progress=False)

    def read(self, folder: Path, index: Index) -> "BM25":
        """Return the lexical index, its matrix mapped from the disk. Raises PartDamaged."""
        import bm25s

        try:
            retriever: Any = bm25s.BM25.load(str(folder), mmap=True, load_corpus=False, allow_pickle=False)
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise PartDamaged("part.lexical.unreadable", folder=str(folder), reason=str(error)) from error
        return retriever
