"""Relations that say there is none: how many of planted ones the rule finds, and which real ones it takes for them.

    python -m benchmarks.denials [PATH ...] [--out FILE]

Planted: the lines of denied_relations.txt, written apart from the rule, each with two pairs of names. PATH: graphs of
other systems, which the importers read; every description that the rule takes for a denial is printed, to be judged by
reading it.
"""

import argparse
import json
import re
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from unittest import mock

from benchmarks.frame import circumstances
from leanrag_core.errors import ImportFailed
from leanrag_core.importing import graph
from leanrag_core.importing.base import graph_by, importer_for
from leanrag_core.indexing.extraction.denials import denies

TEMPLATES = Path(__file__).with_name("denied_relations.txt")
_HAN = re.compile("[\u4e00-\u9fff]")
PAIRS = {
    "English": (("Ada Thornbury", "the Coast Board"), ("oxalic acid", "movable frames")),
    "Chinese": (("李冰", "都江堰"), ("丙泊酚", "麻醉机")),
}


@dataclass(frozen=True)
class DenialFigures:
    """planted, found: by language. missed: planted ones that were not found. read: distinct descriptions of the graphs;
    flagged: those taken for denials."""

    planted: dict[str, int]
    found: dict[str, int]
    missed: tuple[str, ...]
    read: int
    flagged: tuple[str, ...]


def planted() -> dict[str, list[str]]:
    """Return the planted descriptions by language, each once."""
    made: dict[str, dict[str, None]] = {language: {} for language in PAIRS}
    for template in TEMPLATES.read_text(encoding="utf-8").splitlines():
        language = "Chinese" if _HAN.search(template) else "English"
        for a, b in PAIRS[language]:
            text = template.format(a=a, b=b)
            made[language][text[:1].upper() + text[1:]] = None
    return {language: list(texts) for language, texts in made.items()}


def descriptions(paths: list[Path]) -> list[str]:
    """Return the distinct descriptions of the relations of the graphs, as the files have them."""
    kept: dict[str, None] = {}
    with mock.patch.object(graph, "denies", return_value=False):  # what the importer would leave out is read too
        for path in paths:
            try:
                table = graph_by(importer_for(path, ""), path).graph.relations
            except ImportFailed as error:
                print(f"{path.name}: {error}", file=sys.stderr)
                continue
            kept |= dict.fromkeys(table["description"].to_pylist())
            print(f"{path.name}: {table.num_rows:,} relations", file=sys.stderr)
    return list(kept)


def measured(paths: list[Path]) -> DenialFigures:
    """Measure the rule."""
    texts = planted()
    found = {language: [text for text in each if denies(text)] for language, each in texts.items()}
    real = descriptions(paths)
    return DenialFigures(
        {language: len(each) for language, each in texts.items()},
        {language: len(each) for language, each in found.items()},
        tuple(text for language, each in texts.items() for text in each if text not in set(found[language])),
        len(real),
        tuple(text for text in real if denies(text)),
    )


def main() -> int:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", type=Path, nargs="*")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    figures = measured(options.paths)
    for language, n in figures.planted.items():
        print(f"{language}: {figures.found[language]} of {n} planted denials found ({figures.found[language] / n:.1%})")
    for text in figures.missed:
        print(f"  missed: {text}")
    if figures.read:
        share = len(figures.flagged) / figures.read
        print(f"real: {len(figures.flagged)} of {figures.read:,} descriptions taken for denials ({share:.2%})")
        for text in figures.flagged:
            print(f"  flagged: {text[:300]}")
    if options.out:
        record = {**circumstances(["python", "-m", "benchmarks.denials"]), **asdict(figures)}
        options.out.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
