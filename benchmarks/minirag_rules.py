"""MiniRAG's ranking of chunks, path by path, with each rule as its release has it or as our strategy has it.

    python -m benchmarks.minirag_rules DIR QUESTIONS.jsonl [--limit 40] [--peers-env FOLDER]
        [--name NAME --out RESULTS.json]

Runs the release as `benchmarks.agreement` does and says, for each rule that it has otherwise than our strategy, what
taking it over changes. With none of them the ranking should be ours, with all of them the release's: then these rules
are all that differs. Agreement is the overlap of the first ten chunks, and the share of questions with the same list.
"""

import argparse
import json
import statistics
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields, replace
from itertools import pairwise
from pathlib import Path

import numpy as np

from benchmarks.agreement import given_of, overlap, released, retrieved
from benchmarks.frame import circumstances, table
from benchmarks.peers.environments import peers
from benchmarks.peers.given import Given, GivenQuestion

_TOP_K, _LEAST_COSINE, _ISOLATED = 60, 0.2, 0.2
_CHUNKS_EACH, _CHUNKS, _LEAST_MENTIONS = 3, 30, 5
_FIRST, _NEAR = 2, 10
_PEER = "minirag_retrieval"
_DEPTH = 10


@dataclass(frozen=True)
class Rules:
    """What the release does otherwise than our strategy; True is the release's way.

    last_path: the chunks of a start are those of its last path alone, not of all its paths.
    first_pass: the chunks of an entity beyond the start count on the first path alone that passes it, and all of them;
        ours count on each path, of more than five the nearer half.
    first_vote: of several voted edges of a path the chunks of the first alone.
    one_direction: an edge is on a path in the direction alone in which it is stored.
    last_cosine: an entity near to two names has the cosine to the last of them for both.
    order_of_finding: equal scores stay in the order in which they were found; ours go by the chunks' cosines.
    needs_last_name: nothing is found where no entity is near to the last name, or no relation to the question.
    """

    last_path: bool = False
    first_pass: bool = False
    first_vote: bool = False
    one_direction: bool = False
    last_cosine: bool = False
    order_of_finding: bool = False
    needs_last_name: bool = False


RELEASED = Rules(*(True for _ in fields(Rules)))


@dataclass(frozen=True, eq=False)
class _Asked:
    """A question with cosines: lists: for each name the entities near to it, best first. voted: relations near to it.
    nearest: chunks, all of them, best first, by row their place. is_near: the nearest chunks."""

    lists: list[dict[int, float]]
    answers: set[int]
    voted: list[int]
    place: dict[int, int]
    is_near: set[int]


