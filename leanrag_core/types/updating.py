"""Edits of an index by hand, which every build replays, and updates: what is to change, and what has changed."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from annotated_types import Interval, MaxLen

from leanrag_core.files.records import Count, ShortText, absent_at_default
from leanrag_core.types.calls import NO_USAGE, Usage
from leanrag_core.types.corpus import Document
from leanrag_core.types.forecast import Forecast

Action = Literal["rename", "retype", "merge", "split", "delete", "delete-relation", "describe-relation"]
MAX_EDITS = 10_000
MAX_NAME = 200  # characters of a new name or type, as of one that a model finds
MAX_TEXT = 20_000  # characters of a relation's new description


@dataclass(frozen=True)
class Edit:
    """A change of entities or relations, which are known by their names.

    number: by which it is undone; numbers grow. name: of the entity as it is called when the edit's turn comes, or of
    one end of the relation. other: the new name, type or entity, or the relation's other end. documents: names of the
    documents whose mentions a split takes. text: a relation's new description.
    """

    number: Annotated[int, Interval(ge=1, le=2**53)]
    action: Action
    name: ShortText
    other: ShortText = absent_at_default("")
    documents: tuple[ShortText, ...] = absent_at_default(())
    text: Annotated[str, MaxLen(MAX_TEXT)] = absent_at_default("")


@dataclass(frozen=True)
class EditLog:
    """All edits of an index, in the order in which they are replayed."""

    edits: tuple[Edit, ...] = ()

    @property
    def next_number(self) -> int:
        """The number of an edit that is added now."""
        return max((edit.number for edit in self.edits), default=0) + 1


NO_EDITS = EditLog()


@dataclass(frozen=True)
class EditOutcome:
    """What an edit of the log did when the index was made last. affected: mentions of entities and relations that it
    changed; none when it no longer applies."""

    number: int
    affected: Count

    @property
    def applies(self) -> bool:
        """Whether there was something to change."""
        return self.affected > 0


@dataclass(frozen=True)
class LineageStep:
    """A step by which an index was made from another one. from_id: the id that this one had. edits: how many edits by
    hand were added or undone. rewritten_from: the lowest layer that a model wrote again, 0 where none did;
    written_before: the name of the model that wrote it until then. Nothing here tells what a removed document held."""

    from_id: ShortText
    added: Count = absent_at_default(0)
    changed: Count = absent_at_default(0)
    removed: Count = absent_at_default(0)
    edits: Count = absent_at_default(0)
    rewritten_from: Count = absent_at_default(0)
    written_before: ShortText = absent_at_default("")


@dataclass(frozen=True)
class LayerWriter:
    """The model that writes the layers from from_layer up to where the next one begins; layer 0: the descriptions of
    base entities that are condensed. model: its name."""

    from_layer: int
    model: str


def layer_writers(model: str, lineage: Sequence[LineageStep]) -> tuple[LayerWriter, ...]:
    """Return who writes which layers of an index, the lowest first. model: the name of the one that wrote last."""
    writers: list[LayerWriter] = []
    for step in reversed(lineage):
        if step.rewritten_from:
            if not writers or step.rewritten_from < writers[0].from_layer:
                writers.insert(0, LayerWriter(step.rewritten_from, model))
            model = step.written_before
    return (LayerWriter(0, model), *writers)


def writer_of(writers: Sequence[LayerWriter], layer: int) -> str:
    """Return the name of the model that writes the layer."""
    return [writer.model for writer in writers if writer.from_layer <= layer][-1]


@dataclass(frozen=True)
class DocumentChanges:
    """Documents of an index that shall be others. added: new ones, and those that take the place of one of the same
    name. removed: ids of documents that go without replacement. unchanged: names of given documents that the index
    has already."""

    added: tuple[Document, ...] = ()
    replaced: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.added or self.replaced or self.removed)


@dataclass(frozen=True)
class LayerChange:
    """How the clusters of a layer changed. layer: that the clusters became entities of. kept: with the same members and
    the same texts. changed: with another member or text. new, gone: without a counterpart."""

    layer: Count
    kept: Count
    changed: Count
    new: Count
    gone: Count


@dataclass(frozen=True)
class UpdateReport:
    """What an update changed. entities_changed: in text or sources. texts_kept, texts_written: descriptions of clusters
    of two or more nodes; sentences_kept, sentences_written: of summarised relations. outdated: ids of the
    aggregated entities and relations whose text was kept although some of what it is written from has changed.
    agreement: of each layer's clusters with those that a fresh clustering of the same nodes makes, as adjusted Rand
    index; None where it was not measured. rewritten_from: the lowest layer that a model wrote again, the clusters being
    the same; 0 where it was another change.
    """

    chunks_added: Count = 0
    chunks_removed: Count = 0
    entities_added: Count = 0
    entities_removed: Count = 0
    entities_changed: Count = 0
    relations_added: Count = 0
    relations_removed: Count = 0
    relations_changed: Count = 0
    layers: tuple[LayerChange, ...] = ()
    texts_kept: Count = 0
    texts_written: Count = 0
    sentences_kept: Count = 0
    sentences_written: Count = 0
    outdated: tuple[ShortText, ...] = ()
    agreement: tuple[float | None, ...] = ()
    rewritten_from: Count = absent_at_default(0)


REBUILD_BELOW = 0.4  # adjusted Rand index of the lowest clusters; two fresh builds of 19 and 20 documents agree to 0.6
REBUILD_RECALL = 0.02  # of evidence, by which an updated index may fall behind a fresh build


@dataclass(frozen=True)
class FreshDistance:
    """How far an updated index is from a fresh build of its documents. clusters: adjusted Rand index, layer by layer,
    of the clusters that the base entities are in. recall, fresh_recall: of gold evidence over n_questions; None where
    there are no questions."""

    clusters: tuple[float, ...]
    recall: float | None = None
    fresh_recall: float | None = None
    n_questions: int = 0

    @property
    def advises_rebuild(self) -> bool:
        """Whether a fresh build is worth its cost."""
        behind = self.recall is not None and self.fresh_recall is not None
        lost = behind and (self.fresh_recall or 0.0) - (self.recall or 0.0) > REBUILD_RECALL
        return bool(lost or (self.clusters and self.clusters[0] < REBUILD_BELOW))


@dataclass(frozen=True)
class UpdatePreview:
    """What an update will change and take, before it begins.

    chunks_kept: chunks whose text stays; calls_forgotten: of them those whose replies are no longer stored, so that
    they are asked for again. entities_touched: that chunks of replaced or removed documents name, and about so many of
    new ones. clusters_touched: clusters of the lowest layer that hold them. usage: model calls, tokens and money, an
    estimate. fresh_calls: of a build from the beginning.
    """

    added: tuple[str, ...]
    changed: tuple[str, ...]
    removed: tuple[str, ...]
    chunks_added: int
    chunks_removed: int
    chunks_kept: int
    calls_forgotten: int
    entities_touched: int
    clusters_touched: int
    clusters: int
    usage: Usage = NO_USAGE
    fresh_calls: int = 0


@dataclass(frozen=True)
class LayerCalls:
    """What writing a layer again takes. clusters: of two or more nodes, whose name and summary are written; sentences:
    on summarised relations; a call each. saved: calls of both whose answers are stored. dollars: of the others."""

    layer: int
    clusters: int
    sentences: int
    saved: int
    dollars: float


@dataclass(frozen=True)
class RewriteForecast:
    """What writing upper layers again takes, the lowest first. model: its name at the endpoint."""

    model: str
    from_layer: int
    layers: tuple[LayerCalls, ...]
    forecast: Forecast

    @property
    def calls(self) -> int:
        """Calls that will be made."""
        return sum(row.clusters + row.sentences - row.saved for row in self.layers)
