"""The schema: types of entities and the relations between them."""

from dataclasses import asdict
from typing import Any

from leanrag_core.figures.schema_graph import NARROW, WIDE, schema_graph
from leanrag_core.messages.catalog import Say
from leanrag_core.queries.schema import RULE_KINDS, Schema, SchemaPair

_ROWS = 60  # pairs in the table
_NAME = 40  # letters
_NAMED = (*RULE_KINDS, "stated", "summarised", "concatenated")  # the others are words of the documents


def kind_title(kind: str, say: Say) -> str:
    """Return the kind in words: a rule's from the catalog, any other as the documents have it."""
    return say(f"explore.inspect.kind.{kind}") if kind in _NAMED else kind


def schema_values(schema: Schema, say: Say) -> dict[str, Any]:
    """Return what schema_graph.js draws, but for what is chosen and the line below it."""
    position = {each.name: at for at, each in enumerate(schema.types)}
    links = {(position[pair.first], position[pair.second]): pair.count for pair in schema.pairs}
    links = {(min(pair), max(pair)): count for pair, count in links.items()}
    counts = [each.count for each in schema.types]
    return {
        "types": [
            {"name": each.name, "shown": each.name[:_NAME] or say("explore.schema.untyped"), "count": each.count}
            for each in schema.types
        ],
        "pairs": [_pair(pair, position, say) for pair in schema.pairs],
        "rows": _ROWS,
        "layouts": [asdict(schema_graph(counts, links, size)) for size in (NARROW, WIDE)],
        "words": _words(schema, say),
        "label": say("explore.schema.label", types=len(schema.types), pairs=len(schema.pairs)),
    }


def _pair(pair: SchemaPair, position: dict[str, int], say: Say) -> dict[str, Any]:
    return {
        "a": position[pair.first],
        "b": position[pair.second],
        "count": pair.count,
        "kinds": [[kind, kind_title(kind, say)[:_NAME], count] for kind, count in pair.kinds],
        "more": max(0, pair.n_kinds - len(pair.kinds)),
    }


def _words(schema: Schema, say: Say) -> dict[str, Any]:
    columns = [say(f"explore.schema.column.{name}") for name in ("between", "relations", "kinds")]
    return {
        "columns": columns,
        "folded": say("explore.schema.folded", n="{n}"),
        "types": say("explore.schema.more_types", n="{n}"),
        "among": say("explore.schema.among", n="{n}"),
        "entities": say("explore.schema.entities", n="{n}"),
        "and": say("explore.schema.and", first="{first}", second="{second}"),
        "more": say("explore.schema.more_kinds", n="{n}"),
        "nameless": say("explore.schema.nameless"),
        "rest": say("explore.schema.rest", n="{n}") if len(schema.pairs) > _ROWS else "",
        "legend": [say(f"explore.schema.legend.{name}") for name in ("type", "kind", "pair", "chosen", "folded")],
    }
