"""A whole build by a real, small and bad writer: real tokens, real latency, real nonsense."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from leanrag_core import IndexConfig, Workbench
from leanrag_core.checking.check import check_index
from leanrag_core.types.settings import Settings
from tests.endpoint.small_model import AVAILABLE

pytestmark = [
    pytest.mark.slow,
    pytest.mark.alone,
    pytest.mark.skipif(not AVAILABLE, reason="requirements-models.txt is not installed: the download did not work"),
]
PROJECT = Path(__file__).resolve().parent.parent
TEXTS = [
    (
        "mill.txt",
        b"The tide mill at Carrow was built in 1788 by Hester Lunn. It ground barley for the village of Carrow.",
    ),
    ("light.txt", b"Ada Thornbury built the lighthouse on Holm Rock in 1868. Keepers came by boat from Grey Harbour."),
    ("bees.txt", b"Varroa mites weaken bee colonies. Beekeepers treat hives with oxalic acid in winter."),
]


@pytest.fixture
def address() -> Iterator[str]:
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.endpoint.small_model"],
        cwd=PROJECT,
        env={**os.environ, "PYTHONPATH": str(PROJECT)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout is not None
    for line in process.stdout:
        if line.startswith("http"):
            yield line.strip()
            break
    else:
        pytest.fail(f"the server of the small model ended with exit code {process.wait()}")
    process.communicate(timeout=30)
    assert process.returncode is not None


def test_a_real_small_model_ends_with_an_index_and_its_losses_counted(address: str, tmp_path: Path) -> None:
    bench = Workbench.default(tmp_path)
    bench.settings.save(Settings(base_url=address, concurrency=2, timeout_seconds=120, retries=1, max_reply_tokens=220))
    assert bench.models.make().endpoint.models() == ["smollm2-135m"]
    assert bench.models.make().endpoint.context_window("smollm2-135m") == 8192 // 2, (
        "each of llama.cpp's two slots has half"
    )
    corpus = bench.add_documents("Small", TEXTS).corpus_id
    config = IndexConfig(model="openai:smollm2-135m", cluster_size=3, chunk_tokens=64, overlap_tokens=0)
    models = bench.models.make()
    built = bench.build(corpus, config, models=models)
    assert all(check.ok for check in check_index(built))
    assert built.manifest.kind == "LLM graph"
    spent = models.meter.read()
    assert spent.usage.calls >= 3
    assert spent.usage.completion_tokens > 50
    assert spent.usage.prompt_tokens > 500
    silent = set(built.report.empty_chunks)
    dropped_texts = " ".join(dropped.item for dropped in built.report.dropped.get("extract", ()))
    assert all(chunk in dropped_texts for chunk in silent), "a chunk without entities has its loss told"
    answer = bench.ask(built, "Who built the tide mill at Carrow?")
    assert answer.text
    assert answer.model == "openai:smollm2-135m"
    again = bench.models.make()
    bench.build(corpus, config, models=again)
    assert again.meter.read().reused > 0
