"""Writes the tables of the pages below from the results, so that they cannot differ.

    python -m benchmarks.tables

A table replaces what is between the lines `<!-- table NAME -->` and `<!-- end -->` of a page.
"""

import json
import re
import statistics
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks import small_models, speed_tables
from benchmarks.speed_tables import markdown

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "benchmarks" / "results"
PAGES = (
    ROOT / "docs" / "comparison.md",
    ROOT / "docs" / "comparison_tables.md",
    ROOT / "docs" / "as_released.md",
    ROOT / "docs" / "gate.md",
    ROOT / "docs" / "models.md",
    ROOT / "docs" / "scale.md",
    ROOT / "benchmarks" / "README.md",
)
SAMPLES = ("agriculture", "cs", "legal", "mix")
OFFICIAL, EQUAL, LARGER = "official", "4000 tokens", "8000 tokens"
_PLACE = re.compile(r"(<!-- table (?P<name>[^>]*?) -->\n).*?(<!-- end -->)", re.DOTALL)
_FIGURES = (
    "recall_5",
    "all_gold_8",
    "mrr",
    "context_recall",
    "answer",
    "tokens",
    "milliseconds",
    "processor_milliseconds",
)
_CONTEXTS = (
    "vectors C 5",
    "vectors C 10",
    "LeanRAG C 5",
    "LeanRAG C 5, compact",
    "LeanRAG-walk C 5",
    "LeanRAG-walk C 5, compact",
    "LeanRAG-walk C 8, compact",
)
_ALIKE = {("LightRAG", "high"), ("LightRAG", "hybrid")}  # modes that agree as its mode mix does
_WHOLE = ("documents_touched", "answer_entities", "whole_corpus_tokens")
_HEADS = ("system", "recall@5", "all-gold@8", "MRR", "in context", "answer", "tokens", "recall per 1,000", "p50 ms")

Row = Mapping[str, Any]


def main() -> int:
    """Write every table anew."""
    for page in PAGES:
        page.write_text(filled(page.read_text(encoding="utf-8")), encoding="utf-8")
    return 0


def filled(text: str) -> str:
    """Return the page with its tables as the results have them."""
    return _PLACE.sub(lambda place: f"{place[1]}{table_of(place['name'])}\n{place[3]}", text)


def table_of(name: str) -> str:
    """Return the table of that name: `figure3`, `agreement`, `minirag_rules`, `contexts`, `released DATA`,
    `whole GRAPH`, `official DATA`, `equal DATA`, or one of benchmarks.speed_tables."""
    kind, _, dataset = name.partition(" ")
    made: Mapping[str, Callable[[str], str]] = {
        "figure3": lambda _: figure3(_read("figure3"), _read("systems")),
        "released": lambda dataset: released(_read("as_released")[dataset]),
        "whole": lambda graph: whole_corpus(rows_of(_read("systems"), f"samples, {graph}")),
        "official": lambda dataset: systems(rows_of(_read("systems"), dataset), OFFICIAL),
        "equal": lambda dataset: systems(rows_of(_read("systems"), dataset), EQUAL),
        "agreement": lambda _: agreement(_read("agreement")),
        "minirag_rules": lambda _: minirag_rules(_read("minirag_rules")),
        "contexts": lambda _: contexts(_read("contexts")),
        "imported": lambda _: imported(_read("imported_graphs")),
        "latency": lambda _: speed_tables.latency(_read),
        "pages": lambda _: speed_tables.pages(_read),
        "imports": lambda _: speed_tables.imports(_read),
        "opening": lambda _: speed_tables.opening(_read),
        "clustering": lambda _: speed_tables.clustering(_read),
        "growth": lambda _: speed_tables.growth(_read),
        "gate": lambda _: speed_tables.gates(_read),
        "scopes": lambda _: speed_tables.scopes(_read),
        "extraction": lambda _: small_models.extraction_table(_read("small_models")),
        "model": lambda _: small_models.answer_table(_read("small_models")),
    }
    return made[kind](dataset)


def agreement(results: Mapping[str, Any]) -> str:
    """Return a line for each index, system, mode and kind of items; modes that agree as others do are left out."""
    heads = ("index", "system", "items", "at 5", "at 10", "at 20", "all", "RBO", "smallest", "same", "questions")
    figures = ("at_5", "at_10", "at_20", "at_all", "rbo", "least", "identical")
    lines = []
    for index, made in results.items():
        rows = [row for row in made["rows"] if (row["system"], row["mode"]) not in _ALIKE]
        modes: dict[str, set[str]] = {}
        for row in rows:
            modes.setdefault(row["system"], set()).add(row["mode"])
        for row in sorted(rows, key=lambda row: str(row["system"]).lower()):
            name = row["system"] if len(modes[row["system"]]) == 1 else f"{row['system']}, {row['mode']}"
            lines.append((index, name, row["kind"], *(share(row[each]) for each in figures), str(row["questions"])))
    return markdown(heads, lines, texts=3)


