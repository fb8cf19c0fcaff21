"""The inspector's content for a chunk, an entity and a relation."""

from collections.abc import Sequence
from typing import Any

from leanrag_core.figures import passages
from leanrag_core.messages.message import message as message_of
from leanrag_core.queries import browse
from leanrag_core.queries.browse import MemberRelation, entities_in, entity_rows, relations_in
from leanrag_core.queries.conflicts import conflicts_of_entity, conflicts_of_relation
from leanrag_core.queries.hits import QuestionHits, chunk_marks, question_hits
from leanrag_core.queries.made_by import chunk_made_by, entity_made_by, relation_made_by
from leanrag_core.text.words import words_around
from leanrag_core.types.conflicts import DENIED, Conflict
from leanrag_core.types.graph import Entity, Relation
from leanrag_core.types.index import Index
from leanrag_core.types.trace import Trace
from leanrag_core.types.visible import shortened
from pages.build import update_view
from pages.common.messages import say, words
from pages.explore import edit_view, inspected
from pages.explore.exploring import Exploring
from pages.explore.inspected import (
    CHUNKS,
    RELATIONS,
    Values,
    chunk_blocks,
    made_words,
    member_rows,
    names_to_mark,
    relation_rows,
    said_by,
    strength_of,
)

_LISTED = 80
_LONGEST = 20_000  # characters of a chunk that are drawn; its document shows all


def chunk_values(exploring: Exploring, row: int) -> Values:
    """Return everything that is drawn for the chunk in that row."""
    index, layer = exploring.index, exploring.index.layers[0]
    chunk = index.chunk(row)
    document = index.document_cells.value("title", index.chunk_cells.value("document", row))
    mentioned, stated = entities_in(index, row), relations_in(index, row)
    entities = entity_rows(index, 0, mentioned[:_LISTED])
    marked = names_to_mark(exploring.summary, [entity.name for entity in entities])
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
    listed = [inspected.row(each.name, inspected.Target("go", each.id, 0), sub=each.type) for each in entities]
    ends = layer.ends[stated[:_LISTED]].tolist()
    names = layer.entity_cells["name"]
    relations = [
        MemberRelation(names[source].as_py(), names[target].as_py(), layer.relation(number))
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
        "made": inspected.made_values(chunk_made_by(index, row), chunk.id),
    }


_STRONGEST = 3
_CHILDREN = 100
_SEEDS_NAMED = 6
_EDITS_NAMED = 2
_MARKS_NAMED = 8
_BESIDE = 60  # characters beside a quote


def entity_values(exploring: Exploring, more: dict[str, int]) -> Values:
    """Return everything that is drawn for the chosen entity. more: by list, the number of rows beyond the first
    ones."""
    index, place = exploring.index, exploring.place
    entity = index.layers[place.layer].entity(place.row)
    n_relations = len(index.layers[place.layer].relations_of(place.row))
    related = browse.neighbours(index, place, RELATIONS + more.get("relations", 0))
    tabs = [inspected.tab("summary", say("explore.inspect.summary"), _summary(exploring, entity, related, n_relations))]
    if place.layer:
        n_children = len(index.children_of(place.layer, place.row))
        shown = _CHILDREN + more.get("children", 0)
        children = [_child(row) for row in browse.children(index, place, shown)]
        order = "largest" if place.layer > 1 else "linked"
        blocks = [_list(children, n_children, order, "children", _CHILDREN)]
        tabs.append(inspected.tab("children", say("explore.inspect.children"), blocks, n_children))
    listed = _list(relation_rows(index, related), n_relations, "strongest", "relations", RELATIONS)
    none = inspected.text(say("explore.inspect.no_relation"), muted=True)
    tabs.append(
        inspected.tab("relations", say("explore.inspect.relations"), [listed if related else none], n_relations)
    )
    if place.layer == 0:
        tabs += _conflicts(index, conflicts_of_entity(index, place.row))
    names = [entity.name] if place.layer == 0 else []
    chunks = chunk_blocks(index, exploring.summary, entity.chunks, names, shown=CHUNKS + more.get("chunks", 0))
    tabs.append(inspected.tab("chunks", say("explore.inspect.chunks"), chunks, len(entity.chunks)))
    return {
        "id": entity.id,
        "name": entity.name,
        "parents": _parents(exploring, entity),
        "actions": [
            {"do": "ask", "id": entity.id, "title": say("explore.inspect.ask"), "icon": "forum"},
            {"do": "graph", "id": entity.id, "title": say("explore.inspect.graph"), "icon": "hub"},
        ],
        "tabs": tabs,
        "made": inspected.made_values(entity_made_by(index, entity), entity.id, _by_hand(exploring, entity)),
    }


