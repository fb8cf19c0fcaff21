"""What entered and what left between two retrievals of the same question, by the roles that their traces declare."""

from collections.abc import Mapping
from dataclasses import dataclass

from leanrag_core.figures.passages import passage_name
from leanrag_core.messages.catalog import sentence
from leanrag_core.messages.message import message
from leanrag_core.types.trace import Parameter, Trace


@dataclass(frozen=True)
class Group:
    """Names of the items or relations of a role that only the later trace has, and that only the earlier one had."""

    role: str
    entered: tuple[str, ...]
    left: tuple[str, ...]


@dataclass(frozen=True)
class Changes:
    """settings: option -> (before, after). groups: of the roles whose items or relations differ, in the order of the
    later trace's styles. tokens: context tokens after less before."""

    settings: dict[str, tuple[Parameter, Parameter]]
    groups: tuple[Group, ...]
    tokens: int

    @property
    def any(self) -> bool:
        """Tell whether what was retrieved differs."""
        return bool(self.tokens or self.groups)

    def of(self, role: str) -> Group:
        """Return the group of that role; an empty one where nothing changed."""
        return next((group for group in self.groups if group.role == role), Group(role, (), ()))


def changes(before: Trace, after: Trace, language: str = "en") -> Changes:
    """Return what only the later trace has, and what only the earlier one has. language: of the places of passages."""
    options = sorted({*before.parameters, *after.parameters})
    settings = {
        name: (before.parameters.get(name), after.parameters.get(name))
        for name in options
        if before.parameters.get(name) != after.parameters.get(name)
    }
    if before.strategy != after.strategy:
        settings = {"strategy": (before.strategy, after.strategy)}
    old, new = _named(before, language), _named(after, language)
    groups = (_group(role, old.get(role, {}), new.get(role, {})) for role in dict.fromkeys((*new, *old)))
    return Changes(
        settings=settings,
        groups=tuple(group for group in groups if group.entered or group.left),
        tokens=after.context.tokens - before.context.tokens,
    )


def telling_groups(before: Trace, after: Trace, language: str = "en") -> tuple[Group, ...]:
    """Return the groups of changes() that say something: between two strategies, those of roles that items of both
    have, since everything else is new."""
    groups = changes(before, after, language).groups
    if before.strategy == after.strategy:
        return groups
    roles, others = ({role for item in trace.items for role in item.roles} for trace in (before, after))
    return tuple(group for group in groups if group.role in roles & others)


def _group(role: str, old: Mapping[str, str], new: Mapping[str, str]) -> Group:
    return Group(
        role,
        entered=tuple(name for id_, name in new.items() if id_ not in old),
        left=tuple(name for id_, name in old.items() if id_ not in new),
    )


def _named(trace: Trace, language: str) -> dict[str, dict[str, str]]:
    """Return role -> id -> name, of items and of relations; the roles of the trace's styles first. Links to a parent
    are left out, since their ends say the same."""
    named: dict[str, dict[str, str]] = {style.role: {} for style in trace.styles}
    names, comma = {item.id: item.name for item in trace.items}, sentence(message("ask.comma"), language)
    for item in trace.items:
        for role in item.roles:
            named.setdefault(role, {})[item.id] = passage_name(item, language)
    for relation in trace.relations:
        if relation.id not in trace.tree_links:
            end_names = comma.join(names.get(id_, id_) for id_ in (relation.source, relation.target))
            named.setdefault(relation.role, {})[relation.id] = end_names
    return named
