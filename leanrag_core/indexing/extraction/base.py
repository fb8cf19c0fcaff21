"""The interface between a build and the maker of its graph: spaCy, or a language model."""

from collections.abc import Callable, Sequence
from typing import Protocol

from leanrag_core.types.corpus import Chunk, Document
from leanrag_core.types.extraction import Extraction


class Extractor(Protocol):
    """Finds entities and relations (section 2, step 2 of the method: documents to the base graph G0).

    kind: "heuristic graph" or "LLM graph", named on every page that shows the graph. fingerprint: changes whenever the
    same chunks could give another graph. latest: names that were found last. names: keys of all names so far;
    n_relations: relations so far, before merging. All three grow while extract() runs.
    """

    name: str
    kind: str
    latest: str
    names: set[str]
    n_relations: int

    @property
    def fingerprint(self) -> str:
        """Version of everything that decides what is found."""

    def extract(
        self, documents: Sequence[Document], chunks: Sequence[Chunk], report: Callable[[int], None]
    ) -> list[Extraction]:
        """Return one Extraction per chunk, in the chunks' order; report(n) is called after n chunks are done."""
