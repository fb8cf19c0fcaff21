"""The inspector of a relation: what it says, what it stands for down to base relations, and the chunks."""

from leanrag_core.queries import browse
from leanrag_core.queries.made_by import relation_made_by
from leanrag_core.types.graph import Relation
from leanrag_core.types.index import Index
from pages.common.messages import say
from pages.explore import inspected, inspector_made
from pages.explore.exploring import Exploring
from pages.explore.inspected import Values
from pages.explore.inspector_lists import CHUNKS, RELATIONS, chunk_blocks, made_words, member_rows, strength_of


def ends_of(index: Index, relation: Relation) -> list[tuple[str, str]]:
    """Name and id of both ends."""
    cells = index.layers[relation.layer].entity_cells
    return [(cells["name"][row].as_py(), cells["id"][row].as_py()) for row in (relation.source, relation.target)]


def values(exploring: Exploring, relation: Relation, more: dict[str, int]) -> Values:
    """All that is drawn of the relation. more: how many rows beyond the first ones a list shows."""
    index = exploring.index
    ends = ends_of(index, relation)
    said = relation.description.strip()
    summary = [inspected.text(said) if said else inspected.text(say("explore.inspect.no_description"), muted=True)]
    strength = say("explore.inspect.lambda" if relation.layer else "explore.inspect.weight", n=strength_of(relation))
    summary.append(inspected.text(f"{strength}{say('ask.comma')}{made_words(relation)}", muted=True))
    if relation.keywords:
        summary.append(inspected.label(say("explore.inspect.keywords")))
        summary.append(inspected.text(say("ask.comma").join(relation.keywords), muted=True))
    tabs = [inspected.tab("summary", say("explore.inspect.summary"), summary)]
    if relation.layer:
        total = len(relation.members)
        members = member_rows(browse.unfold(index, relation, RELATIONS + more.get("members", 0)))
        left = total - len(members)
        button = say("explore.inspect.more", n=min(RELATIONS, left), rest=left) if left > 0 else ""
        note = inspected.count_note(len(members), total, "strongest")
        stands_for = [
            inspected.text(say("explore.inspect.stands_for", n=total, layer=relation.layer - 1), muted=True),
            inspected.rows(members, note=note, more=button, more_id="members"),
        ]
        tabs.append(inspected.tab("members", say("explore.inspect.members"), stands_for, total))
    chunks = browse.chunks_of_relation(index, relation)
    names = [name for name, _ in ends] if relation.layer == 0 else []
    blocks = chunk_blocks(index, exploring.summary, chunks, names, shown=CHUNKS + more.get("chunks", 0))
    tabs.append(inspected.tab("chunks", say("explore.inspect.chunks"), blocks, len(chunks)))
    return {
        "id": relation.id,
        "name": "",
        "ends": [{"name": name, "id": id_, "layer": relation.layer} for name, id_ in ends],
        "parents": [],
        "actions": [{"do": "back", "id": "", "title": say("explore.inspect.back"), "icon": "arrow_back"}],
        "tabs": tabs,
        "made": inspector_made.values(relation_made_by(index, relation), relation.id),
    }
