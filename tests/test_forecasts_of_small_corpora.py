"""The calls that a build takes lie in the interval of its forecast: ten corpora of three sizes, a good and a weak
model."""

from pathlib import Path

import pytest

from leanrag_core import IndexConfig, Workbench
from leanrag_core.types.settings import Settings
from leanrag_core.workbench.samples import SAMPLES
from tests.endpoint.coast import story
from tests.endpoint.faults import REPEATED_LOOP, WRONG_KEYS, FaultPlan
from tests.endpoint.server import EndpointServer

pytestmark = pytest.mark.slow
LINES = (
    "Ada Lovelace met Charles Babbage in London in 1833. He showed her a part of the Difference Engine.",
    "Bees make honey. A colony has one queen and some thirty thousand workers, says Karl von Frisch.",
    "The Tide Mill stands at Grey Harbour. Bela Kraus sold it to Flora Penn, who gave it to the Marram Society.",
)
WEAK = FaultPlan(share=0.5, kinds=(REPEATED_LOOP, WRONG_KEYS), recover_after=None, seed=3, tasks=("extract_graph",))


def pages() -> list[str]:
    """Return longer documents of the samples, in a fixed order."""
    files = sorted(path for path in SAMPLES.rglob("*.md") if path.stat().st_size > 6000)
    return [path.read_text(encoding="utf-8") for path in files]


def corpora() -> dict[str, list[str]]:
    """Return three corpora of a line or two, four of a page or two, three of some fifteen chunks."""
    listed = {f"line {n}": [line] for n, line in enumerate(LINES)}
    listed |= {"story": [story(0).decode()]} | {f"page {n}": [pages()[5 * n][:6000]] for n in range(3)}
    return listed | {f"shelf {n}": [text[:15000] for text in pages()[3 * n : 3 * n + 4]] for n in range(3)}


GOOD = ("line 0", "line 1", "line 2", "story", "page 0", "page 1", "shelf 0")
WITH_LOSSES = ("story", "page 2", "shelf 1", "shelf 2")  # a single chunk that gives nothing is no build


@pytest.mark.parametrize(
    ("name", "plan"), [*((name, FaultPlan()) for name in GOOD), *((name, WEAK) for name in WITH_LOSSES)]
)
def test_the_calls_of_a_build_are_inside_the_interval_of_its_forecast(
    name: str, plan: FaultPlan, tmp_path: Path
) -> None:
    with EndpointServer(plan=plan, num_ctx=32768) as server:
        bench = Workbench.default(tmp_path)
        bench.settings.save(Settings(base_url=server.url, retries=1))
        files = [(f"{n}.txt", text.encode()) for n, text in enumerate(corpora()[name])]
        corpus = bench.add_documents(name, files).corpus_id
        config = IndexConfig(model="openai:m")
        made = bench.builds.forecast(corpus, config)
        bench.build(corpus, config)
        assert made.calls.low <= len(server.log) <= made.calls.high
