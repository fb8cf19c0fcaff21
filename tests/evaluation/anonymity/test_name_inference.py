"""A scripted model infers names behind placeholders; the command retrieves from an index of the anonymous corpus."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from leanrag_core import IndexConfig
from leanrag_core.__main__ import main
from leanrag_core.evaluation.anonymity import Dictionary, Placeholder
from leanrag_core.evaluation.gold import GoldQuestion
from leanrag_core.evaluation.question_sets.reading import to_jsonl
from leanrag_core.files.records import to_json
from tests.endpoint.scripted_model import ScriptedModel
from tests.endpoint.server import EndpointServer
from tests.evaluation.experiments import bench_in

TEXT = b"PERSON_1 was born in LOCATION_1. PERSON_1 worked with PERSON_2 in Gottingen."
DICTIONARY = Dictionary(
    "x",
    (
        Placeholder("PERSON_1", "person", ("Emmy Noether", "Noether")),
        Placeholder("PERSON_2", "person", ("David Hilbert",)),
        Placeholder("LOCATION_1", "location", ("Erlangen",)),
    ),
)
QUESTIONS = (
    GoldQuestion("born", "Where was PERSON_1 born?", ("LOCATION_1",)),
    GoldQuestion("worked", "With whom did PERSON_1 work?", ("PERSON_2",)),
    GoldQuestion("plain", "What is a ring?", ("a set",)),
)


def _knows(prompt: str) -> str:
    """Return what a model says that knows Noether by her short name, takes Erlangen for Bonn, and leaves Hilbert out;
    to the question about work it says nothing that can be read when it may not guess. It knows nothing without the
    passage."""
    if "was born in LOCATION_1" not in prompt.split("A question and its answer", 1)[0]:
        return "I cannot tell."
    if "Do\nnot guess" in prompt and "With whom" in prompt:
        return "I cannot tell."
    given = {"PERSON_1": "the Noether", "LOCATION_1": "Bonn", "PERSON_2": ""}
    listed = re.findall(r"\w+_\d+", prompt.rsplit("Placeholders:", 1)[1])
    names = [{"placeholder": f"[{each.replace('_', '#')}]", "name": given[each]} for each in listed]
    return json.dumps({"names": names})


@pytest.fixture(scope="module")
def server() -> Iterator[EndpointServer]:
    with EndpointServer(ScriptedModel(further=(("stand hidden behind placeholders", _knows),))) as endpoint:
        yield endpoint


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, server: EndpointServer) -> Path:
    root = tmp_path_factory.mktemp("inference")
    bench = bench_in(root, server)
    built = bench.build(bench.add_documents("Lives", [("document-1.txt", TEXT)]).corpus_id, IndexConfig(cluster_size=4))
    assert built.path is not None
    (root / "index").symlink_to(built.path)
    (root / "dictionary.json").write_bytes(to_json(DICTIONARY))
    (root / "questions.jsonl").write_bytes(to_jsonl(QUESTIONS))
    return root


def command(folder: Path, *more: str) -> list[str]:
    files = [str((folder / "index").resolve()), str(folder / "dictionary.json"), str(folder / "questions.jsonl")]
    return ["infer-names", *files, *more]


def test_names_are_scored_by_any_name_of_the_entity_and_asked_for_once(
    folder: Path, server: EndpointServer, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LEANRAG_HOME", str(folder))
    server.clear()
    assert main(command(folder, "--model", "openai:m", "--json")) == 0
    made = json.loads(capsys.readouterr().out)
    assert len(server.log) == 2, "a question without a placeholder is not asked about"
    assert [(each["question"], each["placeholder"], each["is_right"]) for each in made["names"]] == [
        ("born", "PERSON_1", True),
        ("born", "LOCATION_1", False),
        ("worked", "PERSON_1", True),
        ("worked", "PERSON_2", False),
    ]
    assert (made["right"]["value"], made["left_out"]["value"]) == (0.5, 0.25)
    assert (made["n_lost"], made["n_bare"]) == (0, 1)
    server.clear()
    assert main(command(folder, "--model", "openai:m", "--json")) == 0
    assert json.loads(capsys.readouterr().out) == made
    assert list(server.log) == []


def test_reject_mode_has_a_prompt_of_its_own_and_counts_lost_replies(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LEANRAG_HOME", str(folder))
    assert main(command(folder, "--model", "openai:m", "--mode", "reject")) == 0
    said = capsys.readouterr().out
    assert "names right 50.0 %, left out 0.0 %, 1 reply lost" in said
    assert '"placeholder": "LOCATION_1", "name": "Bonn"' in said


def test_the_part_that_the_strategy_needs_is_made_first(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LEANRAG_HOME", str(folder))
    assert main(command(folder, "--model", "openai:m", "--strategy", "bm25", "--json")) == 0
    assert json.loads(capsys.readouterr().out)["n_lost"] == 0
    assert [path.name for path in (folder / "index" / "parts").iterdir()] == ["lexical"]


def test_the_built_in_engine_knows_no_names(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LEANRAG_HOME", str(folder))
    assert main(command(folder, "--model", "builtin")) == 2
    assert "openai:NAME" in capsys.readouterr().err
