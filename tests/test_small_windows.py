"""No request is sent that a model's window cannot hold: by a build, index parts, questions to every system, judges."""

from collections.abc import Iterator

import pytest

from leanrag_core import IndexConfig, Workbench
from leanrag_core.errors import PromptTooLong
from leanrag_core.evaluation.gold import GoldQuestion
from leanrag_core.indexing.part_base import parts
from leanrag_core.retrieval.base import strategies
from leanrag_core.types.experiment import ABSOLUTE, GRADED, PAIRWISE, ExperimentSpec, JudgeSpec, RunSpec
from leanrag_core.types.index import Index
from leanrag_core.types.settings import Settings
from leanrag_core.workbench.questions import AskRequest
from tests.endpoint.coast import PEOPLE, PLACES, WORKS
from tests.endpoint.scripted_model import ScriptedModel
from tests.endpoint.server import EndpointServer
from tests.evaluation.judging.scripted import score_reply, winner_reply

pytestmark = pytest.mark.slow
QUESTION = "Who built the Lantern House at Marram Point, and what became of the Signal Tower?"
WINDOWS = (2048, 4096)  # in which most systems cut something, and a few
BETTER = ("You compare two answers", lambda prompt: winner_reply(1))
EIGHT = ("You score an answer", lambda prompt: score_reply(8))


def chronicle(number: int) -> bytes:
    """Return a document whose people and places are described again and again, so that everything about them is
    long."""
    lines = []
    for n in range(45):
        who, where = PEOPLE[(number + n) % 7], PLACES[(number * 3 + n) % 5]
        work, other = WORKS[(number + 2 * n) % 4], PEOPLE[(number + 3 * n + 1) % 7]
        lines.append(
            f"In year {n} of chronicle {number} {who} rebuilt the {work} at {where} together with {other}, after the "
            f"storm of month {n % 12} had carried away its northern wall, {3 + n % 9} lamps and the great bell."
        )
    return "\n\n".join(lines).encode()


@pytest.fixture(scope="module", params=WINDOWS)
def server(request: pytest.FixtureRequest) -> Iterator[EndpointServer]:
    model = ScriptedModel(further=(BETTER, EIGHT))
    with EndpointServer(model, window=request.param, slot_n_ctx=request.param, ollama=False) as endpoint:
        yield endpoint


@pytest.fixture(scope="module")
def bench(server: EndpointServer, tmp_path_factory: pytest.TempPathFactory) -> Workbench:
    bench = Workbench.default(tmp_path_factory.mktemp("home"))
    bench.settings.save(Settings(base_url=server.url, retries=0, concurrency=4))
    return bench


@pytest.fixture(scope="module")
def index(bench: Workbench) -> Index:
    corpus = bench.add_documents("Chronicles", [(f"c{n}.txt", chronicle(n)) for n in range(2)]).corpus_id
    return bench.build(corpus, IndexConfig(model="openai:m", chunk_tokens=1024, cluster_size=20, tau=1))


def too_long(server: EndpointServer) -> list[str]:
    return [
        f"{request.kind} {request.outcome}"
        for request in server.log
        if request.outcome == "refused" and "chat" in request.path
    ]


def test_a_build_sends_nothing_that_does_not_fit_and_loses_no_chunk(index: Index, server: EndpointServer) -> None:
    assert too_long(server) == []
    assert not index.report.empty_chunks
    assert len(server.answered("extract_graph")) >= index.chunks.num_rows
    assert server.answered("aggregate_entity")


@pytest.fixture(scope="module")
def refused_by_parts(bench: Workbench, index: Index, server: EndpointServer) -> list[str]:
    """Return what was refused while every index part was made."""
    server.clear()
    for info in parts().parts:
        bench.parts.build(index, info.name)
    return too_long(server)


def test_every_index_part_is_made_within_the_window(refused_by_parts: list[str]) -> None:
    assert refused_by_parts == []


@pytest.mark.usefixtures("refused_by_parts")
def test_every_system_asks_and_answers_within_the_window(
    bench: Workbench, index: Index, server: EndpointServer
) -> None:
    window, cut = server.window or 0, list[str]()
    for info in strategies().strategies:
        server.clear()
        trace = bench.questions.retrieve(index, AskRequest(QUESTION, info.name))
        answer = bench.questions.answer(index, trace)
        assert too_long(server) == [], info.name
        assert answer.text, info.name
        assert trace.context.tokens < window, info.name
        codes = {note.code for note in trace.notes}
        cut += [info.name] if codes & {"answer.context_cut", "strategy.note.prompts_cut"} else []
    assert "leanrag" in cut
    assert len(cut) >= {2048: 8, 4096: 2}[window], cut


def test_an_experiment_with_judges_stays_within_the_window(
    bench: Workbench, index: Index, server: EndpointServer
) -> None:
    questions = (
        GoldQuestion("q1", QUESTION, ("Ada Thornbury",)),
        GoldQuestion("q2", "What is the Fog Bell?", ("A bell",)),
    )
    set_id = bench.question_sets.add("Chronicles", questions)
    assert index.path is not None
    runs = tuple(RunSpec(name, index.path.name, name) for name in ("leanrag", "vector"))
    judge = JudgeSpec("openai:judge", (ABSOLUTE, PAIRWISE, GRADED))
    spec = ExperimentSpec("Judged", set_id, runs, baseline="vector", judges=(judge,), claims=True)
    bench.experiments.run(spec)
    assert too_long(server) == []


def test_a_prompt_that_cannot_fit_is_not_sent(bench: Workbench, server: EndpointServer) -> None:
    language = bench.models.make().language("openai:m")
    assert language is not None
    server.clear()
    with pytest.raises(PromptTooLong, match="leaves no room for a reply"):
        language.complete([{"role": "user", "content": "A long story. " * 4000}])
    assert not server.answered("echo")
    assert too_long(server) == []