def _by_hand(exploring: Exploring, entity: Entity) -> list[str]:
    """Return the entity's manual edits in sentences."""
    return [
        say("explore.inspect.by_hand", what=update_view.sentence_of(edit))
        for edit in edit_view.edits_of(exploring.index, entity)[:_EDITS_NAMED]
    ]


def _parents(exploring: Exploring, entity: Entity) -> list[Values]:
    """Return the ancestors, from the root down to the parent."""
    above = reversed(exploring.index.ancestors(entity.layer, entity.row))
    cells = [(layer, exploring.index.layers[layer].entity_cells, row) for layer, row in above]
    return [
        {"layer": layer, "name": columns["name"][row].as_py(), "id": columns["id"][row].as_py()}
        for layer, columns, row in cells
    ]


def _summary(exploring: Exploring, entity: Entity, related: list[browse.Neighbour], n_relations: int) -> list[Values]:
    blocks = [_description(entity.description)]
    if exploring.trace is not None:
        blocks += _hits(exploring.trace, question_hits(exploring.index, exploring.trace, exploring.place))
    if related:
        strongest = related[:_STRONGEST]
        note = say("explore.inspect.of", n=n_relations) if n_relations > len(strongest) else ""
        blocks += [inspected.label(say("explore.inspect.strongest"), note), inspected.rows(_bars(strongest))]
    if entity.findings:
        blocks.append(inspected.label(say("explore.inspect.findings"), f"{len(entity.findings):,}"))
        blocks += [inspected.finding(finding.summary, finding.explanation) for finding in entity.findings]
    return blocks


def _description(text: str) -> Values:
    body = text.strip()
    return inspected.text(body) if body else inspected.text(say("explore.inspect.no_description"), muted=True)


def _bars(related: list[browse.Neighbour]) -> list[Values]:
    """Return relations as rows with bars; each links to the entity at its other end."""
    values = [float(each.relation.strength if each.relation.layer else each.relation.weight) for each in related]
    longest = max(values) or 1.0
    return [
        inspected.row(
            neighbour.name,
            inspected.Target("go", neighbour.id),
            sub=said_by(neighbour.relation),
            value=strength_of(neighbour.relation),
            bar=value / longest,
        )
        for neighbour, value in zip(related, values, strict=True)
    ]


def _hits(trace: Trace, hits: QuestionHits) -> list[Values]:
    """Return in a line what the last question retrieved here."""
    head = inspected.label(say("explore.inspect.last_question"), shortened(trace.question, 80))
    if not hits:
        return [head, inspected.text(say("explore.inspect.not_met"), muted=True)]
    parts: list[dict[str, Any]] = []
    for item in hits.below[:_SEEDS_NAMED]:
        parts += [inspected.run(f"{item.rank}", strong=True), inspected.run(item.name, do="go", id_=item.id)]
    if len(hits.below) > _SEEDS_NAMED:
        parts.append(inspected.run(say("explore.inspect.more_below", n=len(hits.below) - _SEEDS_NAMED)))
    if hits.item is not None:
        styles = [trace.style(role) for role in hits.item.roles]
        titles = [words(style.title) for style in styles if style is not None]
        if titles:
            parts.append(inspected.run(say("explore.inspect.role", role=say("ask.comma").join(titles))))
    if hits.marks:
        parts += [inspected.run(say("explore.inspect.in_context")), *inspected.marks(hits.marks[:_MARKS_NAMED])]
        left = len(hits.marks) - _MARKS_NAMED
        parts += [inspected.run(f"+{left}")] if left > 0 else []
    return [head, inspected.runs(parts)]


