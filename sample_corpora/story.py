"""Writes the presentation that comes with the program: python -m sample_corpora.story [--out FILE]

It is made of the reference graph of a sample corpus, with the built-in models: the same bytes each time.
"""

import argparse
import sys
import tempfile
from pathlib import Path

from leanrag_core.presenting.storing import content_of
from leanrag_core.presenting.story import PresentationPlan
from leanrag_core.workbench import Workbench

CORPUS, TITLE, MADE = "mix", "People, cities and ideas", "2026-11-22"
# The first is played. Of the last one LeanRAG reads only half of what answers it, and the slides say so.
QUESTIONS = ("mix-23", "mix-16", "mix-13")
FILE = Path(__file__).parent / "presentations" / "people-cities-and-ideas.json"


def content(bench: Workbench) -> bytes:
    """The content of the file; the index is built below the workbench's folder where it is not there."""
    index_id, set_id = bench.builds.sample_index(CORPUS)
    index, questions = (
        bench.indexes.open(index_id),
        {question.id: question for question in bench.question_sets.questions(set_id)},
    )
    plan = PresentationPlan(TITLE, tuple(questions[id_] for id_ in QUESTIONS), made=MADE)
    return content_of(bench.presentations.make(index, plan))


def main() -> int:
    """Writes the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=FILE)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        options.out.write_bytes(content(Workbench(Path(folder))))
    print(options.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
