"""A whole build by a real, small and bad writer, a model file that the program serves: real tokens, real latency, real
nonsense."""

import gc
import json
import os
import signal
from pathlib import Path

import psutil
import pytest

from leanrag_core import IndexConfig, Workbench
from leanrag_core.__main__ import main
from leanrag_core.checking.check import check_index
from leanrag_core.types.settings import Settings
from tests import waiting
from tests.endpoint.model_files import AVAILABLE, WHY_NOT, weights

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not AVAILABLE, reason=WHY_NOT)]
TEXTS = [
    (
        "mill.txt",
        b"The tide mill at Carrow was built in 1788 by Hester Lunn. It ground barley for the village of Carrow.",
    ),
    ("light.txt", b"Ada Thornbury built the lighthouse on Holm Rock in 1868. Keepers came by boat from Grey Harbour."),
]


QUESTION = "Who built the tide mill at Carrow?"
SMALL = {"cluster_size": 3, "chunk_tokens": 64, "overlap_tokens": 0}


def test_a_model_file_builds_an_index_with_its_losses_counted_and_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LEANRAG_HOME", str(tmp_path))
    bench = Workbench.default(tmp_path)
    file = bench.model_files.add(weights())
    # One call at a time: the server reads once what prompts begin with. In the test below two are under way.
    bench.settings.save(Settings(retries=1, max_reply_tokens=64, concurrency=1))
    corpus = bench.add_documents("Small", TEXTS).corpus_id
    config = IndexConfig(model=f"file:{file.name}", **SMALL)
    models = bench.models.make()
    built = bench.build(corpus, config, models=models)
    assert all(check.ok for check in check_index(built))
    assert built.manifest.kind == "LLM graph"
    spent = models.meter.read()
    assert spent.usage.calls >= 3
    assert spent.usage.completion_tokens > 50
    assert spent.usage.prompt_tokens > 500
    assert spent.usage.cost == 0
    silent = set(built.report.empty_chunks)
    dropped_texts = " ".join(dropped.item for dropped in built.report.dropped.get("extract", ()))
    assert all(chunk in dropped_texts for chunk in silent), "a chunk without entities has its loss told"
    answer = bench.ask(built, QUESTION)
    assert answer.text
    assert answer.model == f"file:{file.name}"

    # The command takes the file by its path, and what was answered before is not asked for again.
    server = bench.model_files.servers.running(file)
    assert server is not None
    sources, out = tmp_path / "texts", str(tmp_path / "out")
    sources.mkdir()
    for name, text in TEXTS:
        (sources / name).write_bytes(text)
    options = ["--cluster-size", "3", "--chunk-tokens", "64", "--overlap-tokens", "0", "--json"]
    assert main(["build", str(sources), "--out", out, "--model", f"file:{weights()}", *options]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["config"]["model"] == f"file:{weights().name}"
    assert main(["ask", out, QUESTION, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["answer"]["text"] == answer.text
    with pytest.raises(SystemExit, match="2"):
        main(["build", str(sources), "--out", out, "--model", "file:./nowhere.gguf"])
    assert "nowhere.gguf cannot be read" in capsys.readouterr().err

    # The server dies: the next call starts it again. Then the process that serves ends with its last user.
    server = bench.model_files.servers.running(file)
    assert server is not None
    os.kill(server.pid, signal.SIGKILL)
    waiting.until(lambda: bench.model_files.servers.running(file) is None)
    assert bench.ask(built, "Who built the lighthouse on Holm Rock?").text
    server = bench.model_files.servers.running(file)
    assert server is not None
    # Neither the key nor the folder of the file is in anything that is kept of the index.
    for path in [*(tmp_path / "indexes").rglob("*"), *(tmp_path / "calls").rglob("*")]:
        content = path.read_bytes() if path.is_file() else b""
        assert server.key.encode() not in content
        assert str(weights().parent).encode() not in content
    bench.model_files.servers.close()
    gc.collect()  # a command's workbench in this process uses the server until it is collected
    waiting.until(lambda: not psutil.pid_exists(server.pid), seconds=180)


def test_the_model_names_clusters_and_answers_over_a_graph_of_the_built_in_engine(tmp_path: Path) -> None:
    bench = Workbench.default(tmp_path)
    name = f"file:{bench.model_files.add(weights()).name}"
    bench.settings.save(Settings(retries=1, max_reply_tokens=64, answer_model=name))
    corpus = bench.add_documents("Small", TEXTS[:1]).corpus_id
    built = bench.build(corpus, IndexConfig(aggregation_model=name, **SMALL))
    assert built.manifest.kind == "heuristic graph"
    assert built.manifest.aggregation_model.startswith(name)
    assert bench.ask(built, QUESTION).model == name
    bench.model_files.servers.close()