def minirag_rules(results: Mapping[str, Any]) -> str:
    """Return a line for each rule of MiniRAG's release, alone and left out, on each index."""
    heads = (
        "index",
        "rule of the release",
        "it alone: as ours",
        "as the release",
        "all but it: as the release",
        "same",
    )
    lines = []
    for index, made in results.items():
        rows = {row["rules"]: row for row in made["rows"]}
        for name, row in rows.items():
            if name.startswith("all but "):
                continue
            but = rows.get(f"all but {name}")
            beside = ("", "") if but is None else (share(but["theirs"]), share(but["identical_to_theirs"], 2))
            lines.append((index, name.replace("_", " "), share(row["ours"]), share(row["theirs"]), *beside))
    return markdown(heads, lines, texts=2)


def contexts(results: Mapping[str, Any]) -> str:
    """Return the table of what LeanRAG's contexts hold for their tokens, beside vectors, on each index."""
    rows = []
    for index, made in results.items():
        shown = [name for name in _CONTEXTS if name in made["systems"]]
        for place, name in enumerate(shown):
            system = made["systems"][name]
            is_vectors = name.startswith("vectors")
            rows.append(
                (
                    index if place == 0 else "",
                    name,
                    f"{system['tokens']:,.0f}",
                    f"{system['recall']['value']:.3f}",
                    f"{system['answered']['value']:.3f}",
                    f"{system['recall_per_1000']['value']:.2f}",
                    "" if is_vectors else _interval(system["answered_beside_equal_tokens"], "+.3f"),
                    "" if is_vectors else _interval(system["tokens_at_equal_recall"], ".2f"),
                )
            )
    head = ("index", "system", "tokens", "recall", "answer", "recall per 1,000 tokens", "answers beside equal tokens")
    return markdown((*head, "tokens at equal recall"), rows)


def _interval(given: Mapping[str, float] | None, form: str) -> str:
    return f"{given['value']:{form}} [{given['low']:{form}}, {given['high']:{form}}]" if given else "–"


def rows_of(results: Mapping[str, Any], dataset: str) -> list[Row]:
    """Return the rows of a data set; `samples, GRAPH` is the mean of the four samples, each question alike."""
    if not dataset.startswith("samples, "):
        return list(results[dataset]["rows"])
    graph = dataset.removeprefix("samples, ")
    by_key: dict[tuple[str, str], list[Row]] = {}
    for sample in SAMPLES:
        for row in results[f"{sample}, {graph}"]["rows"]:
            by_key.setdefault((row["system"], row["budget"]), []).append(row)
    return [joined(rows) for rows in by_key.values() if len(rows) == len(SAMPLES)]


def joined(rows: Sequence[Row]) -> Row:
    """Return one row over the questions of all rows; milliseconds are the mean of the medians."""
    made: dict[str, Any] = {"system": rows[0]["system"], "budget": rows[0]["budget"]}
    for names, count in ((_FIGURES, "questions"), (_WHOLE, "whole_corpus_questions")):
        made[count] = sum(row[count] for row in rows)
        for name in names:
            known = [(row[name], row[count]) for row in rows if row[name] is not None]
            total = sum(n for _, n in known)
            made[name] = sum(value * n for value, n in known) / total if total else None
    enough = made["tokens"] and made["context_recall"] is not None
    made["recall_per_1000"] = made["context_recall"] / (made["tokens"] / 1000) if enough else None
    return made


def systems(rows: Iterable[Row], budget: str) -> str:
    """Return a table of the systems, by gold in context (official: per 1,000 tokens), those without passages last."""
    chosen = [row for row in rows if row["budget"] == budget]
    by = "recall_per_1000" if budget == OFFICIAL else "context_recall"
    chosen.sort(key=lambda row: (row[by] is None, -(row[by] or 0), row["system"]))
    return markdown(
        _HEADS,
        [
            (
                row["system"],
                share(row["recall_5"]),
                share(row["all_gold_8"], 2),
                share(row["mrr"], 2),
                share(row["context_recall"]),
                share(row["answer"], 2),
                f"{row['tokens']:,.0f}",
                share(row["recall_per_1000"]),
                f"{row['milliseconds']:,.0f}",
            )
            for row in chosen
        ],
    )


