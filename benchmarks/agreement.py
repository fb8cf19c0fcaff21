"""What other systems as released retrieve on one of our indexes, beside what our strategies retrieve on it.

    python -m benchmarks.agreement DIR QUESTIONS.jsonl [--limit 40] [--peer NAME ...] [--peers-env FOLDER]
        [--name NAME --out RESULTS.json] [--show QUESTION]

DIR: an index; parts that a strategy needs are made first. QUESTIONS: a line of JSON with "question" each. Every release
gets the entities, relations, chunks and vectors of the index; in place of its language model it has the keywords and
entities that our built-in way takes from the question, in place of its embedding model our vectors. Its retrieval is
not changed.

overlap@k: shared items among the first k of both lists, over k or the length of the longer list where that is less.
RBO: extrapolated rank-biased overlap of uneven lists (Webber, Moffat and Zobel 2010, equation 32), p = .9. Two empty
lists agree, an empty one and another do not. Identical: share of questions with the same list in the same order.
"""

import argparse
import json
import statistics
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.frame import answer_of, circumstances, table
from benchmarks.peers.environments import Peer, PeerUnavailable, default_folder, interpreter, peers
from benchmarks.peers.given import (
    KINDS,
    Given,
    GivenEntity,
    GivenQuestion,
    GivenRelation,
    GivenReport,
    Retrieved,
    read_retrieved,
)
from benchmarks.system_table import make_parts
from leanrag_core.retrieval.base import strategies
from leanrag_core.retrieval.question_terms import query_entities, query_keywords
from leanrag_core.retrieval.strategies.graphrag_drift import NEAREST_REPORTS
from leanrag_core.retrieval.strategies.minirag import mapped_question
from leanrag_core.retrieval.tools import Tools
from leanrag_core.retrieval.vector_search import mean_direction, nearest_rows
from leanrag_core.types.communities import Communities, report_text
from leanrag_core.types.index import Index
from leanrag_core.workbench import Workbench

_DRIFT_LEVEL = 2  # of the communities, the default of both
_STRATEGIES = ("lightrag", "fastgraphrag", "hipporag2", "graphrag_local", "graphrag_drift", "minirag")


def given_of(bench: Workbench, index: Index, questions: Sequence[str]) -> Given:
    """Make the index's parts, and return its graph and vectors with what the built-in way takes from each question."""
    for info in strategies().strategies:
        if info.name in _STRATEGIES:
            make_parts(bench, index, info.parts)
    tools = bench.questions._tools(index)  # the vectors and parts that a strategy gets
    asked = tuple(_question(text, index, tools) for text in questions)
    texts = tuple(dict.fromkeys(text for question in asked for text in _texts(question)))
    base = index.layers[0]
    communities: Communities = tools.part("communities")
    names = unique_names(base.entities["name"].to_pylist())
    return Given(
        entities=tuple(
            GivenEntity(name, cells["type"] or "other", cells["description"] or name, tuple(index_chunks.tolist()))
            for row, (name, cells) in enumerate(zip(names, base.entities.to_pylist(), strict=True))
            for index_chunks in (base.chunks_of(row),)
        ),
        relations=tuple(
            GivenRelation(
                source,
                target,
                cells["description"] or "",
                ", ".join(cells["keywords"] or ()),
                float(cells["weight"]),
                tuple(cells["chunks"] or ()),
            )
            for (source, target), cells in zip(base.ends.tolist(), base.relations.to_pylist(), strict=True)
        ),
        passages=tuple(index.chunk(row).text for row in range(index.chunks.num_rows)),
        questions=asked,
        reports=_reports(communities),
        texts=texts,
        vectors={
            "entities": np.asarray(base.vectors),
            "names": np.asarray(tools.part("name_vectors")),
            "relations": np.asarray(tools.part("relation_vectors")),
            "chunks": np.asarray(index.chunk_vectors),
            "reports": np.asarray(communities.vectors),
            "texts": tools.embed(texts),
            **_drift_vectors(communities, tools.embed(questions)),
        },
    )


