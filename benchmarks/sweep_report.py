"""What to set: clustersize and tau, N and C swept over sample corpora with reference graphs.

    python -m benchmarks.sweep_report --home DIR [--samples agriculture mix] [--ship]   # sweeps, results, report
    python -m benchmarks.sweep_report                                                   # the report from the results

DIR: a workbench's folder, in which a sweep that was stopped goes on. --ship: the sweeps take the place of those that
come with the program (sample_corpora/sweeps). Results go to results/sweeps.json, the report to docs/sweep_report.md.
"""

import argparse
import json
import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from leanrag_core.evaluation.statistics import difference_interval, mean_interval
from leanrag_core.evaluation.sweeps.findings import findings
from leanrag_core.evaluation.tables import scores_for_mean
from leanrag_core.types.config import REFERENCE, IndexConfig
from leanrag_core.types.job import Progress
from leanrag_core.types.sweep import RETRIEVAL, Axis, SweepResult, SweepSpec
from leanrag_core.workbench import Workbench
from leanrag_core.workbench.samples import SAMPLES, sample_id

QUALITY = {
    "evidence-recall": "evidence recall@C",
    "answer-in-context": "answer in the context",
    "answer-entities": "entities of the answer (whole-corpus questions)",
}
RECALL, TOKENS, PER_1000 = "evidence-recall", "context-tokens", "recall-per-1000"
AXES = {"cluster_size": "clustersize", "tau": "tau"}
SEARCH_TITLES = {"top_n": "N", "top_c": "C"}
_NEAR = 1.1  # contexts up to a tenth longer than the shortest ones are as short
_INTRODUCTION = """\
The paper leaves to future work how clustersize and tau influence LeanRAG. Both are swept here over {n} sample
corpora whose graphs were written by hand, so that errors of an extractor play no part, and beside them N and C:

{graphs}

Everything else is at LeanRAG's defaults. What is measured is the context: whether answers that are written from it
differ is a question for judges. Intervals are 95 % bootstrap intervals over questions; settings are compared by
Wilcoxon's signed-rank test on the same questions, corrected after Holm. *Cannot be told from the best* means p of .05
or more: with some thirty questions a small difference would not be seen, so it does not mean equal.

The sweeps come with the program: page Evaluate, tab Sweeps. `python -m benchmarks.sweep_report --home DIR` makes them
and this text.
"""
_SECTIONS = ("tokens-entities", "tokens-aggregated", "tokens-relations", "tokens-chunks")


def report_text(results: Mapping[str, Any]) -> str:
    """Return the report in Markdown."""
    corpora = results["corpora"]
    graphs = "\n".join(
        f"- {each['corpus']} ({each['documents']} documents, {each['tokens']:,} tokens, "
        f"{each['points'][0]['nodes'][0]:,} entities, {each['questions']} questions)"
        for each in corpora
    )
    lines = [
        "# What to set: clustersize and tau, N and C",
        "",
        _INTRODUCTION.format(n=len(corpora), graphs=graphs),
        "## In short",
        "",
        *_in_short(corpora),
    ]
    for each in corpora:
        lines += ["", f"## {each['corpus']}", "", *_corpus(each)]
    return "\n".join(lines) + "\n"


def _in_short(corpora: Sequence[Mapping[str, Any]]) -> list[str]:
    lines = []
    for name, title in AXES.items():
        lines += _verdicts(corpora, name, title)
    for name, title in SEARCH_TITLES.items():
        lines += _verdicts([each["retrieval"] for each in corpora], name, title)
    flat = [each["corpus"] for each in corpora if _is_constant(each, "evidence-recall")]
    if flat:
        lines.append(
            f"- **Evidence recall is the same at every clustersize and tau** ({', '.join(flat)}): passages are of "
            "the seed entities, which lie in the base layer, and neither setting changes that layer."
        )
    return [*lines, *_advice(corpora)]


def _verdicts(corpora: Sequence[Mapping[str, Any]], axis: str, title: str) -> list[str]:
    sentences = []
    for each in corpora:
        for measure, shown in QUALITY.items():
            values = _values(each, measure, axis)
            worse = [str(value["setting"]) for value in values if not value["is_close"]]
            if worse:
                sentences.append(f"{shown} on {each['corpus']} is worse at {', '.join(worse)}")
    spans = []
    for each in corpora:
        values = _values(each, TOKENS, axis)
        low, high = min(values, key=lambda v: v["cost"]), max(values, key=lambda v: v["cost"])
        spans.append(
            f"{each['corpus']} from {low['cost']:,.0f} at {low['setting']} to {high['cost']:,.0f} at {high['setting']}"
        )
    effect = (
        f"{'; '.join(sentences)}. Elsewhere no value can be told from the best"
        if sentences
        else "no value can be told from the best, in any measure of what is retrieved, on any of the corpora"
    )
    return [f"- **{title}:** {effect}. Tokens of the context: {'; '.join(spans)}."]


