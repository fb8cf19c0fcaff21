"""Extensions of one file: what is found in a folder, and what is reported about a file that is no extension."""

import json
import sys
from collections.abc import Callable, Iterator
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType

import pytest

from leanrag_core.__main__ import main
from leanrag_core.evaluation import measures as measure_folder
from leanrag_core.evaluation.measuring import broken_measures, measures
from leanrag_core.indexing import parts as part_folder
from leanrag_core.indexing.part_base import parts
from leanrag_core.messages.catalog import sentence
from leanrag_core.retrieval import strategies as folder
from leanrag_core.retrieval.base import strategies
from leanrag_core.storage.layout import write_index
from leanrag_core.types.index import Index
from pages import explore as view_folder
from pages.explore import views as explore_views
from pages.explore.views import broken_views, views

BROKEN = {
    "a_raises.py": "raise RuntimeError('no key is set')",
    "b_syntax.py": "def (:",
    "c_empty.py": "",
    "d_no_config.py": "class Strategy:\n    name = 'd'\n",
    "e_no_name.py": "class Config: ...\nclass Strategy: ...\n",
    "f_exits.py": "raise SystemExit('no more')",
    "g_kinds.py": """
from dataclasses import dataclass
from leanrag_core.messages.message import message
@dataclass(frozen=True)
class Config: ...
class Strategy:
    name, title, help, calls_model = "g", message("ask.button"), message("ask.button"), False
    badge, differs, parts, presets = "faithful", message("ask.button"), None, ()
    def retrieve(self, query, index, tools): ...
""",
    "_part.py": "raise RuntimeError('a part of another file is not looked at')",
}


def names_of_files(package: ModuleType) -> set[str]:
    """Return the names of the program's own files in that folder, each of which declares one extension of that name,
    and of extensions that are installed on this machine."""
    own = {path.stem for path in Path(str(package.__file__)).parent.glob("[!_]*.py")}
    return own | {entry.name for entry in entry_points(group=package.__name__)}


@pytest.fixture
def broken_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    for name, text in BROKEN.items():
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(folder, "__path__", [*folder.__path__, str(tmp_path)])
    yield tmp_path
    for name in BROKEN:
        sys.modules.pop(f"{folder.__name__}.{Path(name).stem}", None)


def test_broken_files_are_reported_and_hide_none_of_the_others(broken_files: Path) -> None:
    listed = strategies()
    assert {info.name for info in listed.strategies} == names_of_files(folder) >= {"leanrag", "vector"}
    text_of = {broken.file: sentence(broken.message) for broken in listed.broken}
    assert text_of == {
        "a_raises.py": "the file a_raises.py cannot be loaded: no key is set",
        "b_syntax.py": text_of["b_syntax.py"],
        "c_empty.py": "the file c_empty.py has no Config: see docs/extending.md",
        "d_no_config.py": "the file d_no_config.py has no Config: see docs/extending.md",
        "e_no_name.py": "the file e_no_name.py has no Strategy.name: see docs/extending.md",
        "f_exits.py": "the file f_exits.py cannot be loaded: no more",
        "g_kinds.py": "the file g_kinds.py declares a Strategy.parts of another kind: see docs/extending.md",
    }
    assert text_of["b_syntax.py"].startswith("the file b_syntax.py cannot be loaded: invalid syntax")


def test_the_command_line_notes_broken_files_and_goes_on(
    broken_files: Path, tmp_path_factory: pytest.TempPathFactory, index: Index, capsys: pytest.CaptureFixture[str]
) -> None:
    home = tmp_path_factory.mktemp("index")
    write_index(home, index)
    main(["ask", str(home), "bees?", "--no-answer"])
    assert "note: the file a_raises.py cannot be loaded: no key is set" in capsys.readouterr().err
    assert main(["contract", "a_raises"]) == 2
    assert "the file a_raises.py cannot be loaded: no key is set" in capsys.readouterr().err


def test_the_strategies_of_the_program_are_all_usable() -> None:
    assert strategies().broken == ()
    assert {info.name for info in strategies().strategies} == names_of_files(folder)


