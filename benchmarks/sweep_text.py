"""The report on clustersize and tau, from results/sweeps.json: every figure and every verdict in it is computed."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

QUALITY = {
    "evidence-recall": "evidence recall@C",
    "answer-in-context": "answer in the context",
    "answer-entities": "entities of the answer (whole-corpus questions)",
}
TOKENS, PER_1000 = "context-tokens", "recall-per-1000"
AXES = {"cluster_size": "clustersize", "tau": "tau"}
_INTRODUCTION = """\
The paper leaves to future work how clustersize and tau influence LeanRAG. Both are swept here over {n} sample
corpora whose graphs were written by hand, so that errors of an extractor play no part: {graphs}.

LeanRAG has its default options everywhere. Intervals are 95 % bootstrap intervals over questions; settings are
compared by Wilcoxon's signed-rank test on the same questions, corrected after Holm. *Cannot be told apart* means p of
.05 or more: with some thirty questions a small difference would not be seen, so it does not mean equal. The sweeps come
with the program: page Evaluate, tab Sweeps. `python -m benchmarks.sweep_report --home DIR` makes them and this text.
"""
_SECTIONS = ("tokens-entities", "tokens-aggregated", "tokens-relations", "tokens-chunks")


def report_text(results: Mapping[str, Any]) -> str:
    """The report in Markdown."""
    corpora = results["corpora"]
    graphs = "; ".join(
        f"{each['corpus']} ({each['documents']} documents, {each['tokens']:,} tokens, "
        f"{each['points'][0]['nodes'][0]:,} entities, {each['questions']} questions)"
        for each in corpora
    )
    lines = [
        "# What to set: clustersize and tau",
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
    flat = [each["corpus"] for each in corpora if _is_constant(each, "evidence-recall")]
    if flat:
        lines.append(
            f"- **Evidence recall is the same at every setting** ({', '.join(flat)}): passages are taken from the seed "
            "entities, which lie in the base layer, and neither setting changes that layer."
        )
    lines.append(f"- **What a person should set:** {_advice(corpora)}")
    return lines


def _verdicts(corpora: Sequence[Mapping[str, Any]], axis: str, title: str) -> list[str]:
    told = []
    for each in corpora:
        for measure, shown in QUALITY.items():
            values = _values(each, measure, axis)
            worse = [str(value["setting"]) for value in values if not value["is_close"]]
            if worse:
                told.append(f"{shown} on {each['corpus']} is worse at {', '.join(worse)}")
    spans = []
    for each in corpora:
        values = _values(each, TOKENS, axis)
        low, high = min(values, key=lambda v: v["cost"]), max(values, key=lambda v: v["cost"])
        spans.append(
            f"{each['corpus']} from {low['cost']:,.0f} at {low['setting']} to {high['cost']:,.0f} at {high['setting']}"
        )
    effect = (
        f"{'; '.join(told)}. Elsewhere no value can be told from the best"
        if told
        else "no value can be told from the best, in any measure of what is retrieved, on any of the corpora"
    )
    return [f"- **{title}:** {effect}. Tokens of the context: {'; '.join(spans)}."]


def _advice(corpora: Sequence[Mapping[str, Any]]) -> str:
    good = {
        axis: [
            str(value["setting"])
            for place, value in enumerate(_values(corpora[0], TOKENS, axis))
            if all(_values(each, measure, axis)[place]["is_close"] for each in corpora for measure in _known(each))
        ]
        for axis in AXES
    }
    named = "; ".join(f"{title} {', '.join(good[axis]) or 'none'}" for axis, title in AXES.items())
    thrift = []
    for axis, title in AXES.items():
        cheapest = {str(min(_values(each, TOKENS, axis), key=lambda v: v["cost"])["setting"]) for each in corpora}
        if len(cheapest) == 1 and cheapest <= set(good[axis]):
            thrift.append(f"{title} {next(iter(cheapest))}")
    saving = f" Of these the shortest contexts come from {' and '.join(thrift)}." if thrift else ""
    default = "20" in good["cluster_size"] and "3" in good["tau"]
    kept = (
        " The paper's 20 and 3 are among them, so these figures give no reason to leave them for better evidence; "
        "a person who pays by the token may."
        if default
        else " The paper's 20 and 3 are not among them."
    )
    return f"values that cannot be told from the best in any measure on any corpus are {named}.{saving}{kept}"


def _known(corpus: Mapping[str, Any]) -> list[str]:
    return [measure for measure in QUALITY if measure in corpus["findings"]]


def _values(corpus: Mapping[str, Any], measure: str, axis: str) -> list[Mapping[str, Any]]:
    axes = {each["axis"]: each["values"] for each in corpus["findings"].get(measure, {"axes": []})["axes"]}
    return list(axes.get(axis, []))


def _is_constant(corpus: Mapping[str, Any], measure: str) -> bool:
    return len({point["means"][measure]["value"] for point in corpus["points"]}) == 1


def _corpus(corpus: Mapping[str, Any]) -> list[str]:
    lines = []
    for measure in _known(corpus):
        found = corpus["findings"][measure]
        n = len(found["close"])
        lines += [
            f"**{QUALITY[measure].capitalize()}**, mean and 95 % interval; best: {_shown(found['best'])}; "
            f"{n} of {len(corpus['points'])} settings cannot be told from it.",
            "",
            *_grid(corpus, lambda point, measure=measure: _interval(point["means"].get(measure))),
            "",
        ]
    lines += [
        "**Tokens of the context**, mean, and difference from clustersize 20, tau 3 with its interval.",
        "",
        *_grid(corpus, _tokens),
        "",
        "**Each setting by itself**, over all values of the other: tokens, share by section, recall for them.",
        "",
        "| setting | tokens | entities | aggregated | relations | chunks | recall per 1,000 tokens |",
        "|---|---:|---:|---:|---:|---:|---:|",
        *_marginal(corpus),
        "",
        "**Nodes by layer and seconds to build** (extraction, merging and vectors of unchanged texts kept; "
        f"other work ran on the machine, load {corpus['load']:.1f}).",
        "",
        "| clustersize | nodes by layer | seconds |",
        "|---:|---|---:|",
    ]
    for size in _settings(corpus, "cluster_size"):
        points = [point for point in corpus["points"] if point["settings"]["cluster_size"] == size]
        later = sorted(point["build_seconds"] for point in points)
        lines.append(f"| {size} | {', '.join(f'{n:,}' for n in points[0]['nodes'])} | {later[len(later) // 2]:.1f} |")
    return lines


def _marginal(corpus: Mapping[str, Any]) -> Iterable[str]:
    for axis, title in AXES.items():
        for value in _settings(corpus, axis):
            points = [point for point in corpus["points"] if point["settings"][axis] == value]
            tokens, ratio = _mean(points, TOKENS), _mean(points, PER_1000)
            shares = " | ".join(f"{_mean(points, section) / tokens:.0%}" for section in _SECTIONS)
            yield f"| {title} {value} | {tokens:,.0f} | {shares} | {_number(ratio)} |"


def _mean(points: Sequence[Mapping[str, Any]], measure: str) -> float:
    values = [point["means"][measure]["value"] for point in points if measure in point["means"]]
    return sum(values) / len(values) if values else 0.0


def _settings(corpus: Mapping[str, Any], axis: str) -> list[Any]:
    return list(dict.fromkeys(point["settings"][axis] for point in corpus["points"]))


def _grid(corpus: Mapping[str, Any], cell: Any) -> list[str]:
    sizes, taus = _settings(corpus, "cluster_size"), _settings(corpus, "tau")
    at = {(point["settings"]["cluster_size"], point["settings"]["tau"]): point for point in corpus["points"]}
    lines = [
        "| clustersize | " + " | ".join(f"tau {tau}" for tau in taus) + " |",
        "|---:|" + "---:|" * len(taus),
    ]
    return lines + [f"| {size} | " + " | ".join(cell(at[size, tau]) for tau in taus) + " |" for size in sizes]


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
    return name.replace("cluster_size", "clustersize")
