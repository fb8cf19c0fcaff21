"""The items that led to the passages of a trace, such as seeds, and the links from them to each passage."""

from leanrag_core.types.trace import Trace, TraceItem


def anchors(trace: Trace) -> list[TraceItem]:
    """The items that led to the passages: all of the role of those that passages name.

    None where these are of several roles: their number ranks no passage then.
    """
    roles = {item.id: item.role for item in trace.items}
    named = [roles[id_] for each in trace.passages if each.source for id_ in each.source.items if id_ in roles]
    return list(trace.with_role(named[0])) if len(set(named)) == 1 else []


def is_card(item: TraceItem) -> bool:
    """Whether the item is a passage that is drawn as a card below the graph, not as a node of a layer."""
    return item.source is not None and item.layer is None


def sources_of(trace: Trace) -> dict[str, tuple[str, ...]]:
    """The nodes that each card hangs on: those it names, those a relation joins it to, and its parent."""
    cards = {item.id for item in trace.items if is_card(item)}
    linked: dict[str, dict[str, None]] = {id_: {} for id_ in cards}
    known = {item.id for item in trace.items} - cards
    for item in trace.items:
        if item.id in cards:
            named = item.source.items if item.source else ()
            linked[item.id] |= dict.fromkeys(id_ for id_ in (*named, item.parent) if id_ in known)
    for relation in trace.relations:
        for end, other in ((relation.source, relation.target), (relation.target, relation.source)):
            if end in cards and other in known:
                linked[end][other] = None
    return {id_: tuple(ends) for id_, ends in linked.items()}