def _drift_vectors(communities: Communities, vectors: np.ndarray) -> dict[str, np.ndarray]:
    """Return what our DRIFT search has without a model for each question: the vector in place of a hypothetical report,
    and that of the first follow-up question, the title of the nearest report. vectors: (q, d) of the questions.
    """
    allowed = communities.at_level(_DRIFT_LEVEL)
    expanded, follow_ups = [], []
    for vector in vectors:
        near = nearest_rows(communities.vectors, vector, NEAREST_REPORTS).rows
        expanded.append(mean_direction(vector, communities.vectors[near]))
        first = allowed[nearest_rows(communities.vectors[allowed], expanded[-1], 1).rows]
        follow_ups.append(mean_direction(vector, communities.vectors[first]))
    return {"expanded": np.stack(expanded), "follow_ups": np.stack(follow_ups)}


def unique_names(names: Sequence[str]) -> list[str]:
    """Return the names, numbered where some release, which drops case and signs, would confuse two."""
    taken: set[str] = set()
    unique = []
    for row, name in enumerate(names):
        plain = " ".join("".join(sign if sign.isascii() and sign.isalnum() else " " for sign in name.lower()).split())
        spelt = " ".join(name.split())
        if not plain or plain in taken:
            spelt, plain = f"{spelt} {row}", f"{plain} {row}"
        taken.add(plain)
        unique.append(spelt)
    return unique


def _question(text: str, index: Index, tools: Tools) -> GivenQuestion:
    keywords, entities = query_keywords(text, tools), query_entities(text, tools)
    mapped = mapped_question(text, index.layers[0], tools)
    return GivenQuestion(
        text, keywords.low, keywords.high, entities.named, entities.generic, mapped.entities, mapped.types
    )


def _texts(question: GivenQuestion) -> tuple[str, ...]:
    """Return everything of a question that a system embeds."""
    return (
        question.text,
        ", ".join(question.low),
        ", ".join(question.high),
        *question.named,
        *question.generic,
        *question.mapped,
    )


def _reports(communities: Communities) -> tuple[GivenReport, ...]:
    return tuple(
        GivenReport(
            cells["title"],
            cells["summary"],
            report_text(cells["summary"], [(each["summary"], each["explanation"]) for each in cells["findings"]]),
            float(cells["rating"]),
            cells["level"],
            cells["parent"],
            tuple(cells["nodes"]),
        )
        for cells in communities.table.to_pylist()
    )


def retrieved(bench: Workbench, index: Index, question: str, strategy: str, options: Mapping[str, Any]) -> Retrieved:
    """Return the rows of what is in the context of our strategy, section by section.

    Of a strategy whose context is chunks alone, the relations and reports are those that it searched for.
    """
    trace = bench.retrieve(index, question, strategy, **options)
    row_of = {item.id: item.row for item in trace.items}
    row_of |= {each.id: each.row for each in trace.relations}
    sections = {
        section.name: [row_of[item.ref] for item in section.items if item.ref in row_of]
        for section in trace.context.sections
    }
    rows = {name: tuple(row for row in listed if row is not None) for name, listed in sections.items()}
    if "relations" not in rows:
        rows["relations"] = tuple(each.row for each in trace.relations if each.row is not None)
    if "communities" not in rows:
        reports = (item.row for item in trace.items if item.kind == "community")
        rows["communities"] = tuple(row for row in reports if row is not None)
    return Retrieved(rows.get("entities"), rows.get("relations"), rows.get("chunks"), rows.get("communities"))


DEPTHS = (5, 10, 20)
_P = 0.9
# One local search of DRIFT, with room for as many tokens of chunks as the release has.
_FOLLOW_UP = {"rounds": 1, "follow_ups": 1, "top_k": 20, "top_c": 50, "max_tokens": 10_800}
# For each mode of a release: our strategy and its options. What is not named is at its default, the release's value.
OURS: dict[str, dict[str, tuple[str, dict[str, Any]]]] = {
    "lightrag_retrieval": {mode: ("lightrag", {"mode": mode}) for mode in ("low", "high", "hybrid", "mix")},
    "fast_graphrag_retrieval": {"query": ("fastgraphrag", {})},
    "hipporag_retrieval": {"retrieve": ("hipporag2", {"edges": "released", "top_c": 20, "max_tokens": 64_000})},
    # It asks for 10 entities and keeps the 20 that it looks at.
    "graphrag_retrieval": {
        "local": ("graphrag_local", {"top_k": 20}),
        "drift, primer": ("graphrag_drift", {}),
        "drift, primer over our level": ("graphrag_drift", {}),
        "drift, follow-up": ("graphrag_drift", _FOLLOW_UP),
    },
    "minirag_retrieval": {"mini": ("minirag", {})},
    "nano_graphrag_retrieval": {"local": ("graphrag_local", {"top_k": 20})},
}


