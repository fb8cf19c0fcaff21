"""Trees of summaries over the chunks: leaves, how they grow, who writes the summaries, and their files."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa

from leanrag_core.errors import PartDamaged, ReplyError
from leanrag_core.execution.executors import ThreadMap
from leanrag_core.indexing.communities.files import vectors_in, with_vectors, without_vectors
from leanrag_core.indexing.part_base import PartTools
from leanrag_core.models.base import Completion
from leanrag_core.storage.tables import read_table, require_columns, require_range, write_table
from leanrag_core.text.sentences import split_sentences, up_to_last_sentence
from leanrag_core.text.tokens import count_many, count_tokens, token_offsets, trim_to_tokens
from leanrag_core.types.index import Index
from leanrag_core.types.job import Progress
from leanrag_core.types.rows import Lists, numbers
from leanrag_core.types.text_tree import NODE_SCHEMA, TextTree

_BREAK = re.compile(r"\n+|[.!?][\"')\]]*\s+|[。！？]")


@dataclass(frozen=True)
class Leaf:
    """chunk: row of the chunk that holds it. start, end: characters of the document. tokens: of its text."""

    chunk: int
    start: int
    end: int
    text: str
    tokens: int


def cut_leaves(index: Index, max_tokens: int) -> list[Leaf]:
    """Cut the documents into leaves of at most so many tokens, in their order, each inside a chunk.

    What two chunks share is in a leaf of the first alone.
    """
    leaves: list[Leaf] = []
    document, end = -1, 0
    for row in range(index.chunks.num_rows):
        chunk = index.chunk(row)
        chunk_document = index.chunk_cells.value("document", row)
        start = max(chunk.start, end if chunk_document == document else 0)
        document, end = chunk_document, max(chunk.end, start)
        text = chunk.text[start - chunk.start :]
        leaves += [
            Leaf(row, start + first, start + last, text[first:last], tokens)
            for first, last, tokens in spans(text, max_tokens)
        ]
    return leaves


def spans(text: str, max_tokens: int) -> list[tuple[int, int, int]]:
    """Return where each leaf begins and ends in the text, and its tokens: as many whole sentences as fit; a longer
    sentence is cut at tokens.
    """
    pieces = _pieces(text, max_tokens)
    counts = count_many([text[start:end] for start, end in pieces]).tolist()
    packed: list[tuple[int, int]] = []
    used = 0
    for (start, end), tokens in zip(pieces, counts, strict=True):
        if packed and used + tokens <= max_tokens:
            packed[-1] = (packed[-1][0], end)
            used += tokens
        else:
            packed.append((start, end))
            used = tokens
    trimmed = [_trimmed(text, start, end) for start, end in packed]
    kept = [(start, end) for start, end in trimmed if start < end]
    tokens_of = count_many([text[start:end] for start, end in kept]).tolist()
    return [(start, end, tokens) for (start, end), tokens in zip(kept, tokens_of, strict=True)]


def _pieces(text: str, max_tokens: int) -> list[tuple[int, int]]:
    ends = [match.end() for match in _BREAK.finditer(text)]
    pieces: list[tuple[int, int]] = []
    for start, end in zip([0, *ends], [*ends, len(text)], strict=True):
        offsets = token_offsets(text[start:end])
        cuts = list(dict.fromkeys([*offsets[:-1:max_tokens], end - start]))
        pieces += [(start + a, start + b) for a, b in pairwise(cuts) if a < b]
    return pieces


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    piece = text[start:end]
    return start + len(piece) - len(piece.lstrip()), end - (len(piece) - len(piece.rstrip()))


TASK = "summarise_passages"
CALLS_AT_ONCE = 8  # the pace of the settings decides how many of them the endpoint gets
_READ_TOKENS = 6000  # of the texts in a prompt


@dataclass(frozen=True)
class Summary:
    """text: at most so many tokens as were asked for. by_model: whether a language model wrote it."""

    text: str
    by_model: bool


def summaries(
    groups: Sequence[Sequence[str]], vectors: Sequence[np.ndarray], tools: PartTools, *, max_tokens: int, done: int
) -> list[Summary]:
    """Return a summary of each group of texts. vectors: of each group (k, d), its texts' unit rows. done: nodes made
    before.

    Raises BudgetSpent, Cancelled.
    """
    language = tools.language

    def write(place: int) -> Summary:
        if language is not None:
            texts = trim_to_tokens("\n\n".join(groups[place]), _READ_TOKENS)
            keep = ("max_tokens",)
            try:
                text = tools.ask(language, TASK, _text, keep=keep, passages=texts, max_tokens=max_tokens)
                return Summary(_cut(text, max_tokens), by_model=True)
            except ReplyError as error:
                tools.meter.add_fault(str(error))
        return Summary(extracted(groups[place], vectors[place], max_tokens), by_model=False)

    written: list[Summary] = []
    for summary in ThreadMap(CALLS_AT_ONCE if language is not None else 1)(write, range(len(groups))):
        tools.report(Progress("make", done + len(written), done + len(groups), "summaries", current=summary.text[:80]))
        written.append(summary)
    return written


def extracted(texts: Sequence[str], vectors: np.ndarray, max_tokens: int) -> str:
    """Choose sentences of the texts as a summary, as many as fit, in the order in which the texts come.

    First comes the first sentence of each, the most central text first, then the second of each. vectors: (n, d) unit
    rows of the texts.
    """
    if not texts:
        return ""
    centroid = vectors.mean(axis=0)
    order = np.argsort(-np.round(vectors @ centroid, 5), kind="stable").tolist()
    sentences = [split_sentences(text) for text in texts]
    chosen: list[tuple[int, int]] = []
    room = max_tokens
    for turn in range(max(map(len, sentences), default=0)):
        for place in order:
            if turn < len(sentences[place]):
                tokens = count_tokens(f" {sentences[place][turn]}")
                if tokens <= room:
                    chosen.append((place, turn))
                    room -= tokens
        if room < max_tokens // 10:
            break
    if not chosen:
        return _cut(" ".join(texts[order[0]].split()), max_tokens)
    return _cut(" ".join(sentences[place][turn] for place, turn in sorted(chosen)), max_tokens)


def _cut(text: str, max_tokens: int) -> str:
    return text if count_tokens(text) <= max_tokens else up_to_last_sentence(trim_to_tokens(text, max_tokens))


def _text(completion: Completion) -> str:
    text = " ".join(completion.text.split())
    if not text:
        raise ReplyError("reply.none")
    return text


class GrowingTree:
    """A tree of texts that starts with its leaves; grow() adds a layer of summaries above.

    rows: (k,) int64, the nodes of the layer that was added last.
    """

    def __init__(self, leaves: Sequence[Leaf], vectors: np.ndarray, tools: PartTools) -> None:
        """Start with the leaves alone. vectors: (leaves, d) float32 unit rows."""
        self._tools = tools
        self._texts = [leaf.text for leaf in leaves]
        self._leaves = leaves
        self._summaries: list[Summary] = []
        self._children: list[list[int]] = [[] for _ in leaves]
        self._layers = [0] * len(leaves)
        self._vectors = [np.asarray(vectors, dtype=np.float32)]
        self.rows = np.arange(len(leaves))

    @property
    def last_vectors(self) -> np.ndarray:
        """Vectors of the layer that was added last, (k, d) float32."""
        return self._vectors[-1]

    @property
    def last_tokens(self) -> np.ndarray:
        """Tokens of the texts of that layer, (k,) int32."""
        return count_many([self._texts[row] for row in self.rows])

    def grow(self, groups: Sequence[np.ndarray], *, max_tokens: int) -> None:
        """Add a node above each group. groups: places in the last layer, (q,) int each."""
        texts = [[self._texts[self.rows[place]] for place in group] for group in groups]
        vectors = [self.last_vectors[group] for group in groups]
        new_summaries = summaries(texts, vectors, self._tools, max_tokens=max_tokens, done=len(self._texts))
        first, layer = len(self._texts), self._layers[-1] + 1
        self._children += [self.rows[group].tolist() for group in groups]
        self._texts += [summary.text for summary in new_summaries]
        self._summaries += new_summaries
        self._layers += [layer] * len(groups)
        self._vectors.append(
            self._tools.embed_all([summary.text for summary in new_summaries], self.last_vectors.shape[1])
        )
        self.rows = np.arange(first, len(self._texts))

    def finished(self) -> TextTree:
        """Return the tree as it is stored."""
        n = len(self._leaves)
        above = len(self._texts) - n
        columns = {
            "layer": self._layers,
            "chunk": [leaf.chunk for leaf in self._leaves] + [-1] * above,
            "start": [leaf.start for leaf in self._leaves] + [-1] * above,
            "end": [leaf.end for leaf in self._leaves] + [-1] * above,
            "text": [""] * n + self._texts[n:],
            "children": self._children,
            "tokens": count_many(self._texts),
            "by_model": [False] * n + [summary.by_model for summary in self._summaries],
        }
        return TextTree(pa.table(columns, schema=NODE_SCHEMA), np.concatenate(self._vectors))


TREE_FILE = "tree.arrow"


def write_tree(folder: Path, tree: TextTree) -> None:
    """Write the tree with its vectors."""
    write_table(folder / TREE_FILE, with_vectors(tree.table, tree.vectors))


def read_tree(folder: Path, index: Index) -> TextTree:
    """Return the tree of that folder, over chunks of the index.

    Raises IndexDamaged where a number leads outside, and PartDamaged for a tree of other vectors.
    """
    path = folder / TREE_FILE
    table = read_table(path)
    require_columns(table, NODE_SCHEMA, path)
    if vectors_in(table).shape[1] != index.chunk_vectors.shape[1]:
        raise PartDamaged("part.of_another_index", part=folder.parent.name)
    layer, chunk, children = numbers(table["layer"]), numbers(table["chunk"]), Lists(table["children"])
    require_range(layer, len(layer) + 1, path, "layer")
    require_range(chunk[layer == 0], index.chunks.num_rows, path, "chunk")
    require_range(children.values, len(layer), path, "children")
    # Children are in the layer below, and only leaves have none: so searches from the top down end.
    n_children = np.diff(children.offsets)
    below = layer[children.values[children.offsets[0] : children.offsets[-1]]]
    if (below != np.repeat(layer, n_children) - 1).any() or ((n_children == 0) != (layer == 0)).any():
        raise PartDamaged("part.of_another_index", part=folder.parent.name)
    return TextTree(without_vectors(table), vectors_in(table))
