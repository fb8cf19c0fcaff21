"""Do recorded replies of a language model become the graph that was once built from them?

    python -m benchmarks.recorded_extractions DATA [--json]

DATA holds folders of nano-graphrag, each with its cache of replies (kv_store_llm_response_cache.json or
mock_cache.json) and the graph that was built (graph_chunk_entity_relation.graphml). Replies of one model made the
graph; where several models are recorded, the one is taken that agrees best with it. Names are compared in capitals,
relations without direction. "rule" reads the same replies by nano-graphrag's own rule (one record between two marks,
on one line, no field empty): what only our reader finds should stand in records that this rule passes over, and the
last columns count how much of it does. A folder without a graph is compared with that rule alone.
"""

import argparse
import html
import json
import re
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from leanrag_core.errors import ReplyError
from leanrag_core.indexing.extraction.delimited import parse_delimited
from leanrag_core.indexing.extraction.reply import Reply
from leanrag_core.types.extraction import Drop

_CACHES = ("kv_store_llm_response_cache.json", "mock_cache.json")
_GRAPH = "graph_chunk_entity_relation.graphml"
_XML = "{http://graphml.graphdrawing.org/xmlns}"
_QUOTES = "\"'“”‘’ "


@dataclass(frozen=True)
class Found:
    """Names of entities, and pairs of names that are related."""

    entities: frozenset[str]
    relations: frozenset[tuple[str, ...]]


@dataclass(frozen=True)
class Score:
    """Precision and recall against a reference; extra and missing in numbers."""

    precision: float
    recall: float
    found: int
    reference: int
    extra: int
    missing: int


@dataclass(frozen=True)
class Row:
    """One folder. extra_outside_rule: found by us alone, not in the graph, and not read by nano-graphrag's rule."""

    folder: str
    reference: str
    models: str
    replies: int
    dropped: int
    entities: Score
    relations: Score
    entities_extra_outside_rule: int
    relations_extra_outside_rule: int
    extra: tuple[str, ...]
    missing: tuple[str, ...]