def test_a_part_that_cannot_be_made_hides_none_of_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    declared = "name = title = help = needs = offered = fingerprint = forecast = build = lasting_files = read = None"
    text = f"class Config: ...\nclass Part:\n    {declared}\n    def __init__(self): raise RuntimeError('no disk')\n"
    (tmp_path / "a_part_that_fails.py").write_text(text)
    monkeypatch.setattr(part_folder, "__path__", [*part_folder.__path__, str(tmp_path)])
    listed = parts()
    assert {info.name for info in listed.parts} == names_of_files(part_folder) >= {"chroma"}
    [broken] = listed.broken
    assert sentence(broken.message) == "the file a_part_that_fails.py cannot be loaded: no disk"
    sys.modules.pop(f"{part_folder.__name__}.a_part_that_fails")


def test_a_measure_does_not_take_the_name_of_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = [measure.name for measure in measures()]
    text = f"class Measure:\n    name, title, help = {before[0]!r}, '', ''\n    def score(self, outcome): return 1.0\n"
    (tmp_path / "another_of_that_name.py").write_text(text)
    monkeypatch.setattr(measure_folder, "__path__", [*measure_folder.__path__, str(tmp_path)])
    assert [measure.name for measure in measures()] == before
    [broken] = broken_measures()
    assert sentence(broken.message).endswith(f"there is a {before[0]} already; give it another name")
    sys.modules.pop(f"{measure_folder.__name__}.another_of_that_name")


def test_a_view_that_does_not_load_hides_none_of_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = views()
    (tmp_path / "a_bad_view.py").write_text("import nowhere_at_all")
    (tmp_path / "a_mute_view.py").write_text(
        "from pages.explore.exploring import View\nVIEW = View('mute', print, place=1)"
    )
    monkeypatch.setattr(view_folder, "__path__", [*view_folder.__path__, str(tmp_path)])
    explore_views._found.cache_clear()
    try:
        assert views() == before
        said = [sentence(each.message) for each in broken_views()]
    finally:
        explore_views._found.cache_clear()
        sys.modules.pop(f"{view_folder.__name__}.a_mute_view")
    assert said == [
        "the file a_bad_view.py cannot be loaded: No module named 'nowhere_at_all'",
        "the file a_mute_view.py has no explore.view.mute: see docs/extending.md",
    ]


# Packages that are installed elsewhere

STRATEGY = """
from dataclasses import dataclass
from leanrag_core.messages.message import message
from leanrag_core.retrieval.base import Options, StrategyBase
@dataclass(frozen=True)
class Config(Options): ...
class Strategy(StrategyBase[Config]):
    name = "abroad"
    title = help = differs = message("plain", text="Abroad")
    def retrieve(self, query, index, tools): raise RuntimeError("too far")
"""


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    """Yield a function that installs a package with one strategy, whose entry point has that name."""

    def installed(name: str) -> None:
        (tmp_path / "abroad.py").write_text(STRATEGY)
        folder_of = tmp_path / "abroad-1.dist-info"
        folder_of.mkdir()
        (folder_of / "METADATA").write_text("Metadata-Version: 2.1\nName: abroad\nVersion: 1\n")
        (folder_of / "entry_points.txt").write_text(f"[{folder.__name__}]\n{name} = abroad\n")
        monkeypatch.syspath_prepend(tmp_path)

    yield installed
    sys.modules.pop("abroad", None)


def test_a_strategy_of_an_installed_package_is_listed(install: Callable[[str], None]) -> None:
    assert "abroad" not in {info.name for info in strategies().strategies}
    install("abroad")
    assert strategies().named("abroad").strategy.__module__ == "abroad"
    assert strategies().broken == ()


def test_an_entry_point_does_not_take_the_place_of_a_file(install: Callable[[str], None]) -> None:
    install("vector")
    assert {info.name for info in strategies().strategies} == names_of_files(folder)
    [taken] = strategies().broken
    assert sentence(taken.message).startswith("abroad is left out: there is a vector already")


def test_the_contract_of_a_strategy_that_fails_is_broken(
    install: Callable[[str], None], capsys: pytest.CaptureFixture[str]
) -> None:
    install("abroad")
    assert main(["contract", "abroad"]) == 1
    printed = capsys.readouterr().out.splitlines()
    assert printed[0] == "ok   declarations"
    assert printed[1] == "FAIL tiny"
    assert printed[2].startswith("     no trace: the strategy abroad failed in line 10 of abroad.py: too far. ")
    assert main(["contract", "abroad", "--json"]) == 1
    checks = json.loads(capsys.readouterr().out)["checks"]
    assert checks[0] == {"where": "declarations", "problems": [], "retrieved_nothing": False}
    [problem] = checks[1]["problems"]
    assert problem == printed[2].strip()
    assert (checks[1]["where"], checks[1]["retrieved_nothing"]) == ("tiny", False)
