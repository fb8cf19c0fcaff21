"""The examples of docs/extending.md are put into their folders, found, and used."""

import re
import subprocess
import sys
from importlib import import_module
from io import BytesIO
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import streamlit as st

from leanrag_core.__main__ import main
from leanrag_core.answering.extractive import extractive_answer
from leanrag_core.answering.record import ask_record
from leanrag_core.evaluation.base import Outcome
from leanrag_core.evaluation.gold import Evidence, GoldQuestion
from leanrag_core.evaluation.tables import means
from leanrag_core.exporting.base import export_index
from leanrag_core.figures.layered import layered_graph
from leanrag_core.files.records import from_json, to_json
from leanrag_core.importing.base import recognised
from leanrag_core.indexing.parsing.upload import known, parse_upload
from leanrag_core.indexing.part_base import PartModels, parts
from leanrag_core.indexing.part_building import part_states, read_part
from leanrag_core.messages.catalog import sentence
from leanrag_core.models.minilm import MiniLM
from leanrag_core.models.pacing import Budget
from leanrag_core.models.registry import Models
from leanrag_core.retrieval.base import Query, strategies, strategy
from leanrag_core.retrieval.tools import Tools
from leanrag_core.storage.calls import CallStore
from leanrag_core.storage.import_uploads import ImportUploads, UploadedFile
from leanrag_core.storage.layout import read_index, write_index
from leanrag_core.types.index import Index
from leanrag_core.types.settings import Settings
from leanrag_core.types.trace import Trace
from pages.explore import views as explore_views
from pages.explore.views import views
from tests.index_parts import made_part
from tests.reading import read_graph
from tests.small_index import small_index