def whole_corpus(rows: Iterable[Row]) -> str:
    """Return a table with a line for each system, which has both budgets."""
    by_system: dict[str, dict[str, Row]] = {}
    for row in rows:
        by_system.setdefault(row["system"], {})[row["budget"]] = row
    heads = ("system", "tokens", "documents", "entities", "tokens, equal", "documents, equal", "entities, equal")
    lines = []
    for system, both in sorted(by_system.items(), key=lambda pair: -(pair[1][EQUAL]["answer_entities"] or 0)):
        cells = [system]
        for budget in (OFFICIAL, EQUAL):
            row = both[budget]
            reads = row["context_recall"] is not None  # systems that give no passages touch no document
            cells += [
                f"{row['whole_corpus_tokens']:,.0f}",
                share(row["documents_touched"] if reads else None, 2),
                share(row["answer_entities"], 2),
            ]
        lines.append(cells)
    return markdown(heads, lines)


def figure3(measured: Mapping[str, Any], tables: Mapping[str, Any]) -> str:
    """Return the tokens of LeanRAG and of the four others, and for data with gold the recall in their contexts."""
    others = ("graphrag_local", "lightrag", "hirag", "fastgraphrag")
    names = ("leanrag", "leanrag, compact", *others)
    lines = []
    for dataset, result in measured.items():
        tokens = {name: result["tokens"][name]["all"] for name in names}
        lines.append([*_figure3_line(dataset, tokens, {}, others), "–"])
    for dataset in ("hotpot", "multihoprag", "lihua", "samples, builtin", "samples, reference"):
        rows = rows_of(tables, dataset) if dataset.startswith("samples") or dataset in tables else []
        official = {row["system"]: row for row in rows if row["budget"] == OFFICIAL}
        if set(names) <= official.keys():
            tokens = {name: official[name]["tokens"] for name in names}
            recall = {name: official[name]["context_recall"] for name in names}
            larger = [
                f"{row['tokens']:,.0f} ({share(row['context_recall'], 2)})"
                for row in rows
                if row["system"] == "leanrag, compact" and row["budget"] == LARGER
            ]
            lines.append([*_figure3_line(dataset, tokens, recall, others), *(larger or ["–"])])
    heads = ("data", *names, "ratio, full", "ratio, compact", "leanrag, compact, up to 8,000")
    return markdown(heads, lines)


def _figure3_line(
    dataset: str, tokens: Mapping[str, float], recall: Mapping[str, float], others: Sequence[str]
) -> list[str]:
    mean = statistics.mean(tokens[name] for name in others)
    cells = [f"{tokens[name]:,.0f}" + (f" ({share(recall[name], 2)})" if recall else "") for name in tokens]
    return [dataset, *cells, share(tokens["leanrag"] / mean, 2), share(tokens["leanrag, compact"] / mean, 2)]


def released(rows: Iterable[Row]) -> str:
    """Return a table with a line for each option."""
    heads = ("option", "layers", "summarised", "pairs joined", "below the root", "tokens", "recall@5", "in context")
    return markdown(
        heads,
        [
            (
                row["option"],
                " / ".join(f"{n:,}" for n in row["layers"]),
                f"{row['summarised']:,}",
                share(row["joined"], 2),
                share(row["joined_below_root"], 2),
                f"{row['tokens']:,.0f}",
                share(row["recall_5"]),
                share(row["context_recall"]),
            )
            for row in rows
        ],
    )


def imported(results: Mapping[str, Any]) -> str:
    """Return a table with a line for each imported graph."""
    heads = (
        "graph",
        "entities of rows",
        "relations of rows",
        "dangling",
        "same pair",
        "chunks",
        "communities",
        "layers",
        "s",
        "promises broken",
        "strategies that answer",
    )
    lines = []
    for name, row in sorted(results.items()):
        answered = row["strategies"] - len(row["failed"]) - len(row["empty"])
        lines.append(
            [
                name,
                f"{row['entities']:,} of {row['entity_rows']:,}",
                f"{row['relations']:,} of {row['relation_rows']:,}",
                *(f"{row[key]:,}" for key in ("dangling", "duplicate_relations", "chunks", "communities")),
                " / ".join(f"{n:,}" for n in row["layers"]),
                f"{row['seconds']:.0f}",
                str(len(row["broken"])),
                f"{answered} of {row['strategies']}",
            ]
        )
    return markdown(heads, lines)


def share(value: float | None, places: int = 3) -> str:
    """Return a share without its leading zero, a dash where there is none."""
    if value is None:
        return "–"
    text = f"{value:.{places}f}"
    return text.removeprefix("0") if text.startswith("0.") else text


def _read(name: str) -> Any:
    return json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))


if __name__ == "__main__":
    sys.exit(main())
