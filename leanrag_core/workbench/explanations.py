"""Why an item was not retrieved, which settings would have found it, and what changes without an item that was."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from leanrag_core.comparing.gold_passages import Gold, GoldFinder
from leanrag_core.comparing.remedies import Remedy, offers
from leanrag_core.comparing.structure import (
    MOST_RELATIONS,
    Structure,
    brought_by_climb,
    count_inter_cluster,
    inter_cluster_descriptions,
)
from leanrag_core.comparing.why_not import WhyNot, why_not
from leanrag_core.comparing.without import RETRIEVED, SENT, kind_of, leaves_out, sent_without
from leanrag_core.errors import InvalidConfig
from leanrag_core.retrieval.base import RERANK, strategies
from leanrag_core.system.threads import BoundedCache
from leanrag_core.types.config import is_remote
from leanrag_core.types.index import Index
from leanrag_core.types.trace import Answer, Trace
from leanrag_core.workbench.questions import AskRequest, Questions

_KEPT_INDEXES = 4  # whose vectors of inter-cluster relations are kept


@dataclass(frozen=True)
class Explained:
    """Where a wanted item was lost, and the changes of settings that were run and find it; none for a strategy that
    calls a model, since its runs cost money."""

    why: WhyNot
    offers: tuple[Remedy, ...] = ()


@dataclass(frozen=True)
class RunWithout:
    """A retrieval without what was taken out. way: RETRIEVED where it was run anew, SENT where the strategy cannot
    leave anything out, and the same context is sent without it."""

    trace: Trace
    way: str


class Explanations:
    """Explains traces by asking again."""

    def __init__(self, questions: Questions) -> None:
        self._questions = questions
        self._relation_vectors: BoundedCache[str, np.ndarray] = BoundedCache(_KEPT_INDEXES)

    def structure(
        self, index: Index, trace: Trace, answer: Answer | None = None, *, rank_all: bool = False
    ) -> Structure:
        """Return what the climb alone brought into the context of that trace, and which sentences of the answer rest on
        it.

        rank_all: inter-cluster relations are ranked, however many there are; by default only where they are few, or
        embedded already. No endpoint is called for it. Raises ModelMismatch, EndpointError where the index's embedding
        is not at hand.
        """
        key, vectors = index.manifest.id, None
        wanted = rank_all or key in self._relation_vectors or count_inter_cluster(index) <= MOST_RELATIONS
        if wanted and not is_remote(index.manifest.config.embedding):
            vectors = self._relation_vectors.get_or_make(
                key, lambda: self._questions.embedded(index, inter_cluster_descriptions(index))
            )
        return brought_by_climb(index, trace, self._questions.question_vector(index, trace.question), vectors, answer)

    def without(self, index: Index, trace: Trace, ids: Sequence[str]) -> RunWithout:
        """Return the retrieval of that trace without the seeds, relations, chunks or other items of its context with
        those ids. Raises InvalidConfig where nothing would be left, and as retrieve() does."""
        info, left_out = strategies().named(trace.strategy), frozenset(ids)
        if all(kind_of(trace, id_) in leaves_out(info) for id_ in ids):
            request = AskRequest(trace.question, trace.strategy, trace.parameters, without=left_out)
            return RunWithout(self._questions.retrieve(index, request), RETRIEVED)
        if hasattr(info.strategy, "answer"):  # it may read more than its context
            raise InvalidConfig("without.answers_itself", strategy=info.title)
        return RunWithout(sent_without(trace, left_out), SENT)

    def why_not(
        self,
        index: Index,
        trace: Trace,
        wanted: str | Gold,
        *,
        finder: GoldFinder | None = None,
        offer: bool = True,
        cancelled: Callable[[], object] = lambda: None,
        make_parts: Callable[[Mapping[str, Any]], object] = lambda changed: None,
    ) -> Explained:
        """Return where the retrieval of that trace lost an entity, a chunk or words of a passage, and what would have
        found it.

        finder: of the index, kept between calls. offer: whether changes are run; cancelled: called before each of
        these runs, to raise where the answer is not wanted any more; make_parts: called with the changed options, to
        make the index parts that they need. A change whose part is missing is not offered. Raises as retrieve() does.
        """
        finder = finder or GoldFinder(index)
        gold = finder.named(wanted) if isinstance(wanted, str) else wanted
        n_documents = 0 if gold.rows else len(finder.documents_with(gold.quote))
        vector = self._questions.question_vector(index, trace.question)
        why = why_not(trace, index, gold, vector, n_documents=n_documents)
        info = strategies().named(trace.strategy)
        asks_model = info.calls_model and self._questions.asks_model(index.manifest.config.writer)
        if not offer or why.loss is None or asks_model or trace.parameters.get(RERANK):
            return Explained(why)

        def retrieve(changed: Mapping[str, Any]) -> Trace:
            cancelled()
            make_parts(changed)
            options = {**trace.parameters, **changed}
            return self._questions.retrieve(index, AskRequest(trace.question, trace.strategy, options))

        offered = offers(trace, index, why.gold, why.lane, info, retrieve, top_n=why.enough_seeds) if gold.rows else ()
        return Explained(why, offered)