def _child(row: browse.EntityRow) -> Values:
    counts = say("explore.inspect.entities", n=row.below) if row.layer else row.type
    return inspected.row(row.name, inspected.Target("go", row.id, row.layer), sub=counts)


def _list(listed: list[Values], total: int, order: str, name: str, step: int) -> Values:
    """Return the first rows of a list, and a button to more of them, a step at a time. name: of the list."""
    left = total - len(listed)
    more = say("explore.inspect.more", n=min(step, left), rest=left) if left > 0 else ""
    note = inspected.count_note(len(listed), total, order)
    return inspected.rows(listed, note=note, more=more, more_id=name)


def _conflicts(index: Index, conflicts: Sequence[Conflict]) -> list[Values]:
    """Return a tab with both quotes of each conflict, marked in their chunks; no tab if there is none."""
    if not conflicts:
        return []
    blocks = [inspected.text(say("conflicts.tab_help"), muted=True)]
    for conflict in conflicts:
        if conflict.kind == DENIED:
            title, denial = say("conflicts.denied", names=" – ".join(conflict.names)), conflict.what
        else:
            title, denial = say(f"conflicts.what.{conflict.what}"), ""
        blocks.append(inspected.label(title, denial))
        for quote in (conflict.first, conflict.second):
            text = index.chunk(quote.chunk).text
            sub = say("passage.chunk", n=quote.chunk + 1)
            dates = [quote.date] if quote.date else []
            sub = say("ask.comma").join([sub, *(say("conflicts.dated", day=day) for day in dates)])
            parts = _around(text, quote.start, quote.end)
            chunk_id = index.chunk_cells.value("id", quote.chunk)
            blocks.append(inspected.passage(quote.document, sub, parts, id_=chunk_id, row_number=quote.chunk))
    return [inspected.tab("conflicts", say("conflicts.tab"), blocks, len(conflicts))]


def _around(text: str, start: int, end: int) -> list[passages.Piece]:
    """Return the quote, marked, with whole words around it."""
    left, right = words_around(text, start, end, _BESIDE)
    before, after = text[left:start], text[end:right]
    return [
        passages.Piece(f"… {before}" if left else before, frozenset()),
        passages.Piece(text[start:end], frozenset(("name",))),
        passages.Piece(f"{after} …" if right < len(text) else after, frozenset()),
    ]


def ends_of(index: Index, relation: Relation) -> list[tuple[str, str]]:
    """Return name and id of both ends of the relation."""
    cells = index.layers[relation.layer].entity_cells
    return [(cells.value("name", row), cells.value("id", row)) for row in (relation.source, relation.target)]


def relation_values(exploring: Exploring, relation: Relation, more: dict[str, int]) -> Values:
    """Return everything that is drawn for the relation. more: by list, the number of rows beyond the first ones."""
    index = exploring.index
    ends = ends_of(index, relation)
    summary = [_description(relation.description)]
    strength = say("explore.inspect.lambda" if relation.layer else "explore.inspect.weight", n=strength_of(relation))
    summary.append(inspected.text(f"{strength}{say('ask.comma')}{made_words(relation)}", muted=True))
    if relation.keywords:
        summary.append(inspected.label(say("explore.inspect.keywords")))
        summary.append(inspected.text(say("ask.comma").join(relation.keywords), muted=True))
    tabs = [inspected.tab("summary", say("explore.inspect.summary"), summary)]
    if relation.layer:
        total = len(relation.members)
        members = member_rows(browse.unfold(index, relation, RELATIONS + more.get("members", 0)))
        stands_for = [
            inspected.text(say("explore.inspect.stands_for", n=total, layer=relation.layer - 1), muted=True),
            _list(members, total, "strongest", "members", RELATIONS),
        ]
        tabs.append(inspected.tab("members", say("explore.inspect.members"), stands_for, total))
    tabs += _conflicts(index, conflicts_of_relation(index, relation))
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
        "made": inspected.made_values(relation_made_by(index, relation), relation.id),
    }
