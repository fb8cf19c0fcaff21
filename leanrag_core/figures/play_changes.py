"""A retrieval together with what an earlier one had and it lacks, so that both have a place in one figure."""

from dataclasses import dataclass, replace

from leanrag_core.types.trace import Trace


@dataclass(frozen=True)
class Marked:
    """trace: the later one, with the items and relations that left behind its own. entered, left: ids of items and
    relations."""

    trace: Trace
    entered: frozenset[str] = frozenset()
    left: frozenset[str] = frozenset()


def marked(trace: Trace, before: Trace | None) -> Marked:
    """What entered and what left since `before`; nothing is marked against another strategy, whose ids say nothing."""
    if before is None or before.strategy != trace.strategy:
        return Marked(trace)
    items, relations = {each.id for each in trace.items}, {each.id for each in trace.relations}
    old_items = [each for each in before.items if each.id not in items]
    old_relations = [each for each in before.relations if each.id not in relations]
    ids = items | {each.id for each in old_items}
    kept = [each for each in old_relations if {each.source, each.target} <= ids]
    entered = (items - {each.id for each in before.items}) | (relations - {each.id for each in before.relations})
    left = {each.id for each in old_items} | {each.id for each in kept}
    whole = replace(trace, items=(*trace.items, *old_items), relations=(*trace.relations, *kept))
    return Marked(whole, frozenset(entered), frozenset(left))
