"""The authors' released code beside their paper, option by option, on one corpus.

    python -m benchmarks.as_released HOME CORPUS QUESTIONS.jsonl [--model reference] [--titles CORPUS.jsonl]
        [--rows OPTION ...] [--name NAME --out RESULTS.json]

HOME, CORPUS: a program home and the name or id of a corpus in it; indexes are built there and kept. Each option alone
takes the released value, then all of them do. Layers: entities of each layer. Joined: share of pairs of seeds whose
paths meet; below the root: of pairs that meet below it. Tokens and recall as in system_table.py, top-N 10, top-C 5.
UMAP needs the package umap-learn; without it those rows are left out, and said to be. --out keeps a row as soon as it
is measured; --rows measures these alone, and the others stay.
"""

import argparse
import json
import statistics
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

from benchmarks.system_table import Asked, context_recall, ranking_places, read_questions
from leanrag_core.errors import InvalidConfig
from leanrag_core.retrieval.leanrag_paths import joined_pairs
from leanrag_core.retrieval.strategies.leanrag import RELEASED
from leanrag_core.types.config import IndexConfig, preset
from leanrag_core.types.index import Index
from leanrag_core.workbench import Workbench

# What differs in the index, in the order of the table; the paper's mixture is plain.
PLAIN: dict[str, Any] = {"tau": "3", "size_cap": False, "smoothing": 0, "singletons": "keep"}
PAPER = "paper"
REFERENCE: dict[str, Any] = {"cluster_engine": "reference"}
INDEX_OPTIONS: dict[str, dict[str, Any]] = {
    "relation_rule": {"relation_rule": "released"},
    "max_layers": {"max_layers": "released"},
    "covariance and starts": {**REFERENCE, "covariance": "full", "starts": "released"},
    "reduction (UMAP)": {**REFERENCE, "reduction": "umap"},
    "cluster_count (BIC)": {**REFERENCE, "cluster_count": "bic"},
    "stop_rule": {"stop_rule": "released"},
    "singletons": {"singletons": "released"},
    "relation_input": {"relation_input": "findings"},
    "concatenation": {"concatenation": "records"},
    "singleton_relations": {"singleton_relations": "dropped"},
}


@dataclass(frozen=True)
class Row:
    """A line of the table."""

    option: str
    layers: tuple[int, ...]
    summarised: int
    joined: float
    joined_below_root: float
    tokens: float
    recall_5: float
    context_recall: float
    questions: int


def main() -> int:
    """Print the rows; with --out add them to the results under the name."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("home", type=Path)
    parser.add_argument("corpus")
    parser.add_argument("questions", type=Path)
    parser.add_argument("--model", default="builtin")
    parser.add_argument("--titles", type=Path)
    parser.add_argument("--rows", nargs="*", default=[])
    parser.add_argument("--name", default="")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    bench = Workbench.default(options.home)
    corpus = next(each.id for each in bench.corpora.all() if options.corpus in (each.name, each.id))
    questions = read_questions(options.questions, options.titles)

    def add(name: str, settings: dict[str, Any], asked: dict[str, Any]) -> None:
        if options.rows and name not in options.rows:
            return
        try:
            index = bench.build(corpus, IndexConfig(model=options.model, **{**PLAIN, **settings}))
        except InvalidConfig as error:
            print(f"{name}: left out, {error}", file=sys.stderr)
            return
        row = measure(bench, index, questions, name, asked)
        print(line(row), flush=True)
        if options.out:
            keep(options.out, options.name or options.corpus, row)

    add(PAPER, {}, {})
    for name, settings in INDEX_OPTIONS.items():
        add(name, settings, {})
    for name, value in RELEASED.items():
        if name != "max_tokens":
            extra = {"max_tokens": RELEASED["max_tokens"]} if name == "budgets" else {}
            add(f"{name} (question)", {}, {name: value, **extra})
    released = {key: value for key, value in preset("released").index.items() if not key.endswith("tokens")}
    add("all of the question's", {}, dict(RELEASED))
    # A full covariance for each cluster says nothing in so many dimensions, and takes hours.
    add("all, without UMAP", {**released, "reduction": "pca", "covariance": "tied", "starts": "one"}, dict(RELEASED))
    add("all", released, dict(RELEASED))
    return 0


def keep(path: Path, name: str, row: Row) -> None:
    """Write the row to the results; other rows of the same name stay, in their order."""
    results = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    rows = {each["option"]: each for each in results.get(name, ())}
    rows[row.option] = asdict(row)
    results[name] = list(rows.values())
    path.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


def measure(bench: Workbench, index: Index, questions: Sequence[Asked], name: str, asked: dict[str, Any]) -> Row:
    """Return the figures of LeanRAG with those options on that index."""
    places_of = ranking_places(index)
    joined, below, tokens, recall, held = [], [], [], [], []
    top = len(index.layers) - 1
    for question in questions:
        trace = bench.retrieve(index, question.text, "leanrag", **asked)
        seeds = [(seed.layer or 0, seed.row or 0) for seed in trace.with_role("seed")]
        n_pairs = len(seeds) * (len(seeds) - 1) // 2
        chains = [{seed, *index.ancestors(*seed)} for seed in seeds]
        if n_pairs:
            stuck = index.manifest.config.singletons == "released"
            met = joined_pairs(index, seeds) if stuck else list(combinations(range(len(seeds)), 2))
            joined.append(len(met) / n_pairs)
            shared = (chains[first] & chains[second] for first, second in met)
            below.append(sum(any(layer < top for layer, _ in nodes) for nodes in shared) / n_pairs)
        places = places_of(trace, question)
        recall.append(statistics.mean(place is not None and place <= 5 for place in places))
        held.append(context_recall(trace, question))
        tokens.append(trace.context.tokens)
    return Row(
        option=name,
        layers=tuple(len(layer) for layer in index.layers),
        summarised=sum(layer.relations["kind"].to_pylist().count("summarised") for layer in index.layers[1:]),
        joined=round(statistics.mean(joined), 3) if joined else 0.0,
        joined_below_root=round(statistics.mean(below), 3) if below else 0.0,
        tokens=round(statistics.mean(tokens)),
        recall_5=round(statistics.mean(recall), 3),
        context_recall=round(statistics.mean(held), 3),
        questions=len(questions),
    )


def line(row: Row) -> str:
    """Return the row as a line for the terminal."""
    layers = "/".join(map(str, row.layers))
    return (
        f"{row.option:<36} {layers:<28} summarised {row.summarised:>5}  joined {row.joined:.3f} "
        f"(below the root {row.joined_below_root:.3f})  {row.tokens:>6.0f} tok  r@5 {row.recall_5:.3f}  "
        f"ctx {row.context_recall:.3f}"
    )


if __name__ == "__main__":
    sys.exit(main())
