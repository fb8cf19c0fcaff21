"""The values of a play as its script reads them: the same in Python as in play_values.js."""

from typing import Any

_STRINGS = ("id", "role", "kind", "colour", "shape", "source", "target", "card", "parent", "change")
_STRING_LISTS = ("members", "items", "relations", "focus")


def unpacked(sent: dict[str, Any]) -> dict[str, Any]:
    """Return lists of records, items and lines by id; n_seeds: ranked items that are no cards."""
    strings = sent["strings"]

    def value(name: str, held: Any) -> Any:
        if name in _STRING_LISTS:
            return [strings[place] for place in held]
        return strings[held] if name in _STRINGS else held

    def records(columns: dict[str, list[Any]]) -> list[dict[str, Any]]:
        rows = zip(*columns.values(), strict=True)
        return [
            {name: value(name, held) for name, held in zip(columns, row, strict=True) if held is not None}
            for row in rows
        ]

    items = {item["id"]: item for item in records(sent["items"])}
    frames = [{"rest": "", "items": [], "relations": [], "focus": []} | frame for frame in records(sent["frames"])]
    layouts = [graph | {part: records(graph[part]) for part in ("nodes", "edges", "rows")} for graph in sent["layouts"]]
    cards = [band | {part: records(band[part]) for part in ("cards", "threads")} for band in sent["cards"]]
    lists = {name: records(sent[name]) for name in ("segments", "sections", "signs", "spans")}
    lines = {line["id"]: line["about"] for line in records(sent["lines"])}
    n_seeds = sum("rank" in item and not item["is_card"] for item in items.values())
    changed = {name: [strings[place] for place in sent[name]] for name in ("entered", "left")}
    made = {"items": items, "frames": frames, "layouts": layouts, "cards": cards, "lines": lines, "n_seeds": n_seeds}
    return {**sent, **lists, **changed, **made}