def _advice(corpora: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return what a person should set, with the rule behind it, as lines of the report."""
    parts = []
    for axis, title in AXES.items():
        good = _good(corpora, axis)
        short = [value for value in good if all(_is_short(each, axis, value, good) for each in corpora)]
        parts.append(f"{title} {_listed(short)}")
    fronts = [each["retrieval"]["findings"][RECALL]["front"] for each in corpora]
    shared = [_shown(name) for name in fronts[0] if all(name in front for front in fronts)]
    return [
        f"- **What a person should set:** {' and '.join(parts)}. These cannot be told from the best in any measure of "
        "quality on any of the corpora, and their contexts are at most a tenth longer than the shortest of these. "
        f"The paper's 20 and 3 are {'' if '20' in parts[0] and '3' in parts[1] else 'not '}among them.",
        "- **N and C are a choice of how much to pay:** more passages find more of the evidence and make longer "
        "contexts. Settings that no other one beats in both recall and tokens, on all of the corpora: "
        f"{'; '.join(shared) or 'none'}.",
    ]


def _good(swept: Sequence[Mapping[str, Any]], axis: str) -> list[str]:
    """Return the values that cannot be told from the best in any measure of quality on any corpus."""
    return [
        str(value["setting"])
        for place, value in enumerate(_values(swept[0], TOKENS, axis))
        if all(_values(each, measure, axis)[place]["is_close"] for each in swept for measure in _known(each))
    ]


def _is_short(corpus: Mapping[str, Any], axis: str, setting: str, good: Sequence[str]) -> bool:
    """Tell whether contexts are about as short as those of the shortest good value."""
    costs = {str(value["setting"]): value["cost"] for value in _values(corpus, TOKENS, axis)}
    return bool(costs[setting] <= _NEAR * min(costs[value] for value in good))


def _listed(values: Sequence[str]) -> str:
    return ", ".join(values[:-1]) + f" or {values[-1]}" if len(values) > 1 else "".join(values) or "(no value)"


def _known(corpus: Mapping[str, Any]) -> list[str]:
    return [measure for measure in QUALITY if measure in corpus["findings"]]


def _values(corpus: Mapping[str, Any], measure: str, axis: str) -> list[Mapping[str, Any]]:
    axes = {each["axis"]: each["values"] for each in corpus["findings"].get(measure, {"axes": []})["axes"]}
    return list(axes.get(axis, []))


def _is_constant(corpus: Mapping[str, Any], measure: str) -> bool:
    return len({point["means"][measure]["value"] for point in corpus["points"]}) == 1


def _corpus(corpus: Mapping[str, Any]) -> list[str]:
    retrieval = corpus["retrieval"]
    lines = ["### Clustersize and tau", "", *_tables(corpus, AXES, "clustersize 20, tau 3")]
    lines += [
        "",
        "Nodes by layer, and seconds to build with extraction, merging and vectors of unchanged texts kept (median of "
        "the values of tau; other work ran on the machine):",
        "",
        "| clustersize | nodes by layer | seconds |",
        "|---:|---|---:|",
    ]
    for size in _settings(corpus, "cluster_size"):
        points = [point for point in corpus["points"] if point["settings"]["cluster_size"] == size]
        seconds = sorted(point["build_seconds"] for point in points)[len(points) // 2]
        lines.append(f"| {size} | {', '.join(f'{n:,}' for n in points[0]['nodes'])} | {seconds:.1f} |")
    return [*lines, "", "### N and C", "", *_tables(retrieval, SEARCH_TITLES, "N 10, C 5")]


def _tables(swept: Mapping[str, Any], axes: Mapping[str, str], compared_with: str) -> list[str]:
    """Return lines with quality and tokens at every point, then each axis by itself."""
    lines = []
    for measure in _known(swept):
        name = QUALITY[measure][:1].upper() + QUALITY[measure][1:]
        if _is_constant(swept, measure):
            same = _interval(swept["points"][0]["means"].get(measure))
            lines += [f"**{name}** is {same} at every setting.", ""]
            continue
        close, best = swept["findings"][measure]["close"], swept["findings"][measure]["best"]
        lines += [
            f"**{name}**, mean and 95 % interval; best: {_shown(best)}; {len(close)} of {len(swept['points'])} "
            "settings cannot be told from it.",
            "",
            *_grid(swept, axes, lambda point, measure=measure: _interval(point["means"].get(measure))),
            "",
        ]
    return [
        *lines,
        f"**Tokens of the context**, mean, and interval of the difference from {compared_with}.",
        "",
        *_grid(swept, axes, _tokens),
        "",
        "**Each setting by itself**, over all values of the other: recall, tokens and their share by section.",
        "",
        "| setting | recall | tokens | entities | aggregated | relations | chunks | recall per 1,000 tokens |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
        *_marginal(swept, axes),
    ]


def _marginal(corpus: Mapping[str, Any], axes: Mapping[str, str]) -> Iterable[str]:
    for axis, title in axes.items():
        recalls = {value["setting"]: _interval(value["value"]) for value in _values(corpus, RECALL, axis)}
        for value in _settings(corpus, axis):
            points = [point for point in corpus["points"] if point["settings"][axis] == value]
            tokens, ratio = _mean(points, TOKENS), _mean(points, PER_1000)
            shares = " | ".join(f"{_mean(points, section) / tokens:.0%}" for section in _SECTIONS)
            yield f"| {title} {value} | {recalls[value]} | {tokens:,.0f} | {shares} | {_number(ratio)} |"


def _mean(points: Sequence[Mapping[str, Any]], measure: str) -> float:
    values = [point["means"][measure]["value"] for point in points if measure in point["means"]]
    return sum(values) / len(values) if values else 0.0


def _settings(corpus: Mapping[str, Any], axis: str) -> list[Any]:
    return list(dict.fromkeys(point["settings"][axis] for point in corpus["points"]))


def _grid(corpus: Mapping[str, Any], axes: Mapping[str, str], cell: Any) -> list[str]:
    (down, down_title), (across, across_title) = axes.items()
    at = {(point["settings"][down], point["settings"][across]): point for point in corpus["points"]}
    columns = _settings(corpus, across)
    lines = [
        f"| {down_title} | " + " | ".join(f"{across_title} {value}" for value in columns) + " |",
        "|---:|" + "---:|" * len(columns),
    ]
    for row in _settings(corpus, down):
        lines.append(f"| {row} | " + " | ".join(cell(at[row, value]) for value in columns) + " |")
    return lines


def _interval(mean: Mapping[str, Any] | None) -> str:
    if mean is None:
        return "–"
    return f"{_number(mean['value'])} ({_number(mean['low'])} to {_number(mean['high'])})"


def _tokens(point: Mapping[str, Any]) -> str:
    mean, difference = point["means"][TOKENS], point["differences"][TOKENS]
    shown = f"{mean['value']:,.0f}"
    if not difference["value"]:
        return shown
    return f"{shown} ({difference['low']:+,.0f} to {difference['high']:+,.0f})"


def _number(value: float) -> str:
    return f"{value:.2f}".removeprefix("0") if value < 0.995 else f"{value:.2f}"


def _shown(name: str) -> str:
    for axis, title in (AXES | SEARCH_TITLES).items():
        name = name.replace(axis, title)
    return name


FOLDER = Path(__file__).parent
RESULTS, REPORT = FOLDER / "results" / "sweeps.json", FOLDER.parent / "docs" / "sweep_report.md"
HIERARCHY = (Axis("cluster_size", (5, 10, 20, 30, 50)), Axis("tau", (1, 2, 3, 5, 8)))
SEARCH = (Axis("top_n", (3, 5, 10, 15, 20), RETRIEVAL), Axis("top_c", (3, 5, 8, 10, 15), RETRIEVAL))
MEASURES = ("evidence-recall", "answer-in-context", "answer-entities", "recall-per-1000", "context-tokens",
            "tokens-entities", "tokens-aggregated", "tokens-relations", "tokens-chunks", "repeated-share")  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> int:
    """Sweep where a home is named; then write the report."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.sweep_report", description=__doc__)
    parser.add_argument("--home", type=Path)
    parser.add_argument("--samples", nargs="+", default=["agriculture", "mix"])
    parser.add_argument("--ship", action="store_true")
    options = parser.parse_args(arguments)
    if options.home:
        bench = Workbench(options.home)
        swept = []
        corpora = []
        for sample in options.samples:
            hierarchy, search = (
                _swept(bench, sample, title, axes)
                for title, axes in (("clustersize x tau", HIERARCHY), ("N x C", SEARCH))
            )
            swept += [hierarchy, search]
            retrieval = _figures(bench, search, "top_n 10, top_c 5")
            corpora.append({**_figures(bench, hierarchy, "cluster_size 20, tau 3"), "retrieval": retrieval})
        text = json.dumps({"corpora": corpora}, indent=1, ensure_ascii=False)
        RESULTS.write_text(text + "\n", encoding="utf-8")
        if options.ship:
            _ship(bench, swept)
    REPORT.write_text(report_text(json.loads(RESULTS.read_text(encoding="utf-8"))), encoding="utf-8")
    return 0


