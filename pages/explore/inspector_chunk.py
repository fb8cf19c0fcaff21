"""The inspector of a chunk: its text with the mentions marked, the entities and relations that it gave."""

from leanrag_core.figures import passages
from leanrag_core.messages.message import message as message_of
from leanrag_core.queries.browse import MemberRelation, entities_in, entity_rows, relations_in
from leanrag_core.queries.hits import chunk_marks
from leanrag_core.queries.made_by import chunk_made_by
from pages.common.messages import say, words
from pages.explore import inspected, inspector_made
from pages.explore.exploring import Exploring
from pages.explore.inspected import Values
from pages.explore.inspector_lists import member_rows, names_to_mark

_LISTED = 80
_LONGEST = 20_000  # characters of a chunk that are drawn; its document has the rest


def values(exploring: Exploring, row: int) -> Values:
    """All that is drawn of the chunk in that row."""
    index, layer = exploring.index, exploring.index.layers[0]
    chunk = index.chunk(row)
    document = index.document_cells["title"][index.chunk_cells["document"][row].as_py()].as_py()
    mentioned, stated = entities_in(index, row), relations_in(index, row)
    entities = entity_rows(index, 0, mentioned[:_LISTED])
    marked = names_to_mark(index, exploring.summary, [entity.name for entity in entities])
    parts = passages.excerpt(chunk.text, marked, longest=_LONGEST)
    facts = say("passage.chunk_of", n=row + 1, chunks=index.chunks.num_rows)
    summary = [
        inspected.text(f"{facts}{say('ask.comma')}{words(message_of('count.tokens', n=chunk.tokens))}", muted=True),
        inspected.passage("", "", parts, id_="", row_number=row),
    ]
    cited = chunk_marks(exploring.trace, row) if exploring.trace is not None else ()
    if cited:
        summary += [
            inspected.label(say("explore.inspect.last_question"), exploring.trace.question if exploring.trace else ""),
            inspected.runs([inspected.run(say("explore.inspect.in_context")), *inspected.marks(cited)]),
        ]
    listed = [inspected.row(each.name, do="go", id_=each.id, layer=0, sub=each.type) for each in entities]
    ends = layer.ends[stated[:_LISTED]].tolist()
    names, ids = layer.entity_cells["name"], layer.entity_cells["id"]
    relations = [
        MemberRelation(
            names[source].as_py(),
            names[target].as_py(),
            ids[source].as_py(),
            ids[target].as_py(),
            layer.relation(number),
        )
        for (source, target), number in zip(ends, stated[:_LISTED].tolist(), strict=True)
    ]
    nothing = [inspected.text(say("explore.inspect.nothing_extracted"), muted=True)]
    linked = inspected.rows(listed, note=inspected.count_note(len(listed), len(mentioned), "linked"))
    strong = inspected.rows(member_rows(relations), note=inspected.count_note(len(relations), len(stated), "strongest"))
    return {
        "id": chunk.id,
        "name": document,
        "parents": [],
        "actions": [
            {"do": "back", "id": "", "title": say("explore.inspect.back"), "icon": "arrow_back"},
            {"do": "document", "id": str(row), "title": say("passage.open"), "icon": "article"},
        ],
        "tabs": [
            inspected.tab("summary", say("explore.inspect.text"), summary),
            inspected.tab("entities", say("explore.inspect.mentions"), [linked] if listed else nothing, len(mentioned)),
            inspected.tab(
                "relations", say("explore.inspect.relations"), [strong] if relations else nothing, len(stated)
            ),
        ],
        "made": inspector_made.values(chunk_made_by(index, row), chunk.id),
    }
