import json
import re
import shutil
import threading
from pathlib import Path

import pytest

from leanrag_core.__main__ import main
from leanrag_core.commands._options import option_values
from leanrag_core.errors import InvalidConfig
from leanrag_core.retrieval import strategies
from leanrag_core.storage.layout import read_index
from leanrag_core.storage.staging import build_lock
from tests.importing.test_plain import CHUNKS, ENTITIES, RELATIONS, tables
from tests.workbench.test_workbench import BEES, HIVES

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("command")
    (folder / "docs").mkdir()
    (folder / "docs" / "bees.md").write_bytes(BEES)
    (folder / "docs" / "hives.txt").write_bytes(HIVES)
    (folder / "docs" / "empty.txt").write_bytes(b"")
    assert main(["build", str(folder / "docs"), "--out", str(folder / "index"), "--cluster-size", "4"]) == 0
    return folder / "index"


def test_values_of_options_are_json_where_they_can_be_and_keep_their_case() -> None:
    written = ["top-c=3", "cited=True", 'types=["Person"]', "name=Abc"]
    assert option_values(written) == {"top_c": 3, "cited": True, "types": ["Person"], "name": "Abc"}
    with pytest.raises(InvalidConfig, match="top_c"):
        option_values(["top_c"])


def test_build_prints_what_was_built_and_what_was_refused(built: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["build", str(built.parent / "docs"), "--out", str(built), "--cluster-size", "4", "--resume", "--json"]
    assert main(arguments) == 0
    output = capsys.readouterr()
    result = json.loads(output.out)
    assert result["documents"] == 2
    assert [row["name"] for row in result["refused"]] == ["empty.txt"]
    assert "already built" in output.err


def test_a_build_in_another_language_names_the_embedding_that_knows_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "渠首.md").write_text(
        "都江堰的渠首由鱼嘴、飞沙堰和宝瓶口三个主体部分组成。李冰主持修建了都江堰。", encoding="utf-8"
    )
    assert main(["build", str(tmp_path / "渠首.md"), "--out", str(tmp_path / "index"), "--cluster-size", "3"]) == 0
    told = capsys.readouterr().err
    assert "note: most of these documents are in Chinese: the built-in embedding was trained on English" in told


def test_a_build_that_waits_for_another_one_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.txt").write_text("Honey bees get nectar from white clover in May.", encoding="utf-8")
    printed = threading.Event()

    def build() -> None:
        assert main(["build", str(tmp_path / "a.txt"), "--out", str(tmp_path / "index")]) == 0
        printed.set()

    with build_lock(tmp_path / "index", waiting=lambda: None):
        other = threading.Thread(target=build)
        other.start()
        stderr = ""
        while "parse 0/1 documents, waits for another build of the same index\n" not in stderr:
            assert other.is_alive(), stderr
            stderr += capsys.readouterr().err
            other.join(0.05)
    other.join()
    assert printed.is_set()


