"""How far an updated index is from a fresh build of its documents: clusters, and recall of gold evidence."""

import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from leanrag_core.evaluation.base import Outcome
from leanrag_core.evaluation.gold import GoldQuestion
from leanrag_core.evaluation.relative import means
from leanrag_core.indexing.updating.changes import documents_after, require_updatable
from leanrag_core.indexing.updating.difference import agreement_of_bases
from leanrag_core.models.registry import Models
from leanrag_core.services.builds import Builds
from leanrag_core.types.editing import EditLog
from leanrag_core.types.index import Index
from leanrag_core.types.manifest import NO_CORPUS
from leanrag_core.types.progress import Report
from leanrag_core.types.trace import Trace
from leanrag_core.types.updating import DocumentChanges, FreshDistance

_MEASURE = "evidence-recall"
Retrieve = Callable[[Index, str, str, Mapping[str, Any]], Trace]


def distance_to_fresh(
    index: Index,
    questions: Sequence[GoldQuestion],
    builds: Builds,
    models: Models,
    edits: EditLog,
    retrieve: Retrieve,
    report: Report,
) -> FreshDistance:
    """The distance of the index to a build of the same documents, settings and edits, which is made in a temporary
    folder. retrieve: gives the trace of a question by a strategy."""
    require_updatable(index.manifest)
    with tempfile.TemporaryDirectory(prefix="leanrag-fresh-") as folder:
        fresh = builds.build_into(
            documents_after(index, DocumentChanges()),
            index.manifest.config.checked(),
            Path(folder) / "index",
            models=models,
            name=index.manifest.name,
            corpus=NO_CORPUS,
            in_store=False,
            report=report,
            edits=edits,
        )
        clusters = agreement_of_bases(index, fresh)
        recall, fresh_recall = (_recall(each, questions, retrieve) for each in (index, fresh))
    return FreshDistance(clusters, recall, fresh_recall, len(questions))


def _recall(index: Index, questions: Sequence[GoldQuestion], retrieve: Retrieve) -> float | None:
    """Mean recall of gold evidence by LeanRAG's own retrieval."""
    outcomes = [Outcome(each, retrieve(index, each.question, "leanrag", {})) for each in questions]
    return next((mean.value for mean in means(outcomes) if mean.measure == _MEASURE), None)