@dataclass(frozen=True)
class Agreement:
    """A system, a mode and a kind of items, over all questions; means but for `least`, the smallest RBO."""

    system: str
    mode: str
    kind: str
    questions: int
    at_5: float
    at_10: float
    at_20: float
    at_all: float
    rbo: float
    least: float
    identical: float
    ours: float  # items of a list
    theirs: float


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; with --out add it to the results under the name. Return 1 when a release could not be run."""
    options = _parser().parse_args(arguments)
    from leanrag_core.workbench import Workbench, open_index

    bench, index = Workbench.default(), open_index(options.index)
    lines = [json.loads(line) for line in options.questions.read_text(encoding="utf-8").splitlines()]
    questions = [line["question"] for line in lines][: options.limit]
    rows: list[Agreement] = []
    details: dict[str, Any] = {}
    failures: list[str] = []
    installed: dict[str, Mapping[str, str]] = {}
    with tempfile.TemporaryDirectory(prefix="leanrag-agreement-") as folder:
        given = given_of(bench, index, questions)
        given.save(Path(folder))
        for peer in peers("agreement"):
            if options.peer and peer.name not in options.peer:
                continue
            print(f"{peer.title}: {len(questions)} questions ...", file=sys.stderr, flush=True)
            try:
                made = released(peer, Path(folder), options.peers_env, timeout_seconds=options.timeout)
            except PeerUnavailable as error:
                failures.append(str(error))
                continue
            installed[peer.title] = made.versions
            for mode, theirs in made.modes.items():
                strategy, chosen = OURS[peer.name][mode]
                ours = [retrieved(bench, index, question, strategy, chosen) for question in questions]
                rows += agreements(peer.title, mode, ours, theirs)
                details[f"{peer.title}, {mode}"] = by_question(questions, ours, theirs)
                if options.show is not None:
                    _show(given, ours[options.show], theirs[options.show])
    print(table(asdict(row) for row in rows))
    for reason in failures:
        print(reason, file=sys.stderr)
    if options.out:
        kept = json.loads(options.out.read_text(encoding="utf-8")) if options.out.is_file() else {}
        systems = {row.system for row in rows}
        name = options.name or index.manifest.name
        former = kept.get(name, {"rows": [], "questions": {}, "versions": {}})
        kept[name] = {
            **circumstances(
                ["python", "-m", "benchmarks.agreement", "INDEX", "QUESTIONS", "--limit", str(options.limit)]
            ),
            "rows": [row for row in former["rows"] if row["system"] not in systems] + [asdict(row) for row in rows],
            "questions": former["questions"] | details,
            "versions": former["versions"] | installed,
        }
        options.out.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return int(bool(failures))


@dataclass(frozen=True)
class Released:
    """modes: what each mode of a release retrieved, question by question. versions: of what it ran with."""

    modes: Mapping[str, Sequence[Retrieved]]
    versions: Mapping[str, str]


def released(peer: Peer, folder: Path, environments: Path | None, *, timeout_seconds: float) -> Released:
    """Return what the release retrieves for what `Given.save` wrote into the folder; None for environments: those of
    the cache folder.

    Raises PeerUnavailable when it cannot be installed or ends without a result.
    """
    from benchmarks.peers.graph import write_vocabulary

    python = interpreter(peer, environments or default_folder())
    write_vocabulary(folder / "tiktoken")
    out = folder / f"{peer.name}.json"
    answer = answer_of(
        [str(python), "-m", peer.module, str(folder), str(out)],
        out,
        timeout_seconds=timeout_seconds,
        environment={"TIKTOKEN_CACHE_DIR": str(folder / "tiktoken"), "HF_HUB_OFFLINE": "1"},
    )
    if "error" in answer:
        raise PeerUnavailable(f"{peer.title}: {answer['error']}")
    return Released(read_retrieved(answer), answer["versions"])


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("index", type=Path)
    parser.add_argument("questions", type=Path)
    parser.add_argument("--limit", type=int, default=40)
    parser.add_argument("--peer", action="append", default=[])
    parser.add_argument("--peers-env", type=Path)
    parser.add_argument("--timeout", type=float, default=1800.0)
    parser.add_argument("--name", default="")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--show", type=int, help="print both lists of this question, counted from 0")
    return parser


def agreements(system: str, mode: str, ours: Sequence[Retrieved], theirs: Sequence[Retrieved]) -> list[Agreement]:
    """Return a line for each kind of items that the release retrieves."""
    rows = []
    for kind in KINDS:
        pairs = [(getattr(own, kind), getattr(other, kind)) for own, other in zip(ours, theirs, strict=True)]
        known = [(own, other) for own, other in pairs if own is not None and other is not None]
        if not known:
            continue
        at_5, at_10, at_20, at_all = (
            round(statistics.mean(overlap(own, other, depth) for own, other in known), 3) for depth in (*DEPTHS, None)
        )
        values = [rank_biased_overlap(own, other) for own, other in known]
        rows.append(
            Agreement(
                system=system,
                mode=mode,
                kind=kind,
                questions=len(known),
                at_5=at_5,
                at_10=at_10,
                at_20=at_20,
                at_all=at_all,
                rbo=round(statistics.mean(values), 3),
                least=round(min(values), 3),
                identical=round(statistics.mean(own == other for own, other in known), 3),
                ours=round(statistics.mean(len(own) for own, _ in known), 1),
                theirs=round(statistics.mean(len(other) for _, other in known), 1),
            )
        )
    return rows


def by_question(
    questions: Sequence[str], ours: Sequence[Retrieved], theirs: Sequence[Retrieved]
) -> list[dict[str, Any]]:
    """Return the RBO of each kind of items, question by question."""
    listed = []
    for question, own, other in zip(questions, ours, theirs, strict=True):
        pairs = {kind: (getattr(own, kind), getattr(other, kind)) for kind in KINDS}
        values = {kind: round(rank_biased_overlap(*pair), 3) for kind, pair in pairs.items() if None not in pair}
        listed.append({"question": question, **values})
    return listed


def overlap(first: Sequence[int], second: Sequence[int], depth: int | None) -> float:
    """Return the shared items among the first `depth` of both, over depth or, where less, the longer list's length."""
    longest = max(len(first), len(second))
    if not longest:
        return 1.0
    k = longest if depth is None else min(depth, longest)
    return len(set(first[:k]) & set(second[:k])) / k


