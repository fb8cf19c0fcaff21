"""The presentation that comes with the program: whole and small enough.

That its command makes the same bytes, on every processor, is tested in tests/processors.
"""

from pathlib import Path

import pytest

from leanrag_core import Workbench
from leanrag_core.messages.catalog import languages
from leanrag_core.presenting.slides import MAX_BYTES, as_html, deck_of
from sample_corpora import story


def test_it_is_listed_on_a_first_visit_and_shows_without_any_index(tmp_path: Path) -> None:
    bench = Workbench(tmp_path)
    [summary] = bench.presentations.all().presentations
    assert (summary.id, summary.is_shipped) == (story.FILE.stem, True)
    deck = deck_of(bench.presentations.read(summary.id))
    assert len(deck.slides) == 10
    assert bench.indexes.all() == []


@pytest.mark.parametrize("language", languages())
def test_its_file_has_less_than_five_megabytes(language: str, tmp_path: Path) -> None:
    bench = Workbench(tmp_path)
    content = as_html(bench.presentations.read(story.FILE.stem), language)
    assert 100_000 < len(content) < MAX_BYTES


def test_its_figures_over_many_questions_come_from_a_shipped_experiment(tmp_path: Path) -> None:
    made = Workbench(tmp_path).presentations.read(story.FILE.stem)
    [measured] = made.measured
    assert measured.questions == 35
    assert measured.tokens.low is not None
    assert measured.difference is not None
    # It also says what speaks against the first strategy: it has fewer of the wanted passages.
    assert measured.difference.value < 0