def _swept(bench: Workbench, sample: str, title: str, axes: tuple[Axis, ...]) -> SweepResult:
    corpora = {corpus.id: corpus for corpus in bench.corpora.all()}
    corpus = corpora[sample_id(sample)]
    spec = SweepSpec(
        f"{corpus.name}: {title}",
        axes,
        corpus.id,
        corpus=corpus.id,
        config=IndexConfig(model=REFERENCE),
    )

    def said(progress: Progress) -> None:
        if progress.total and (progress.done == progress.total or progress.done % 100 == 0):
            print(sample, progress.stage, progress.done, progress.total, file=sys.stderr, flush=True)

    return bench.sweeps.run(spec, said)


def _figures(bench: Workbench, result: SweepResult, compared_with: str) -> Mapping[str, Any]:
    """Return what the report needs of a sweep. compared_with: the point whose differences are reported."""
    card = bench.corpora.summary(result.spec.corpus)
    default = result.at(compared_with)
    assert default is not None
    points = []
    for point in result.points:
        assert point.index is not None
        assert point.build is not None
        means, differences = {}, {}
        for measure in MEASURES:
            scores, base = (
                scores_for_mean(measure, lambda name, of=of: of.scores.get(name, ()))  # type: ignore[misc]
                for of in (point, default)
            )
            interval = mean_interval(scores, result.spec.seed) if scores else None
            if not base or interval is None:
                continue
            means[measure] = _rounded(interval)
            if measure == TOKENS:
                differences[measure] = _rounded(difference_interval(scores, base, result.spec.seed))
        points.append(
            {
                "name": point.point.name,
                "settings": dict(point.point.settings),
                "nodes": list(point.index.entities),
                "build_seconds": point.build.seconds,
                "means": means,
                "differences": differences,
            }
        )
    shown = {measure: asdict(findings(result, measure)) for measure in (*QUALITY, TOKENS)}
    return {
        "corpus": card.name,
        "documents": card.documents,
        "tokens": card.tokens,
        "questions": len(result.questions),
        "versions": dict(result.versions),
        "points": points,
        "findings": {measure: _short(table) for measure, table in shown.items()},
    }


