"""An index in a notebook: its layers in figures, and its largest clusters as an icicle of two levels."""

from leanrag_core.figures import numbers
from leanrag_core.figures.palette import palette
from leanrag_core.messages.catalog import ENGLISH, sentence
from leanrag_core.messages.message import Message, Value
from leanrag_core.notebook.frame import heading, table, text
from leanrag_core.types.index import Index

_WIDTH, _HEIGHT, _GAP = 900, 26, 2
_CLUSTERS = 12  # the largest ones have a bar of their own


def index_html(index: Index) -> str:
    """Title, counts by layer, and the largest clusters of the layer below the root with the entities in them."""
    layers = index.layers
    facts = say(
        "notebook.index",
        documents=index.documents.num_rows,
        chunks=index.chunks.num_rows,
        entities=len(layers[0]),
        layers=len(layers),
    )
    rows = [(f"L{layer.number}", f"{len(layer):,}", f"{layer.relations.num_rows:,}") for layer in reversed(layers)]
    heads = [say("notebook.layer"), say("notebook.entities"), say("notebook.relations")]
    title = index.manifest.name or index.id
    return heading(title, facts) + _clusters(index) + table(heads, rows, numbers=(1, 2))


def say(code: str, **values: Value) -> str:
    """The English sentence of that code: a notebook has no language of its own."""
    return sentence(Message(code, values), ENGLISH)


def _clusters(index: Index) -> str:
    if len(index.layers) < 2:
        return ""
    number = max(1, len(index.layers) - 2)
    below = index.leaf_counts[number]
    names = index.layers[number].entities["name"]
    order = sorted(range(len(below)), key=lambda row: (-int(below[row]), row))[:_CLUSTERS]
    colours, largest = palette(dark=False), max(int(below[order[0]]), 1)
    height = len(order) * (_HEIGHT + _GAP)
    parts = [
        text(
            '<svg viewBox="0 0 {} {}" width="{}" role="img" aria-label="{}">',
            _WIDTH,
            height,
            _WIDTH,
            say("notebook.clusters", n=len(order), of=len(below)),
        )
    ]
    for place, row in enumerate(order):
        top, n = place * (_HEIGHT + _GAP), int(below[row])
        width = max(4.0, n / largest * _WIDTH * 0.45)
        parts.append(
            text(
                '<rect x="0" y="{}" width="{:.1f}" height="{}" rx="3" fill="{}"/>'
                '<text x="{:.1f}" y="{}" font-size="13">{} ({})</text>',
                top,
                width,
                _HEIGHT,
                colours.layer(number),
                width + 8,
                top + 18,
                names[row].as_py()[:70],
                numbers.of_unit(n, "entities"),
            )
        )
    note = text('<p class="m">{}</p>', say("notebook.clusters", n=len(order), of=len(below)))
    return "".join(parts) + "</svg>" + note