def test_a_part_that_the_strategy_needs_is_made_before_it_is_asked(
    built: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    index = tmp_path / "index"
    shutil.copytree(built, index)
    capsys.readouterr()
    bm25 = ["ask", str(index), "What nectar?", "--strategy", "bm25", "--no-answer", "--json"]
    assert main([*bm25, "--document", "bees.md"]) == 0, "also within a scope"
    printed = capsys.readouterr()
    assert json.loads(printed.out)["chunks"]
    assert "store" in printed.err
    assert main(bm25) == 0
    assert capsys.readouterr().err == "", "it is there now"


def test_show_counts_islands_and_clusters(built: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", str(built), "--islands", "--json"]) == 0
    layers = json.loads(capsys.readouterr().out)["layers"]
    assert layers[-1]["islands"] == 1
    for layer in layers[1:]:
        assert sum(row["relations"] for row in layer["lambda"]) == layer["relations"]
    assert main(["show", str(built), "--clusters", "1", "--json"]) == 0
    clusters = json.loads(capsys.readouterr().out)["clusters"]
    assert sum(cluster["size"] for cluster in clusters) == layers[0]["entities"]
    assert main(["show", str(built), "--islands"]) == 0
    assert main(["show", str(built), "--clusters", "1"]) == 0
    assert main(["show", str(built), "--clusters", "0"]) == 2
    assert "from 1 to" in capsys.readouterr().err


def test_show_counts_relations_between_what_passes_the_filter(built: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def relations(*filters: str) -> list[int]:
        assert main(["show", str(built), *(word for each in filters for word in ("--filter", each)), "--json"]) == 0
        return [layer["relations"] for layer in json.loads(capsys.readouterr().out)["layers"]]

    index = read_index(built)
    one = relations("layers=0")
    assert one[0] == index.layers[0].relations.num_rows > 0
    assert set(one[1:]) == {0}
    types = index.layers[0].entities["type"].to_pylist()
    kind = types[int(index.layers[0].ends[0][0])]
    ends = [{types[end] for end in pair} for pair in index.layers[0].ends.tolist()]
    assert relations(f"types={kind}")[0] == sum(pair == {kind} for pair in ends) < len(ends)


def test_show_gives_the_promised_fields(built: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", str(built), "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert {"format_version", "config", "documents", "chunks", "layers", "drops", "usage"} <= set(shown)
    counts = ["entities", "relations", "summarised", "concatenated", "clusters", "largest_cluster", "components"]
    assert sorted(shown["layers"][0]) == sorted(["layer", *counts])
    assert shown["layers"][-1]["entities"] == 1
    assert shown["layers"][0]["clusters"] == shown["layers"][1]["entities"]
    assert shown["layers"][0]["largest_cluster"] <= 8


def test_ask_gives_seeds_lca_chunks_context_and_answer(built: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ask", str(built), "What nectar do honey bees get in May?", "--top-n", "4", "--json"]) == 0
    asked = json.loads(capsys.readouterr().out)
    assert len(asked["seeds"]) == 4
    assert asked["seeds"][0]["rank"] == 1
    assert asked["answer"]["grounded"]
    assert {node["role"] for node in asked["nodes"]} >= {"seed"}
    for chunk in asked["chunks"]:
        assert chunk["end"] > chunk["start"] >= 0
    assert asked["context"]["tokens"]["total"] > 0
    assert main(["ask", str(built), "What nectar?", "--no-answer", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["answer"] is None


def test_a_question_in_another_encoding_is_refused_in_a_sentence(
    built: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["ask", str(built), b"Was \xfcberwintert?".decode(errors="surrogateescape")]) == 2
    assert capsys.readouterr().err == (
        "leanrag: the question holds bytes that are no UTF-8: write it in a terminal that uses UTF-8\n"
    )


def test_chunks_are_listed_with_their_seeds_counted(built: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ask", str(built), "What nectar?", "--top-n", "1", "--no-answer"]) == 0
    assert ", 1 seed\n" in capsys.readouterr().out


def test_a_forecast_for_the_built_in_engine_is_time_without_calls(
    built: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["forecast", str(built.parent / "docs"), "--cluster-size", "4"]
    assert main([*arguments, "--json"]) == 0
    forecast = json.loads(capsys.readouterr().out)
    assert forecast["chunks"] == 2
    assert (forecast["totals"]["calls"]["high"], forecast["totals"]["dollars"]["high"]) == (0, 0)
    assert 0 < forecast["totals"]["seconds"]["low"] < forecast["totals"]["seconds"]["high"]
    assert main(arguments) == 0
    assert "2 chunks" in capsys.readouterr().out


def test_of_the_folder_of_a_sample_corpus_its_documents_alone_are_read(
    built: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(built.parent / "docs", tmp_path / "bees" / "documents")
    (tmp_path / "bees" / "reference").mkdir()
    for name in ("corpus.json", "questions.jsonl", "reference/entities.jsonl"):
        (tmp_path / "bees" / name).write_text('{"text": "Hester kept the mill at Tarnwick."}', encoding="utf-8")
    assert main(["forecast", str(tmp_path / "bees"), "--cluster-size", "4", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["chunks"] == 2


@pytest.mark.parametrize("verb", ["forecast", "build"])
def test_documents_that_are_not_there_are_named(verb: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = ["--out", str(tmp_path / "index")] if verb == "build" else []
    absent, empty = tmp_path / "absent", tmp_path / "empty"
    empty.mkdir()
    assert main([verb, str(absent), *out]) == 2
    assert f"there is no file or folder {absent}" in capsys.readouterr().err
    assert main([verb, str(empty), *out]) == 1
    assert "there are no documents to index" in capsys.readouterr().err


def test_check_passes_on_a_built_index(built: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(built), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["ok"] is True


def test_a_missing_index_is_a_failure_with_the_remedy(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", str(tmp_path)]) == 1
    assert "build it on the Build page" in capsys.readouterr().err


def test_a_setting_out_of_bounds_is_wrong_usage(built: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ask", str(built), "x", "--top-n", "0"]) == 2
    assert "smallest value is 1" in capsys.readouterr().err
    with pytest.raises(SystemExit, match="2"):
        main(["ask", str(built), "x", "--top-n", "few"])
    assert "argument --top-n: 'few' is neither a whole number nor auto" in capsys.readouterr().err


def test_a_tau_that_is_not_understood_is_refused_before_anything_is_read(
    built: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["build", str(built.parent / "docs"), "--out", str(tmp_path / "index"), "--tau", "-1"]
    assert main(arguments) == 2
    stderr = capsys.readouterr().err
    assert "tau is '-1', of which '-1' is not understood" in stderr
    assert "extract" not in stderr


def test_questions_that_are_not_there_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["questions", "add", str(tmp_path / "absent.jsonl")]) == 2
    assert "the questions in absent.jsonl cannot be read" in capsys.readouterr().err


def test_nothing_to_index_is_a_failure(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "empty.txt").write_bytes(b"")
    assert main(["build", str(tmp_path / "empty.txt"), "--out", str(tmp_path / "index")]) == 1
    stderr = capsys.readouterr().err
    assert "empty.txt" in stderr
    assert "no documents" in stderr
    assert not (tmp_path / "index").exists()


def test_a_preset_builds_and_asks_and_other_options_override_it(
    built: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = str(tmp_path / "index")
    build = ["build", str(built.parent / "docs"), "--out", out, "--preset", "paper-legal", "--cluster-size", "4"]
    assert main([*build, "--size-cap", "--json"]) == 0
    config = json.loads(capsys.readouterr().out)["config"]
    named = {name: config[name] for name in ("cluster_size", "tau", "chunk_tokens", "smoothing", "size_cap")}
    assert named == {"cluster_size": 4, "tau": "3", "chunk_tokens": 1024, "smoothing": 0, "size_cap": True}

    def parameters(*more: str) -> dict[str, object]:
        assert main(["ask", out, "What do bees make?", "--preset", "paper-legal", "--json", *more]) == 0
        return dict(json.loads(capsys.readouterr().out)["parameters"])

    asked = parameters()
    assert (asked["top_n"], asked["top_c"], asked["entity_tokens"]) == (15, 10, 9000)
    assert parameters("--top-n", "auto") == {**asked, "adaptive_n": True}
    assert parameters("--top-n", "3", "--option", "entity_tokens=70") == {**asked, "top_n": 3, "entity_tokens": 70}
    assert parameters("--strategy", "vector") == {"top_c": 10, "least_cosine": 0.2, "max_tokens": 12000}
    with pytest.raises(SystemExit, match="2"):
        main(["ask", out, "What do bees make?", "--preset", "paper"])
    assert "paper-agriculture" in capsys.readouterr().err


def test_a_question_that_is_too_long_is_wrong_usage(built: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ask", str(built), "why " * 25_000]) == 2
    assert capsys.readouterr().err.startswith(
        "leanrag: the question has 100,000 characters, the limit is 4,000: shorten"
    )


@pytest.mark.parametrize(
    ("name", "added"),
    [
        ("spoilt", "def retrieve(self, query, index, tools):\n        return {}['Why?']\n\n    def unused("),
        ("unmade", "def __init__(self, config):\n        self.config = {}['Why?']\n\n    def retrieve("),
        ("unready", "@property\n    def needed_parts(self):\n        return {}['Why?']\n\n    def retrieve("),
    ],
)
def test_a_strategy_that_raises_is_named_with_its_line(
    built: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    name: str,
    added: str,
) -> None:
    code = Path(strategies.__path__[0], "bm25.py").read_text(encoding="utf-8").replace('"bm25"', f'"{name}"')
    (tmp_path / f"{name}.py").write_text(code.replace("def retrieve(", added), encoding="utf-8")
    monkeypatch.setattr(strategies, "__path__", [*strategies.__path__, str(tmp_path)])
    assert main(["ask", str(built), "Why?", "--strategy", name]) == 1
    error = capsys.readouterr().err
    assert re.search(rf"the strategy {name} failed in line \d+ of {name}\.py: 'Why\?' is missing\.", error)
    assert "or choose another strategy" in error


def test_a_saved_run_is_shown_without_its_index(
    built: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = tmp_path / "run.json"
    assert main(["ask", str(built), "What nectar?", "--save", str(run)]) == 0
    asked = capsys.readouterr().out
    monkeypatch.setenv("LEANRAG_HOME", str(tmp_path / "empty"))
    assert main(["show-run", str(run)]) == 0
    assert capsys.readouterr().out == f" question: What nectar?\n{asked}"
    assert main(["show-run", str(run), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["question"] == "What nectar?"
    assert main(["show-run", str(tmp_path / "absent.json")]) == 1
    assert "there is no recorded run" in capsys.readouterr().err


def test_a_graph_is_imported_and_asked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tables(tmp_path / "bees", entities=ENTITIES, relations=f"{RELATIONS}1,77,Gone.,1,,\n", chunks=CHUNKS)
    out = tmp_path / "out"
    assert main(["import", "plain", str(folder), "--out", str(out), "--cluster-size", "2", "--json"]) == 0
    output = capsys.readouterr()
    result = json.loads(output.out)
    assert (result["kind"], result["layers"][0]["entities"], result["drops"]) == ("imported graph", 3, {"import": 1})
    assert "relations.csv row 4: its end '77' is not among the entities" in output.err
    assert main(["check", str(out)]) == 0
    assert main(["ask", str(out), "What weakens honey bees?"]) == 0
    assert "mite" in capsys.readouterr().out


def test_an_import_that_cannot_be_read_is_a_failure_with_the_remedy(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["import", "plain", str(tmp_path), "--out", str(tmp_path.parent / "out")]) == 1
    assert "has no entities.csv" in capsys.readouterr().err
    assert main(["import", "gephi", str(tmp_path), "--out", str(tmp_path.parent / "out")]) == 2


def test_recommended_systems_are_named_in_full_above_each_other(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LEANRAG_HOME", str(tmp_path))
    assert main(["recommend", "--most", "99"]) == 0
    lines = capsys.readouterr().out.splitlines()
    [head] = [line for line in lines if line.endswith("alike, from")]
    rows = [line for line in lines if "-beekeeping-" in line]
    assert len(rows) > 20
    end = head.index("chance") + len("chance")
    assert all(re.fullmatch(r"\S.* (\d+ %|-)", row[:end]) for row in rows)
    assert any(len(row[:end].rpartition("  ")[0].rstrip()) > 33 for row in rows), "a name that was cut"