def rank_biased_overlap(first: Sequence[int], second: Sequence[int], p: float = _P) -> float:
    """Return the extrapolated rank-biased overlap, 0 to 1; lists may differ in length and hold an item once.

    Source: Webber, Moffat and Zobel 2010, A similarity measure for indefinite rankings, equation 32.
    """
    short, long = sorted((list(first), list(second)), key=len)
    s, n = len(short), len(long)
    if not s:
        return 1.0 if not n else 0.0
    # shared[d]: items that are among the first d of both.
    shared = np.array([len(set(short[:d]) & set(long[:d])) for d in range(n + 1)], dtype=np.float64)
    depths = np.arange(1, n + 1)
    total = (shared[1:] / depths * p**depths).sum()
    beyond = np.arange(s + 1, n + 1)
    total += (shared[s] * (beyond - s) / (s * beyond) * p**beyond).sum()
    rest = ((shared[n] - shared[s]) / n + shared[s] / s) * p**n
    return float((1 - p) / p * total + rest)


def _show(given: Given, ours: Retrieved, theirs: Retrieved) -> None:
    names = [entity.name for entity in given.entities]
    labels = {"entities": names.__getitem__, "relations": lambda row: _pair(given, names, row)}
    for kind in KINDS:
        own, other = getattr(ours, kind), getattr(theirs, kind)
        if own is None or other is None:
            continue
        label = labels.get(kind, str)
        print(f"{kind}: {len(own)} and {len(other)}", file=sys.stderr)
        for place in range(min(25, max(len(own), len(other)))):
            pair = [label(listed[place]) if place < len(listed) else "" for listed in (own, other)]
            print(f"  {place + 1:>3} {pair[0][:50]:<52}{pair[1][:50]}", file=sys.stderr)


def _pair(given: Given, names: Sequence[str], row: int) -> str:
    return f"{row} {names[given.relations[row].source]} - {names[given.relations[row].target]}"


if __name__ == "__main__":
    sys.exit(main())
