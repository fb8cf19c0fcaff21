"""What the data of an index suggest for its settings."""

from collections.abc import Sequence

from leanrag_core.evaluation.gold import GoldQuestion
from leanrag_core.facade.asking import Asking
from leanrag_core.facade.evaluating import Evaluating
from leanrag_core.facade.taking_index import takes_index
from leanrag_core.types.index import Index
from leanrag_core.types.suggestion import Suggestions
from leanrag_core.types.trace import Trace


class Suggesting(Asking, Evaluating):
    """Suggestions. See Workbench."""

    @takes_index
    def suggest(
        self, index: Index, questions: Sequence[GoldQuestion] | None = None, *, seconds: float | None = None
    ) -> Suggestions:
        """clustersize, tau, top-N and top-C that the index's data suggest, each with its evidence; nothing is changed.

        questions: about its documents; by default those of a question set of its corpus, those with gold evidence
        first. Of an index with vectors of an endpoint, the endpoint embeds the questions. seconds: no new step begins
        after them, 30 by default. Raises ModelMismatch, EndpointError.
        """
        from leanrag_core.suggesting.suggest import SECONDS, suggest

        def retrieve(question: str, top_n: int, top_c: int) -> Trace:
            return self.retrieve(index, question, "leanrag", top_n=top_n, top_c=top_c)

        return suggest(
            index,
            self._questions_about(index.manifest.corpus.id) if questions is None else questions,
            retrieve=retrieve,
            seconds=SECONDS if seconds is None else seconds,
        )

    def _questions_about(self, corpus_id: str) -> tuple[GoldQuestion, ...]:
        """The question set of the corpus with the most gold evidence; empty without one."""
        sets = [each for each in self.question_sets() if corpus_id and each.corpus_id == corpus_id]
        if not sets:
            return ()
        return self.question_set(max(sets, key=lambda each: (each.n_evidence, each.n, each.id)).id)