class Ranking:
    """The graph that is given, as paths need it."""

    def __init__(self, given: Given) -> None:
        """Keep the neighbours of each entity in the order in which relations come."""
        self.given = given
        self.vector_of = dict(zip(given.texts, given.vectors["texts"], strict=True))
        self.neighbours: list[dict[int, None]] = [{} for _ in given.entities]
        for relation in given.relations:
            self.neighbours[relation.source][relation.target] = None
            self.neighbours[relation.target][relation.source] = None

    def chunks(self, question: GivenQuestion, rules: Rules) -> tuple[int, ...]:
        """Return the rows of the chunks, best first."""
        asked = self._asked(question)
        if rules.needs_last_name and not (asked.lists[-1] and asked.voted):
            return ()
        scores: dict[int, float] = {}
        for near in asked.lists:
            for row, cosine in near.items():
                scores[row] = cosine if rules.last_cosine else max(cosine, scores.get(row, -1.0))
        candidates = set(scores)
        voted = [row for row in asked.voted if {*self._ends(row)} & (candidates | asked.answers)]
        order = list(scores) if rules.order_of_finding else sorted(scores, key=lambda row: (-scores[row], row))
        isolated = sorted((row for row in order if not self.neighbours[row]), key=lambda row: -scores[row])
        left_out = set(isolated[max(1, int(len(isolated) * _ISOLATED)) :])
        starts = [row for row in order if self.neighbours[row]] + [row for row in isolated if row not in left_out]
        passed: set[str] = set()
        brought = {row: self._brought(row, asked, voted, passed, rules) for row in starts}
        final: Counter[int] = Counter()
        for near in asked.lists:
            listed = [row for row in near if row in brought]
            total: Counter[int] = Counter()
            for number, row in enumerate(listed):
                chunks, cosine = brought[row], scores[row] if rules.last_cosine else near[row]
                factor = (1 if number else _FIRST) * (_NEAR if chunks and chunks[0] in asked.is_near else 1)
                for chunk in chunks:
                    total[chunk] += factor * cosine  # type: ignore[assignment]
            final.update(total)
        return tuple(self._best(final, _CHUNKS, asked, rules)) if final else self._dense(asked, rules)

    def _asked(self, question: GivenQuestion) -> _Asked:
        vectors, vector = self.given.vectors, self.vector_of[question.text]
        names = [self._near(vectors["names"], self.vector_of[name], _TOP_K) for name in question.mapped]
        related = self._near(vectors["relations"], vector, _TOP_K * len(names))
        nearest = np.argsort(-(vectors["chunks"] @ vector), kind="stable").tolist()
        return _Asked(
            names,
            {row for row, entity in enumerate(self.given.entities) if entity.type.lower() in question.types},
            list(related),
            {row: place for place, row in enumerate(nearest)},
            set(self._near(vectors["chunks"], vector, _TOP_K // 2)),
        )

    def _near(self, vectors: np.ndarray, vector: np.ndarray, n: int) -> dict[int, float]:
        cosines = vectors @ vector
        rows = np.argsort(-cosines, kind="stable")[:n].tolist()
        return {row: float(cosines[row]) for row in rows if cosines[row] >= _LEAST_COSINE}

    def _ends(self, row: int) -> tuple[int, int]:
        relation = self.given.relations[row]
        return relation.source, relation.target

    def _paths(self, start: int) -> Iterable[tuple[int, ...]]:
        for first in self.neighbours[start]:
            onward = [second for second in self.neighbours[first] if second != start]
            yield from ((start, first, second) for second in onward)
            if not onward:
                yield (start, first)

    def _brought(self, start: int, asked: _Asked, voted: Sequence[int], passed: set[str], rules: Rules) -> list[int]:
        """Return the best chunks of a start. passed: descriptions of the entities that earlier paths passed."""
        by_edge: dict[tuple[int, int], list[int]] = {}
        for number, row in enumerate(voted):
            source, target = self._ends(row)
            by_edge.setdefault((source, target), []).append(number)
            if not rules.one_direction:
                by_edge.setdefault((target, source), []).append(number)
        total, entities = Counter[int](), self.given.entities
        if not self.neighbours[start]:
            total.update(entities[start].chunks)
        for path in self._paths(start):
            votes = sorted(number for edge in pairwise(path) for number in by_edge.get(edge, ()))
            stated = [self.given.relations[voted[number]].chunks for number in votes]
            units = Counter(chunk for chunks in (stated[:1] if rules.first_vote else stated) for chunk in chunks)
            units.update(entities[start].chunks)
            for node in path[1:]:
                if not rules.first_pass:
                    units.update(self._nearest_half(entities[node].chunks, asked))
                elif entities[node].description not in passed:
                    passed.add(entities[node].description)
                    units.update(entities[node].chunks)
            score = 1 + len(votes) + sum(node in asked.answers for node in path)
            if rules.last_path:
                total = Counter()
            for chunk, count in units.items():
                total[chunk] += score * count
        return self._best(total, _CHUNKS_EACH, asked, rules)

    def _nearest_half(self, chunks: Sequence[int], asked: _Asked) -> list[int]:
        return sorted(chunks, key=asked.place.__getitem__)[: max(_LEAST_MENTIONS, len(chunks) // 2)]

    def _best(self, scores: Counter[int], n: int, asked: _Asked, rules: Rules) -> list[int]:
        if rules.order_of_finding:
            return [row for row, _ in scores.most_common(n)]
        return sorted(scores, key=lambda row: (-round(scores[row], 9), asked.place[row]))[:n]

    def _dense(self, asked: _Asked, rules: Rules) -> tuple[int, ...]:
        """Return what stands for chunks where no entity is near to a name: the nearest ones in ours, nothing in the
        release."""
        return () if rules.needs_last_name else tuple(sorted(asked.place, key=asked.place.__getitem__)[:_CHUNKS])


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a line for each rule; with --out keep them under the name."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("index", type=Path)
    parser.add_argument("questions", type=Path)
    parser.add_argument("--limit", type=int, default=40)
    parser.add_argument("--peers-env", type=Path)
    parser.add_argument("--timeout", type=float, default=3600.0)
    parser.add_argument("--name", default="")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args(arguments)
    from leanrag_core.workbench import Workbench, open_index

    bench, index = Workbench.default(), open_index(options.index)
    lines = [json.loads(line) for line in options.questions.read_text(encoding="utf-8").splitlines()]
    questions = [line["question"] for line in lines][: options.limit]
    [peer] = [peer for peer in peers("agreement") if peer.name == _PEER]
    with tempfile.TemporaryDirectory(prefix="leanrag-agreement-") as folder:
        given = given_of(bench, index, questions)
        given.save(Path(folder))
        made = released(peer, Path(folder), options.peers_env, timeout_seconds=options.timeout)
    theirs = [each.chunks or () for each in made.modes["mini"]]
    ours = [retrieved(bench, index, question, "minirag", {}).chunks or () for question in questions]
    ranking = Ranking(given)
    sets = {"none": Rules(), **{each.name: replace(Rules(), **{each.name: True}) for each in fields(Rules)}}
    sets |= {f"all but {each.name}": replace(RELEASED, **{each.name: False}) for each in fields(Rules)}
    sets["all"] = RELEASED
    rows = [
        asdict(_line(name, [ranking.chunks(each, rules) for each in given.questions], ours, theirs))
        for name, rules in sets.items()
    ]
    print(table(rows))
    if options.out:
        kept = json.loads(options.out.read_text(encoding="utf-8")) if options.out.is_file() else {}
        kept[options.name or index.manifest.name] = {
            **circumstances(["python", "-m", "benchmarks.minirag_rules", "INDEX", "QUESTIONS"]),
            "questions": len(questions),
            "rows": rows,
        }
        options.out.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return 0


@dataclass(frozen=True)
class Line:
    """rules: those of the release that are taken over. ours, theirs: overlap of the first ten chunks with our strategy
    and with the release; identical to each: share of questions."""

    rules: str
    ours: float
    identical_to_ours: float
    theirs: float
    identical_to_theirs: float


def _line(
    name: str, made: Sequence[Sequence[int]], ours: Sequence[Sequence[int]], theirs: Sequence[Sequence[int]]
) -> Line:
    figures = [
        round(statistics.mean(values), 3)
        for other in (ours, theirs)
        for values in (
            [overlap(own, its, _DEPTH) for own, its in zip(made, other, strict=True)],
            [float(tuple(own) == tuple(its)) for own, its in zip(made, other, strict=True)],
        )
    ]
    return Line(name, *figures)


if __name__ == "__main__":
    sys.exit(main())
