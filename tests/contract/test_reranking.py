"""What holds for every strategy that ranks passages when a server puts them in another order."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from leanrag_core import Workbench, strategy_contract
from leanrag_core.figures.layered import layered_graph
from leanrag_core.figures.layered_places import WIDE
from leanrag_core.figures.play_scenes import scenes
from leanrag_core.files.records import from_json, to_json
from leanrag_core.retrieval import strategies as own_strategies
from leanrag_core.retrieval.base import RERANK, strategies
from leanrag_core.strategy_contract import Case, case
from leanrag_core.types.index import Index
from leanrag_core.types.roles import RERANKING, Role
from leanrag_core.types.trace import Trace
from tests.endpoint.listener import listener

OWN = tuple(sorted(path.stem for path in Path(own_strategies.__file__).parent.glob("[!_]*.py")))
NAMES = (*OWN, "zoo", "zoo_keeper")
UNRANKED = {"zero_shot", "graphrag_global", "zoo", "zoo_keeper"}  # the last two have a Config all of their own
CHECKS = (strategy_contract.references, strategy_contract.passages, strategy_contract.sentences)


def last_first(path: str, body: dict[str, Any]) -> dict[str, Any]:
    return {"results": [{"index": place, "relevance_score": float(place)} for place in range(len(body["documents"]))]}


@pytest.fixture
def reranking_home(contract_home: Workbench) -> Iterator[Workbench]:
    before = contract_home.settings.read()
    with listener(last_first) as server:
        contract_home.settings.save(before.with_role(RERANKING, Role(server.url, model="openai:last-first")))
        yield contract_home
    contract_home.settings.save(before)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("where", ["tiny", "one chunk", "chinese"])
def test_a_reranked_trace_keeps_the_contract(
    reranking_home: Workbench, indexes: dict[str, Index], name: str, where: str
) -> None:
    has_option = RERANK in strategies().named(name).config.__dataclass_fields__
    assert has_option == (name not in UNRANKED)
    if not has_option:
        return
    plain = case(reranking_home, indexes[where], name, where)
    trace = plain.retrieve(rerank=20)
    made = replace(plain, trace=trace)
    found = [problem for check in CHECKS for problem in check(made)]
    found += strategy_contract._context_problems(trace, {})
    assert found == []
    assert "rerank" in [step.name for step in trace.steps]
    assert from_json(Trace, to_json(trace)) == trace
    assert len(trace.passages) == len(plain.trace.passages)
    assert sorted(trace.ranked_chunks) == sorted(set(trace.ranked_chunks))
    assert all(layered_graph(trace, step, plot_px=WIDE) for step in range(len(trace.steps)))
    assert {scene.step for scene in scenes(trace)} >= {[step.name for step in trace.steps].index("rerank")}
    if plain.trace.passages and any(each.items for each in trace.context.sections):
        _is_reordered(plain, trace)


def _is_reordered(plain: Case, trace: Trace) -> None:
    """Check that the best of the reranked are those that came last, and that the context has them in that order."""
    scored = [passage.reranked for passage in trace.passages if passage.reranked is not None]
    assert scored == sorted(scored, reverse=True)
    marked = [item.ref for each in trace.context.sections for item in each.items]
    ids = [passage.id for passage in trace.passages if passage.id in marked]
    assert [ref for ref in marked if ref in set(ids)] == ids
    again = plain.retrieve(rerank=20)
    assert strategy_contract.untimed(again).context == trace.context
    measured = plain.bench.questions.retriever(plain.index, plain.name, {"rerank": 20}, context_alone=True)
    trace_alone = measured(trace.question)
    assert (trace_alone.context, trace_alone.passages) == (trace.context, trace.passages)
