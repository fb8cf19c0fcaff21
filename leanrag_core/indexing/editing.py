"""Edits by hand, replayed on mentions before merging, so that types, weights and sources follow from the edits."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from leanrag_core.errors import InvalidConfig
from leanrag_core.indexing.names import entity_id, name_key, relation_id, tidy_name
from leanrag_core.types.corpus import Chunk, Document
from leanrag_core.types.extraction import Extraction, Mention, RelationMention
from leanrag_core.types.graph import Graph
from leanrag_core.types.index import Index
from leanrag_core.types.rows import with_column
from leanrag_core.types.updating import MAX_EDITS, MAX_NAME, MAX_TEXT, Edit, EditLog, EditOutcome

_NEEDS_OTHER = ("rename", "retype", "merge", "split", "delete-relation", "describe-relation")
_GIVES_NAME = ("rename", "retype", "split")


def require_applicable(index: Index, edit: Edit) -> None:
    """Raise InvalidConfig for an edit of an entity, relation or document that the index does not have, or with a name
    that says nothing, or a text that is too long for the log.
    """
    base = index.layers[0]
    if edit.number > MAX_EDITS:
        raise InvalidConfig("edit.too_many", limit=MAX_EDITS)
    _require_entity(index, edit.name)
    if edit.action in _NEEDS_OTHER and not edit.other.strip():
        raise InvalidConfig("edit.other_missing", action=edit.action)
    if edit.action in _GIVES_NAME and len(edit.other) > MAX_NAME:
        raise InvalidConfig("index.name_too_long", n=len(edit.other), limit=MAX_NAME)
    if edit.action in ("rename", "split") and not name_key(edit.other):
        raise InvalidConfig("edit.name_empty", name=edit.other)
    is_known = entity_id(name_key(edit.other)) in base.row_of
    same = name_key(edit.other) == name_key(edit.name)
    if edit.action in ("rename", "split") and is_known and not (same and edit.action == "rename"):
        raise InvalidConfig("edit.name_taken", name=edit.other)
    if edit.action == "merge" and (same or not is_known):
        raise InvalidConfig("edit.no_entity", name=edit.other)
    if edit.action == "split":
        names = set(index.documents["name"].to_pylist())
        if not edit.documents or set(edit.documents) - names:
            missing = sorted(set(edit.documents) - names)
            raise InvalidConfig("edit.split_documents", document=missing[0] if missing else "")
    if edit.action in ("delete-relation", "describe-relation"):
        ends = (entity_id(name_key(name)) for name in (edit.name, edit.other))
        if relation_id(*ends) not in base.relation_row_of:
            raise InvalidConfig("edit.no_relation", source=edit.name, target=edit.other)
        if edit.action == "describe-relation" and not edit.text.strip():
            raise InvalidConfig("edit.text_empty")
        if len(edit.text) > MAX_TEXT:
            raise InvalidConfig("edit.text_too_long", n=len(edit.text), limit=MAX_TEXT)


def _require_entity(index: Index, name: str) -> None:
    if entity_id(name_key(name)) not in index.layers[0].row_of:
        raise InvalidConfig("edit.no_entity", name=name)


_NAMES = ("rename", "merge", "split")  # edits that give a mention another name


@dataclass(frozen=True)
class _Step:
    """An edit with keys in place of names. chunks: those whose mentions a split takes, None for all."""

    edit: Edit
    key: str
    other: str
    chunks: frozenset[str] | None


class Replay:
    """Applies the edits of a log in their order. outcomes: what each has changed so far."""

    def __init__(self, log: EditLog, documents: Sequence[Document], chunks: Sequence[Chunk]) -> None:
        self._steps = [_step(edit, documents, chunks) for edit in log.edits]
        self._affected: Counter[int] = Counter()
        # A mention that no edit names, not even after another edit, is passed on as it is.
        self._keys = frozenset(key for step in self._steps for key in (step.key, step.other))

    @property
    def outcomes(self) -> tuple[EditOutcome, ...]:
        """Each edit with the number of mentions, relations or rows that it changed."""
        return tuple(EditOutcome(step.edit.number, self._affected[step.edit.number]) for step in self._steps)

    @property
    def changes(self) -> bool:
        """Whether there are edits."""
        return bool(self._steps)

    def extraction(self, extraction: Extraction) -> Extraction:
        """Return the extraction under the names that the edits give, without what they delete. Call it once for each
        extraction: it counts what the edits change.
        """
        if not self._steps:
            return extraction
        mentions = [self._mention(mention) for mention in extraction.mentions]
        relations = [self._relation(relation) for relation in extraction.relations]
        return replace(
            extraction,
            mentions=tuple(mention for mention in mentions if mention is not None),
            relations=tuple(relation for relation in relations if relation is not None),
        )

    def _mention(self, mention: Mention) -> Mention | None:
        if name_key(mention.name) not in self._keys:
            return mention
        name = mention.name
        for step in self._steps:
            if not _takes(step, name, mention.chunk_id):
                continue
            if step.edit.action == "delete":
                self._affected[step.edit.number] += 1
                return None
            if step.edit.action in _NAMES:
                self._affected[step.edit.number] += 1
                name = step.edit.other
        if name == mention.name:
            return mention
        # The former name stays as another form of the new one, so that questions that use it still find the entity.
        return replace(mention, name=name, surface=mention.surface or tidy_name(mention.name))

    def _relation(self, relation: RelationMention) -> RelationMention | None:
        if name_key(relation.source) not in self._keys and name_key(relation.target) not in self._keys:
            return relation
        source, target = relation.source, relation.target
        for step in self._steps:
            ends = [_takes(step, name, relation.chunk_id) for name in (source, target)]
            action = step.edit.action
            if action == "delete-relation":
                if {name_key(source), name_key(target)} == {step.key, step.other}:
                    self._affected[step.edit.number] += 1
                    return None
            elif any(ends) and action == "delete":
                self._affected[step.edit.number] += 1
                return None
            elif any(ends) and action in _NAMES:
                self._affected[step.edit.number] += 1
                source, target = (
                    step.edit.other if concerned else name
                    for concerned, name in zip(ends, (source, target), strict=True)
                )
        return replace(relation, source=source, target=target)

    def rows(self, graph: Graph) -> Graph:
        """Return the merged graph with the types and the relations' descriptions that the edits give."""
        types = dict(zip(graph.entities["id"].to_pylist(), graph.entities["type"].to_pylist(), strict=True))
        texts = dict(zip(graph.relations["id"].to_pylist(), graph.relations["description"].to_pylist(), strict=True))
        for place, step in enumerate(self._steps):
            following = self._steps[place + 1 :]
            if step.edit.action == "retype":
                id_ = entity_id(_called(step.key, following))
                if id_ in types:
                    types[id_] = step.edit.other.strip().lower()
                    self._affected[step.edit.number] += 1
            elif step.edit.action == "describe-relation":
                ends = (entity_id(_called(key, following)) for key in (step.key, step.other))
                id_ = relation_id(*ends)
                if id_ in texts:
                    texts[id_] = " ".join(step.edit.text.split())
                    self._affected[step.edit.number] += 1
        return Graph(
            with_column(graph.entities, "type", list(types.values())),
            with_column(graph.relations, "description", list(texts.values())),
        )


def _step(edit: Edit, documents: Sequence[Document], chunks: Sequence[Chunk]) -> _Step:
    is_entity = edit.action not in ("retype",)
    chunk_ids = None
    if edit.action == "split":
        names = set(edit.documents)
        ids = {document.id for document in documents if document.name in names}
        chunk_ids = frozenset(chunk.id for chunk in chunks if chunk.document_id in ids)
    return _Step(edit, name_key(edit.name), name_key(edit.other) if is_entity else "", chunk_ids)


def _takes(step: _Step, name: str, chunk_id: str) -> bool:
    """Return whether the edit applies to a mention of that name in that chunk."""
    return name_key(name) == step.key and (step.chunks is None or chunk_id in step.chunks)


def _called(key: str, following: Sequence[_Step]) -> str:
    """Return the key of that entity after the following edits; a split leaves the entity its key."""
    for step in following:
        if step.edit.action in ("rename", "merge") and step.key == key:
            key = step.other
    return key