def _short(table: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what the report needs of findings: the best, which cannot be told from it, what each axis does."""
    axes = [
        {
            "axis": axis["axis"],
            "values": [
                {
                    "setting": value["setting"],
                    "value": _rounded(value["value"]),
                    "cost": round(value["cost"], 1),
                    "p": round(value["p"], 4),
                    "is_close": value["is_close"],
                }
                for value in axis["values"]
            ],
        }
        for axis in table["axes"]
    ]
    close = [point["name"] for point in table["points"] if point["is_close"]]
    front = [point["name"] for point in table["points"] if point["is_front"]]
    return {"best": table["best"], "cheapest": table["cheapest"], "close": close, "front": front, "axes": axes}


def _rounded(interval: Any) -> Any:
    values = interval if isinstance(interval, dict) or interval is None else asdict(interval)
    return values and {
        name: round(value, 4) if isinstance(value, float) else value
        for name, value in values.items()
        if name != "level"
    }


def _ship(bench: Workbench, results: Sequence[SweepResult]) -> None:
    target = SAMPLES / "sweeps"
    shutil.rmtree(target, ignore_errors=True)
    for result in results:
        folder = bench.sweeps.store.folder(result.id)
        shutil.copytree(folder, target / result.id, ignore=shutil.ignore_patterns("indexes", ".*"))
        for path in (target / result.id).rglob("*"):
            path.chmod(0o755 if path.is_dir() else 0o644)


if __name__ == "__main__":
    sys.exit(main())
