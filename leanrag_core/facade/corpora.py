"""Corpora and their documents."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from leanrag_core.errors import InvalidConfig
from leanrag_core.evaluation.gold import GoldQuestion
from leanrag_core.facade.services import Services
from leanrag_core.facade.taking_index import takes_index
from leanrag_core.indexing.parsing.upload import known
from leanrag_core.services.uploads import File, OnFile, add_files
from leanrag_core.types.corpus import Document, Refusal
from leanrag_core.types.index import Index
from leanrag_core.types.model_names import BUILTIN
from leanrag_core.types.summary import (
    CorpusSummary,
    Damaged,
    DocumentSummary,
    UploadReport,
)

if TYPE_CHECKING:
    from leanrag_core.evaluation.extraction import ExtractionScore, GivenGraph
    from leanrag_core.models.base import EmbeddingModel
    from leanrag_core.services.extraction_scores import PassageScores


class Corpora(Services):
    """Corpora and their documents. See Workbench."""

    def corpora(self) -> list[CorpusSummary]:
        """All corpora, a person's own ones first, the newest of them at the top."""
        self._samples.read_all()
        return self.corpus_store.summaries()

    def corpus(self, corpus_id: str) -> CorpusSummary:
        """The corpus's card. Raises CorpusNotFound."""
        return self.corpus_store.summary(corpus_id)

    def create_corpus(self, name: str) -> str:
        """An empty corpus of that name; returns its id."""
        return self.corpus_store.create(name)

    def documents(self, corpus_id: str) -> list[DocumentSummary]:
        """The corpus's documents without their texts, by name."""
        return self.corpus_store.documents(corpus_id)

    def document(self, corpus_id: str, document_id: str) -> Document:
        """One document with its text."""
        return self.corpus_store.document(corpus_id, document_id)

    def formats(self) -> str:
        """The formats of files that are read, for a person."""
        return known()

    def add_documents(self, corpus: str, files: Iterable[File], *, on_file: OnFile | None = None) -> UploadReport:
        """Adds the readable files to the corpus; reports the others with their reasons.

        corpus: an id, or the name of a corpus to make. files: paths, or (name, content) of an upload; taken one after
        another, so that few are in memory at one time. on_file: hears of each file when it was read.
        """
        return add_files(self.corpus_store, self.parser(), corpus, files, on_file)

    def refused_files(self, corpus_id: str) -> list[Refusal]:
        """Files that were added to the corpus and could not be read; reports of its builds list them."""
        return self.corpus_store.refused(corpus_id)

    def remove_document(self, corpus_id: str, document_id: str) -> None:
        """The document is no longer in the corpus; indexes built with it stay as they are."""
        self.corpus_store.remove(corpus_id, document_id)

    def put_back(self, corpus_id: str, document_id: str, running_head: str) -> str:
        """Puts that running head back into the document's text wherever its file has it, or leaves it out again;
        returns the document's id from now on. Indexes built with it stay as they are. Raises CorpusNotFound.
        """
        from leanrag_core.indexing.parsing.running_heads import put_back

        changed = put_back(self.document(corpus_id, document_id), running_head)
        if changed.id != document_id:
            self.corpus_store.replace(corpus_id, document_id, changed)
        return changed.id

    def damaged_corpora(self) -> list[Damaged]:
        """Corpora whose record does not read."""
        return self.corpus_store.damaged()

    def delete_corpus(self, corpus_id: str) -> None:
        """The corpus is gone; its indexes stay. Raises InvalidConfig for a sample corpus."""
        damaged = {corpus.id for corpus in self.damaged_corpora()}
        if corpus_id not in damaged and self.corpus(corpus_id).sample:
            raise InvalidConfig("corpus.sample_stays")
        self.corpus_store.delete(corpus_id)

    def questions(self, corpus_id: str) -> tuple[GoldQuestion, ...]:
        """The question set that comes with a sample corpus; empty for another corpus."""
        return self._samples.questions(corpus_id)

    def has_reference(self, corpus_id: str) -> bool:
        """Whether a reference graph that comes with the program quotes documents of the corpus."""
        return self._references.covering(document.name for document in self.documents(corpus_id)) is not None

    @takes_index
    def extraction_score(self, index: Index, *, embedded: bool = True) -> "ExtractionScore | None":
        """How much of a reference graph the index's base graph has; None where none quotes its documents, and for one
        that is a reference graph itself. embedded:
        names are compared by the built-in embedding, too, which takes a second or two."""
        from leanrag_core.services.extraction_scores import score_of_index

        return score_of_index(self._references, index, self._name_embedding() if embedded else None)

    def passage_scores(self, passage: str, graph: "GivenGraph", *, embedded: bool = True) -> "PassageScores | None":
        """How much of a reference graph those entities and relations of a passage have, and what the built-in extractor
        gives; None where no reference graph states a relation in the passage. embedded: see extraction_score()."""
        from leanrag_core.services.extraction_scores import scores_of_passage

        return scores_of_passage(self._references, passage, graph, self._name_embedding() if embedded else None)

    def _name_embedding(self) -> "EmbeddingModel":
        """The same for every index, so that scores can be compared."""
        return self._questions.embedding(BUILTIN, "")