def main() -> int:
    """Print one line a folder; exit code 1 when no folder holds recorded replies."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    caches = [folder / name for folder in _folders(options.data) for name in _CACHES if (folder / name).is_file()]
    rows = [row_of(cache) for cache in caches if any(_delimited(text) for text in _replies(cache, ()))]
    if not rows:
        print(f"{options.data} holds no folder with recorded delimited replies", file=sys.stderr)
        return 1
    if options.json:
        print(json.dumps([asdict(row) for row in rows], ensure_ascii=False, indent=2))
        return 0
    print(f"{'folder':<24}{'reference':<11}{'model':<15}{'replies':>8}{'drops':>6}", end="")
    print(f"{'entities':>10}{'P':>7}{'R':>7}{'relations':>11}{'P':>7}{'R':>7}  extra of which the rule read none")
    for row in rows:
        print(f"{row.folder:<24}{row.reference:<11}{row.models:<15}{row.replies:>8}{row.dropped:>6}", end="")
        print(f"{row.entities.found:>10}{row.entities.precision:>7.3f}{row.entities.recall:>7.3f}", end="")
        print(f"{row.relations.found:>11}{row.relations.precision:>7.3f}{row.relations.recall:>7.3f}", end="")
        print(f"  entities {row.entities.extra}: {row.entities_extra_outside_rule}", end="")
        print(f", relations {row.relations.extra}: {row.relations_extra_outside_rule}")
    return 0


def row_of(cache: Path) -> Row:
    """Compare our reading of a folder's replies with the stored graph or, without one, with the recorder's rule."""
    graph = cache.parent / _GRAPH
    stored = read_graph(graph) if graph.is_file() else None
    names = sorted({record["model"] for record in json.loads(cache.read_text(encoding="utf-8")).values()})
    candidates = [(name,) for name in names] if stored else [tuple(names)]
    best: Row | None = None
    for models in candidates:
        texts = [text for text in _replies(cache, models) if _delimited(text)]
        if not texts:
            continue
        row = _compared(cache.parent.name, "+".join(models) if stored else "all", texts, stored)
        if (
            best is None
            or row.entities.recall + row.entities.precision > best.entities.recall + best.entities.precision
        ):
            best = row
    if best is None:
        raise ValueError(f"{cache} holds no delimited reply: give a folder of nano-graphrag")
    return best


def _compared(folder: str, models: str, texts: Sequence[str], stored: Found | None) -> Row:
    replies = [_read(text, f"reply-{i}") for i, text in enumerate(texts)]
    pairs = [(relation.source, relation.target) for reply in replies for relation in reply.relations]
    names = [mention.name for reply in replies for mention in reply.mentions]
    ours = _found([*names, *(name for pair in pairs for name in pair)], pairs)
    rule = by_recorders_rule(texts)
    reference = stored or rule
    extra_entities, extra_relations = ours.entities - reference.entities, ours.relations - reference.relations
    shown = [*sorted(extra_entities), *(" / ".join(pair) for pair in sorted(extra_relations))]
    missing = [*sorted(reference.entities - ours.entities)]
    missing += [" / ".join(pair) for pair in sorted(reference.relations - ours.relations)]
    return Row(
        folder,
        "graph" if stored else "rule alone",
        models,
        len(texts),
        sum(len(reply.drops) for reply in replies),
        _score(ours.entities, reference.entities),
        _score(ours.relations, reference.relations),
        len(extra_entities - rule.entities),
        len(extra_relations - rule.relations),
        tuple(shown),
        tuple(missing),
    )


def _read(text: str, name: str) -> Reply:
    """Return what the reader of delimited replies finds; a Drop alone where there is no record."""
    try:
        return parse_delimited(text, name)
    except ReplyError as error:
        return Reply((), (), (Drop("extract", name, str(error)),), done=False)


def by_recorders_rule(texts: Iterable[str]) -> Found:
    """Return the records as nano-graphrag reads them: what its rule cannot match is passed over."""
    names: list[str] = []
    pairs: list[tuple[str, str]] = []
    for text in texts:
        for piece in re.split(r"##|<\|COMPLETE\|>", text):
            inside = re.search(r"\((.*)\)", piece)
            cells = [cell for cell in inside[1].split("<|>") if cell.strip()] if inside else []
            if len(cells) >= 4 and cells[0] == '"entity"':
                names.append(cells[1])
            elif len(cells) >= 5 and cells[0] == '"relationship"':
                pairs.append((cells[1], cells[2]))
                names += cells[1:3]
    return _found(names, pairs)


def read_graph(path: Path) -> Found:
    """Read the nodes and edges of a GraphML file. Names carry the quotes of the replies."""
    root = ElementTree.parse(path).getroot()
    names = [node.attrib["id"] for node in root.iter(f"{_XML}node")]
    return _found(names, [(edge.attrib["source"], edge.attrib["target"]) for edge in root.iter(f"{_XML}edge")])


def _found(names: Iterable[str], pairs: Iterable[tuple[str, str]]) -> Found:
    return Found(
        frozenset(map(_comparable, names)),
        frozenset(tuple(sorted((_comparable(source), _comparable(target)))) for source, target in pairs),
    )


def _comparable(name: str) -> str:
    return " ".join(html.unescape(name).split()).strip(_QUOTES).upper()


def _score(extracted: frozenset[object] | frozenset[str], reference: frozenset[object] | frozenset[str]) -> Score:
    right = len(extracted & reference)
    return Score(
        right / max(1, len(extracted)),
        right / max(1, len(reference)),
        len(extracted),
        len(reference),
        len(extracted) - right,
        len(reference) - right,
    )


def _folders(folder: Path) -> list[Path]:
    return [folder, *sorted(path for path in folder.iterdir() if path.is_dir())]


def _replies(cache: Path, models: Sequence[str]) -> list[str]:
    records = json.loads(cache.read_text(encoding="utf-8")).values()
    return [record["return"] for record in records if not models or record["model"] in models]


def _delimited(text: str) -> bool:
    return "<|>" in text


if __name__ == "__main__":
    raise SystemExit(main())
