"""What joins the two ends of each base relation, in a word: its keyword, its verb, or its preposition."""

from leanrag_core.types.graph import Layer
from leanrag_core.types.youtu import RELATED

_BY_KIND = {"apposition": "is", "heading": "is the heading of", "co-occurrence": RELATED}
_MOST_WORDS = 3
_SAME = {"are": "is", "was": "is", "were": "is", "have": "has", "had": "has"}


def relation_labels(base: Layer) -> list[str]:
    """Return a label for each base relation, in lower case; RELATED where nothing says more."""
    names = base.entities["name"].to_pylist()
    columns = (base.relations[name].to_pylist() for name in ("keywords", "kind", "description"))
    return [
        _label(names[source], names[target], keywords, kind, description)
        for (source, target), keywords, kind, description in zip(base.ends.tolist(), *columns, strict=True)
    ]


def _label(source: str, target: str, keywords: list[str] | None, kind: str, description: str) -> str:
    if keywords:
        return " ".join(keywords[0].split()).lower() or RELATED
    if kind in _BY_KIND:
        return _BY_KIND[kind]
    # The built-in extractor writes "mites from Java: ..." for a preposition.
    lead = description.partition(":")[0]
    for first, second in ((source, target), (target, source)):
        if lead.startswith(f"{first} ") and lead.endswith(f" {second}"):
            between = lead[len(first) : len(lead) - len(second)].split()
            if 0 < len(between) <= _MOST_WORDS:
                label = " ".join(between).lower()
                return _SAME.get(label, label)
    return RELATED
