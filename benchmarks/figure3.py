"""Figure 3 of the paper made again: tokens of LeanRAG's contexts beside those of four systems, official budgets.

    python -m benchmarks.figure3 DIR QUESTIONS.jsonl [--lightrag-low] [--name NAME --out RESULTS.json]

DIR: an index; parts that a system needs are made first. QUESTIONS: one object a line with `query` or `question`; gold
is not needed, since context tokens alone are counted. Where gold is known, benchmarks/system_table.py has tokens and
recall together. LeanRAG has N, C and budgets of the paper's Mix. ratio: LeanRAG's mean over the mean of the four
others' means; the paper says that its contexts are 46 % smaller on average, a ratio of .54. --lightrag-low: LightRAG in
its mode low, which needs no vectors of relations; its contexts are a little shorter.
"""

import argparse
import json
import statistics
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.system_table import make_parts
from leanrag_core.retrieval.base import strategies
from leanrag_core.types.config import preset
from leanrag_core.types.index import Index
from leanrag_core.workbench import Workbench, open_index

LEANRAG: dict[str, tuple[str, dict[str, Any]]] = {
    "leanrag": ("leanrag", dict(preset("paper-mix").ask)),
    "leanrag, compact": ("leanrag", {**preset("paper-mix").ask, "context": "compact"}),
}
OTHERS = ("graphrag_local", "lightrag", "hirag", "fastgraphrag")  # those of the figure


def main() -> int:
    """Print a line for each system; with --out keep them under the name."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("index", type=Path)
    parser.add_argument("questions", type=Path)
    parser.add_argument("--lightrag-low", action="store_true")
    parser.add_argument("--name", default="")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    index = open_index(options.index)
    questions = read_texts(options.questions)
    tokens = measure(Workbench.default(), index, questions, options.lightrag_low)
    results: dict[str, Any] = {
        "about": {
            "questions": len(questions),
            "documents": index.documents.num_rows,
            "chunks": index.chunks.num_rows,
            "entities": len(index.layers[0]),
            "relations": index.layers[0].relations.num_rows,
            "lightrag": "low" if options.lightrag_low else "mix",
        },
        "tokens": tokens,
        "ratios": ratios({name: sections["all"] for name, sections in tokens.items()}),
    }
    for name, sections in tokens.items():
        print(f"{name:<20} {sections}")
    print(results["ratios"])
    if options.out:
        kept = json.loads(options.out.read_text(encoding="utf-8")) if options.out.is_file() else {}
        kept[options.name or index.manifest.name] = results
        options.out.write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    return 0


def read_texts(path: Path) -> list[str]:
    """Return the questions' texts."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    return [row.get("query") or row["question"] for row in rows]


def measure(
    bench: Workbench, index: Index, questions: Sequence[str], lightrag_low: bool
) -> dict[str, dict[str, float]]:
    """Return for each system the mean tokens of the context, all and by section."""
    known = {info.name: info for info in strategies().strategies}
    systems = LEANRAG | {name: (name, {}) for name in OTHERS}
    if lightrag_low:
        systems["lightrag"] = ("lightrag", {"mode": "low"})
    tokens: dict[str, dict[str, float]] = {}
    for label, (name, chosen) in systems.items():
        if chosen.get("mode") != "low":
            make_parts(bench, index, known[name].parts)
        contexts = [bench.retrieve(index, question, name, **chosen).context for question in questions]
        sections = sorted({section.name for context in contexts for section in context.sections})
        means = {"all": statistics.mean(context.tokens for context in contexts)}
        for section in sections:
            counts = [sum(each.tokens for each in context.sections if each.name == section) for context in contexts]
            means[section] = statistics.mean(counts)
        tokens[label] = {section: round(value, 1) for section, value in means.items()}
        print(f"{label}: {means['all']:,.0f}", file=sys.stderr)
    return tokens


def ratios(tokens: dict[str, float]) -> dict[str, float]:
    """Return for each form of LeanRAG its tokens over the mean of the others'."""
    others = statistics.mean(tokens[name] for name in OTHERS)
    return {name: round(tokens[name] / others, 3) for name in LEANRAG}


if __name__ == "__main__":
    sys.exit(main())
