"""Whether an edit by hand would change something in an index."""

from leanrag_core.errors import InvalidConfig
from leanrag_core.indexing.resolution.names import entity_id, name_key, relation_id
from leanrag_core.types.index import Index
from leanrag_core.types.updating import MAX_EDITS, Edit

_NEEDS_OTHER = ("rename", "retype", "merge", "split", "delete-relation", "describe-relation")


def require_applicable(index: Index, edit: Edit) -> None:
    """Raise InvalidConfig for an edit of an entity, relation or document that the index does not have, or with a name
    that says nothing.
    """
    base = index.layers[0]
    if edit.number > MAX_EDITS:
        raise InvalidConfig("edit.too_many", limit=MAX_EDITS)
    _require_entity(index, edit.name)
    if edit.action in _NEEDS_OTHER and not edit.other.strip():
        raise InvalidConfig("edit.other_missing", action=edit.action)
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


def _require_entity(index: Index, name: str) -> None:
    if entity_id(name_key(name)) not in index.layers[0].row_of:
        raise InvalidConfig("edit.no_entity", name=name)
