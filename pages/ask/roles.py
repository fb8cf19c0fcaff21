"""How a trace is displayed: the titles of its roles, the marks of its context, its legend."""

from dataclasses import dataclass

from markupsafe import Markup

from leanrag_core.figures.drawn_nodes import kind_title
from leanrag_core.figures.palette import known_colour
from leanrag_core.figures.play_cards import anchors
from leanrag_core.types.trace import Context, ContextSection, Trace, TraceItem, TraceRelation
from leanrag_core.views import schema
from pages.common import markup
from pages.common.html import NOTHING, html
from pages.common.messages import known, language, say, say_or, words


@dataclass(frozen=True)
class Mark:
    """A citation mark and the colour of its section."""

    name: str
    colour: str

    def drawn(self) -> Markup:
        """Return the mark as HTML."""
        return markup.mark(self.name, self.colour)


def marks_by_name(context: Context) -> dict[str, Mark]:
    """Return the marks of a context: "C1" -> its Mark."""
    return {item.mark: Mark(item.mark, _colour(part)) for part in context.sections for item in part.items}


def marks_by_ref(context: Context) -> dict[str, Mark]:
    """Return the marks of a context by the id of the item or relation they refer to."""
    return {item.ref: Mark(item.mark, _colour(part)) for part in context.sections for item in part.items}


def _colour(section: ContextSection) -> str:
    return known_colour(section.colour)


def role_title(trace: Trace, role: str) -> str:
    """Return the title of a role of items or relations in a table."""
    style = trace.style(role) or trace.style(role, on="relation")
    return say_or(words(style.title) if style else role, f"role.{code_part(role)}")


def made_title(origin: str) -> str:
    """Return in words how the description of a relation was made, as Explore does where it has the kind."""
    return say_or(schema.kind_title(origin, say), f"made.{code_part(origin)}")


def reason(trace: Trace, item: TraceItem) -> str:
    """Return why an item is in the trace."""
    return words(item.reason) if item.reason else role_title(trace, item.role)


def tag(item: TraceItem | TraceRelation) -> Markup:
    """Return the layer of an item or a relation, or its kind if it has no layer."""
    if item.layer is not None:
        return markup.layer_tag(item.layer)
    return (
        html('<span class="lr-tag">{}</span>', kind_title(item.kind, language()))
        if isinstance(item, TraceItem)
        else NOTHING
    )


def names_of(trace: Trace) -> dict[str, str]:
    """Return the name of each item, by its id."""
    return {item.id: item.name for item in trace.items}


def ends(trace: Trace, relation: TraceRelation) -> tuple[str, str]:
    """Return the names of both ends of a relation; the id of an end that the trace lacks."""
    names = names_of(trace)
    return names.get(relation.source, relation.source), names.get(relation.target, relation.target)


def names_to_mark(trace: Trace) -> list[str]:
    """Return the names of the items that led to the passages, to mark them in the texts."""
    led_by = {id_ for each in trace.passages if each.source for id_ in each.source.items}
    return [item.name for item in anchors(trace) or (each for each in trace.items if each.id in led_by)]


def code_part(role: str) -> str:
    """Return a role as the last part of a message code."""
    return role.replace("-", "_")


def first_known(specific: str, general: str) -> str:
    """Return the role's own message code if the catalog has it, else the code for any role."""
    return specific if known(specific) else general
