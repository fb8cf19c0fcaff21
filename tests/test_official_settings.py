"""Every door asks a strategy with the same settings where nobody says otherwise."""

from pathlib import Path

import pytest

from leanrag_core.comparing.column_specs import column_specs
from leanrag_core.evaluation.experiments.running import strategies_spec, with_all_settings
from leanrag_core.evaluation.paper_tables import SYSTEMS, TOKENS, WIN_RATES, paper_spec
from leanrag_core.evaluation.sweeps.points import options_of
from leanrag_core.messages.catalog import sentence
from leanrag_core.presenting.story import NAIVE, PresentationPlan
from leanrag_core.retrieval import strategies as own_strategies
from leanrag_core.retrieval.base import strategies, strategy
from leanrag_core.retrieval.settings import all_settings, official_settings, settings_line, shown_settings
from leanrag_core.types.experiment import ExperimentSpec, RunSpec
from leanrag_core.types.summary import IndexSummary, RecordedConfig
from leanrag_core.types.sweep import SweepPoint, SweepSpec
from pages.ask import controls
from pages.common.scope import Scope
from pages.evaluate import run_list

KNOWN = strategies()
NAMES = [info.name for info in KNOWN.strategies]
INDEX = IndexSummary("i", "Bees", "c", "Bees", "", "heuristic graph", RecordedConfig(), 1, 1, (), Path("i"), 1)
DOCS = Path(__file__).parents[1] / "docs" / "systems.md"


def settings_of(runs: tuple[RunSpec, ...], name: str) -> dict[str, object]:
    """Return what the experiment of these runs records of the strategy's settings."""
    recorded = with_all_settings(ExperimentSpec("doors", "set", runs))
    return dict(next(run.options for run in recorded.runs if run.strategy == name))


@pytest.mark.parametrize("name", NAMES)
def test_all_doors_give_the_same_settings(name: str) -> None:
    info, known = KNOWN.named(name), {info.name: info for info in KNOWN.strategies}
    official = official_settings(info)
    doors = {
        "first preset": all_settings(info, info.presets[0].options),
        "command line, all strategies": settings_of(strategies_spec("all", "i", "s", asks_model=True).runs, name),
        "dialog of Evaluate": settings_of(run_list.runs_of([run_list.Draft(1, name)], [INDEX]), name),
        "compare, command line": all_settings(info, column_specs([name, "leanrag"], KNOWN)[0].options),
        "Ask": controls.held(Scope(""), known, default=name).options,
        "a column of Compare": controls.held(Scope("b"), known, default=name).options,
        "a sweep": all_settings(info, options_of(SweepSpec("", (), "s", strategy=name), SweepPoint("p", {}))),
    }
    for table in (WIN_RATES, TOKENS):
        runs = paper_spec(table, "i", "s").runs
        if any(run.strategy == name for run in runs):
            doors[f"table {table} of the paper"] = settings_of(runs, name)
    if name == NAIVE:
        doors["Present"] = all_settings(info, PresentationPlan("t", ()).strategies[1].options)
    assert {door: settings for door, settings in doors.items() if settings != official} == {}
    strategy(name, official)


def test_naive_retrieval_reads_twenty_passages() -> None:
    assert official_settings(KNOWN.named("vector")) == {"top_c": 20, "least_cosine": 0.2, "max_tokens": 12_000}
    assert official_settings(KNOWN.named("bm25"))["top_c"] == 20
    assert set(SYSTEMS.values()) <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_the_manual_has_the_official_settings(name: str) -> None:
    info = KNOWN.named(name)
    settings = sentence(settings_line(shown_settings(info, official_settings(info)))) or "–"
    row = f"| {sentence(info.title)} | {settings} |"
    assert row in DOCS.read_text(encoding="utf-8").splitlines(), f"docs/systems.md lacks {row}"


@pytest.mark.parametrize("manual", ["README.md", "CHANGELOG.md", "docs/guide/comparing.md"])
def test_the_manuals_count_the_systems(manual: str) -> None:
    ones = ("", "-one", "-two", "-three", "-four", "-five", "-six", "-seven", "-eight", "-nine")
    words = {20 + place: f"Twenty{one}" for place, one in enumerate(ones)} | {
        30 + place: f"Thirty{one}" for place, one in enumerate(ones)
    }
    own = {path.stem for path in Path(own_strategies.__file__).parent.glob("[!_]*.py")}
    assert f"{words[len(own)]} systems answer on one index" in (DOCS.parents[1] / manual).read_text(encoding="utf-8")


def test_settings_beside_a_name_are_those_that_matter() -> None:
    info = KNOWN.named("leanrag")
    settings = official_settings(info) | {"inter_cluster": False, "pairs": "nearest"}
    line = sentence(settings_line(shown_settings(info, settings)))
    assert line.startswith("Top-N seeds 10, Top-C chunks 5, without Inter-cluster relations, Source chunks, ")
    assert "nearest" in line
    assert "at most 37,000 tokens" in line
    assert "Seed layers" not in line
    assert shown_settings(None, {"gone": 1}) == {"gone": 1}