PAGE = Path(__file__).resolve().parents[1] / "docs" / "extending.md"
EXAMPLES = dict(re.findall(r"^```python\n# (\S+\.py)\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.M))


@pytest.fixture(autouse=True)
def _examples_in_their_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for file, code in EXAMPLES.items():
        folder = tmp_path / Path(file).parent
        folder.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text(code, encoding="utf-8")
        package = import_module(Path(file).parent.as_posix().replace("/", "."))
        monkeypatch.setattr(package, "__path__", [*package.__path__, str(folder)])


def test_every_kind_has_an_example() -> None:
    kinds = {Path(file).parent.as_posix().removeprefix("leanrag_core/") for file in EXAMPLES}
    assert kinds == {
        "retrieval/strategies",
        "indexing/parsing/formats",
        "models/backends",
        "evaluation/measures",
        "importing/formats",
        "exporting/formats",
        "indexing/parts",
        "pages/explore",
    }


@pytest.mark.parametrize("file", EXAMPLES)
def test_an_example_passes_the_checks_of_a_commit(file: str) -> None:
    for check in (["check"], ["format", "--check"]):
        ruff = [sys.executable, "-m", "ruff", *check, "--stdin-filename", str(PAGE.parents[1] / file), "-"]
        done = subprocess.run(
            ruff, input=EXAMPLES[file], capture_output=True, text=True, cwd=PAGE.parents[1], check=False
        )
        assert done.returncode == 0, done.stdout


def test_the_strategy_retrieves_answers_draws_and_survives_json(index: Index) -> None:
    assert "word_overlap" in {info.name for info in strategies().strategies}
    assert strategies().broken == ()
    model = MiniLM()
    question = "Which mites weaken honey bees?"
    query = Query(question, np.asarray(model.embed([question])[0]))
    trace = strategy("word_overlap", {"top_c": 2}).retrieve(query, index, Tools(model.embed))
    assert [section.letter for section in trace.context.sections] == ["W"]
    assert trace.passages
    assert all(item.mark.startswith("W") for item in trace.context.section("evidence").items)
    assert from_json(Trace, to_json(trace)) == trace
    assert layered_graph(trace).nodes
    answer = extractive_answer(trace, model.embed, query.vector)
    assert ask_record(trace, answer)["chunks"][0]["id"] == trace.passages[0].id


@pytest.mark.parametrize(("name", "empty"), [("word_overlap", ["one chunk"]), ("rare_words", ["tiny", "one chunk"])])
def test_the_strategies_keep_the_contract_and_find_chinese(
    name: str, empty: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["contract", name]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(maxsplit=1)[0] for line in lines] == ["ok"] * 5
    assert [line for line in lines if "retrieved nothing" in line] == [
        f"ok   {where}: retrieved nothing" for where in empty
    ]


def test_the_format_reads_its_files_and_refuses_others() -> None:
    subtitles = (
        b"1\n00:00:01,000 --> 00:00:02,500\nBees dance\nin the hive.\n\n2\n00:00:03,000 --> 00:00:04,000\nAnts walk.\n"
    )
    [document] = parse_upload("talk.srt", subtitles).documents
    assert document.text == "Bees dance in the hive.\n\nAnts walk."
    [refusal] = parse_upload("talk.srt", b"Bees dance.").refusals
    assert "no subtitle with a time" in str(refusal)
    assert "SUBTITLES" in map(sentence, known())


def test_the_back_end_answers_and_is_counted(tmp_path: Path) -> None:
    models = Models(Settings(), CallStore(tmp_path / "calls"), Budget(tokens=100))
    language = models.language("parrot:grey")
    assert language is not None
    assert language.complete([{"role": "user", "content": "Say:\nhello there"}]).text == "hello there"
    assert models.meter.read().usage.calls == 1


def test_the_importer_reads_a_graph_and_drops_what_it_cannot_use(tmp_path: Path) -> None:
    path = tmp_path / "bees.tgf"
    path.write_text(
        "1 Honey bee\n2 Varroa mite\n3 Hive\n#\n2 1 weakens\n1 3 lives in\n1 9 knows\n1\n", encoding="utf-8"
    )
    imported = read_graph(path, "")
    assert imported.graph.entities["name"].to_pylist() == ["Hive", "Honey bee", "Varroa mite"]
    assert imported.graph.relations.num_rows == 2
    assert imported.counts.dangling == 1
    assert {"edge 3", "edge 4"} <= {drop.item for drop in imported.drops}


def test_the_importer_reads_a_single_file_that_was_uploaded(tmp_path: Path) -> None:
    content = BytesIO(b"1 Honey bee\n2 Varroa mite\n#\n2 1 weakens\n")
    uploaded = ImportUploads(tmp_path / "uploads").add([UploadedFile("bees.tgf", content)])
    assert uploaded.is_dir()
    for format_name in ("", "tgf"):
        assert read_graph(uploaded, format_name).graph.relations.num_rows == 1
    (uploaded / "wasps.tgf").write_text("1 Wasp\n#\n", encoding="utf-8")
    assert recognised(uploaded) is None


def test_the_export_format_writes_the_base_graph(index: Index, tmp_path: Path) -> None:
    export_index(index, "dot", tmp_path / "bees.dot")
    lines = (tmp_path / "bees.dot").read_text(encoding="utf-8").splitlines()
    assert lines[:2] == ["graph {", '"id-queen" [label="queen"]']
    assert lines[7:] == [
        '"id-queen" -- "id-honey"',
        '"id-honey" -- "id-mite"',
        '"id-honey" -- "id-rape"',
        '"id-rape" -- "id-clover"',
        '"id-mite" -- "id-seed coat"',
        "}",
    ]


def test_the_part_is_made_listed_and_read(tmp_path: Path) -> None:
    write_index(tmp_path, small_index())
    made_part(tmp_path, "likenesses", {"cosine": 75})
    index = read_index(tmp_path)
    assert read_part(index, parts().named("likenesses")) == [[0, 1], [3, 4]]  # cosines of .8
    states = {state.name: state for state in part_states(index, parts(), PartModels())}
    assert (states["likenesses"].status, states["chroma"].status) == ("finished", "absent")
    assert sorted(path.name for path in (tmp_path / "parts" / "likenesses").glob("*/*")) == ["pairs.npy", "part.json"]


def test_the_measure_is_listed_among_the_others(index: Index) -> None:
    query = Query("bees", np.asarray(index.chunk_vectors[0]))
    trace = strategy("vector", {"top_c": 3}).retrieve(query, index, Tools(MiniLM().embed))
    second = trace.passages[1].source
    assert second is not None
    first = trace.passages[0].source
    assert first is not None
    expected = 1.0 if first.document == second.document else 0.5
    for name in (second.document, second.title):
        question = GoldQuestion("1", "bees", evidence=(Evidence(name, ""),))
        assert {mean.measure: mean.value for mean in means([Outcome(question, trace)])}["first-hit"] == expected


def test_the_view_is_found_in_its_place_and_draws(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    explore_views._found.cache_clear()
    try:
        names = [view.name for view in views()]
        view = views()[names.index("busiest")]
    finally:
        explore_views._found.cache_clear()
    assert names.index("schema") < names.index("busiest") < names.index("map")
    drawn: list[dict[str, list[object]]] = []
    monkeypatch.setattr(st, "dataframe", lambda table, **_: drawn.append(table.to_dict("list")))
    everything = SimpleNamespace(
        index=index,
        mask=lambda _: np.ones(len(index.layers[0]), dtype=bool),
        relation_mask=lambda _: np.ones(len(index.layers[0].ends), dtype=bool),
        go=None,
    )
    view.show(everything)  # type: ignore[arg-type]
    assert drawn == [
        {
            "Name": ["honey", "mite", "rape", "queen", "clover", "seed coat"],
            "Relations": [3, 2, 2, 1, 1, 1],
        }
    ]
