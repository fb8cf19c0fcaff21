"""Reranking by a server: its forms, its scores in the trace, its budget, and what happens when it fails."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from leanrag_core import Workbench
from leanrag_core.errors import BudgetSpent, CallFailed, InvalidConfig
from leanrag_core.files.records import to_json
from leanrag_core.messages.catalog import sentence
from leanrag_core.models.reranking import Reranker, rerank_form, rerank_forms
from leanrag_core.retrieval.variants import VariantSettings, groups
from leanrag_core.strategy_contract import untimed
from leanrag_core.text.tokens import count_tokens
from leanrag_core.types.config import IndexConfig
from leanrag_core.types.roles import RERANKING, Price, Role
from leanrag_core.types.settings import Settings
from leanrag_core.workbench.questions import AskRequest
from tests.endpoint.coast import story
from tests.endpoint.listener import Failure, listener

QUESTION = "Who built the Lantern House?"


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Workbench:
    bench = Workbench.default(tmp_path_factory.mktemp("home"))
    corpus = bench.add_documents("Coast", [(f"s{n}.txt", story(n)) for n in range(4)]).corpus_id
    bench.build(corpus, IndexConfig(chunk_tokens=64, overlap_tokens=8, cluster_size=5))
    return bench


def set_role(bench: Workbench, role: Role, **more: Any) -> None:
    bench.settings.save(replace(Settings(retries=0).with_role(RERANKING, role), **more))


def ask(bench: Workbench, **options: Any) -> Any:
    (summary,) = bench.indexes.all()
    return bench.retrieve(bench.open(summary.id), QUESTION, "vector", top_c=3, **options)


def last_first(path: str, body: dict[str, Any]) -> dict[str, Any]:
    """Score by place: the last text is the best."""
    n = len(body["documents"])
    results = [{"index": place, "relevance_score": (place + 1) / n} for place in reversed(range(n))]
    return {"results": results, "usage": {"total_tokens": 70}}


def test_the_candidates_are_taken_in_the_order_of_the_scores_and_the_trace_says_so(bench: Workbench) -> None:
    plain = ask(bench)
    with listener(last_first) as server:
        set_role(bench, Role(server.url, model="openai:r1", price=Price(1.0)))
        trace = ask(bench, rerank=8)
        again = ask(bench, rerank=8)
        assert untimed(ask(bench)) == untimed(plain)  # nothing is asked without the option
    (body,) = server.bodies  # equal questions are asked once
    assert (server.paths, body["model"], body["query"], body["top_n"]) == (["/v1/rerank"], "r1", QUESTION, 8)
    assert [body["documents"][place] for place in range(3)] == [passage.text for passage in plain.passages]
    assert [passage.row for passage in trace.passages] == list(reversed(plain.ranked_chunks[:8]))[:3]
    assert [passage.rank for passage in trace.passages] == [1, 2, 3]
    assert [passage.reranked for passage in trace.passages] == [1.0, 0.875, 0.75]
    assert trace.ranked_chunks[8:] == plain.ranked_chunks[8:]
    assert sentence(trace.passages[0].reason) == "reranker 1.00, was number 8"
    assert [step.name for step in trace.steps] == ["chunks", "rerank", "context"]
    caption = "r1 scored the first 8 candidates; of the 3 passages that are taken 3 come from further down."
    assert sentence(trace.steps[1].caption) == caption
    assert trace.steps[1].usage.calls == 1
    assert (trace.usage.calls, trace.usage.prompt_tokens, trace.usage.cost) == (1, 70, 70e-6)
    assert trace.parameters["rerank"] == 8
    assert [item.ref for item in trace.context.sections[0].items] == [passage.id for passage in trace.passages]
    assert again.passages == trace.passages
    assert again.usage.calls == 0


def test_fewer_reranked_than_taken_leaves_the_rest_in_place(bench: Workbench) -> None:
    plain = ask(bench)
    with listener(last_first) as server:
        set_role(bench, Role(server.url))
        trace = ask(bench, rerank=2)
    assert [item.row for item in trace.passages] == [plain.ranked_chunks[place] for place in (1, 0, 2)]
    assert trace.passages[2] == plain.passages[2]


def test_off_nothing_of_it_is_in_a_trace(bench: Workbench) -> None:
    assert b"rerank" not in to_json(ask(bench))
    assert to_json(untimed(ask(bench, rerank=0))) == to_json(untimed(ask(bench)))


FORMS = {
    "cohere": lambda n: {"results": [{"index": place, "relevance_score": place} for place in range(n)]},
    "tei": lambda n: [{"index": place, "score": float(place)} for place in range(n)],
    "voyage": lambda n: {"data": [{"index": place, "relevance_score": place} for place in range(n)]},
}


@pytest.mark.parametrize("form", [form.name for form in rerank_forms()])
def test_each_form_is_asked_and_read(bench: Workbench, form: str) -> None:
    fields = rerank_form(form)
    with listener(lambda path, body: FORMS[form](len(body[fields.documents]))) as server:
        set_role(bench, Role(server.url, rerank_form=form, body='{"truncate": false}'))
        trace = ask(bench, rerank=5)
    assert [passage.reranked for passage in trace.passages] == [4.0, 3.0, 2.0]
    (body,) = server.bodies
    assert set(body) == {fields.query, fields.documents, "truncate", *filter(None, (fields.most,))}
    assert body["truncate"] is False  # a field of the role comes before that of the form


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (Failure(500, {"error": "out of memory"}), "out of memory"),
        (Failure(400, {"error": {"message": "no such model"}}), "no such model"),
        (Failure(401, {"error": {"message": "bad key"}}), "RERANKING_API_KEY"),
        ({"results": [{"index": 0, "relevance_score": 1.0}]}, "sent 1 scores for 5 passages"),
        ({"results": [{"index": n, "relevance_score": "high"} for n in range(5)]}, "sent 0 scores for 5 passages"),
        ("<html>", "sent 0 scores"),
    ],
)
def test_a_server_that_fails_leaves_the_ranking_and_the_trace_says_why(bench: Workbench, reply: Any, said: str) -> None:
    plain = ask(bench)
    with listener(lambda path, body: reply) as server:
        set_role(bench, Role(server.url))
        trace = ask(bench, rerank=5)
    assert (trace.passages, trace.context) == (plain.passages, plain.context)
    (note,) = trace.notes
    assert sentence(note).startswith("Not reranked, the passages are in the system's own order: ")
    assert said in sentence(note)
    assert [step.name for step in trace.steps] == ["chunks", "rerank", "context"]


def by_length(path: str, body: dict[str, Any]) -> Any:
    """Score by the number of words, in TEI's form."""
    return [{"index": place, "score": float(len(text.split()))} for place, text in enumerate(body["texts"])]


LONG = ["bee " * 900, "iron rusts", "bee " * 700]


@pytest.mark.parametrize("by", ["hand", "list of models", "TEI"])
def test_passages_are_cut_to_the_window_that_a_person_or_the_server_says(bench: Workbench, by: str) -> None:
    told = {"/v1/models": {"data": [{"id": "r", "max_model_len": 512}]}} if by == "list of models" else {}
    told |= {"/info": {"max_input_length": 512, "model_id": "bge"}} if by == "TEI" else {}
    reply = by_length if by == "TEI" else last_first
    with listener(reply, told) as server:
        own = Role(server.url, model="openai:r", window=512 if by == "hand" else 0)
        set_role(bench, replace(own, rerank_form="tei" if by == "TEI" else "cohere"))
        scores = Reranker(bench.models.make()).scores(f"Which insect makes honey, asks {by}?", LONG)
    (body,) = server.bodies
    sent = body["texts" if by == "TEI" else "documents"]
    assert (scores.n_cut, scores.window) == (2, 512)
    assert sent[1] == LONG[1]
    assert LONG[0].startswith(sent[0])
    # 512 of the model's tokens are 409 of ours at its usual factor, less those of the question and of a template.
    assert 370 <= count_tokens(sent[0]) <= 393
    assert sent[0] == sent[2]


def test_a_trace_says_how_many_passages_the_window_has_cut(bench: Workbench) -> None:
    with listener(last_first) as server:
        set_role(bench, Role(server.url, model="openai:narrow", window=512))
        (summary,) = bench.indexes.all()
        question = f"Who built the {'very ' * 330}old Lantern House?"  # which leaves a passage some 50 tokens
        index = bench.open(summary.id)
        trace = bench.retrieve(index, question, "vector", top_c=3, rerank=5)
    (note,) = trace.notes
    assert [passage.reranked for passage in trace.passages] == [1.0, 0.8, 0.6]
    chunks = {index.chunk(row).text for row in range(index.chunks.num_rows)}
    n_cut = sum(text not in chunks for text in server.bodies[0]["documents"])
    assert n_cut >= 3
    assert f"{n_cut} of 5 candidates are longer than the reranker reads" in sentence(note)


def test_a_question_that_fills_the_window_is_not_sent(bench: Workbench) -> None:
    with listener(last_first) as server:
        set_role(bench, Role(server.url, model="openai:narrow", window=512))
        (summary,) = bench.indexes.all()
        question = f"Who built the {'very ' * 400}old Lantern House?"
        trace = bench.retrieve(bench.open(summary.id), question, "vector", top_c=3, rerank=5)
    assert server.bodies == []
    assert "of the 512 tokens that the reranker reads" in sentence(trace.notes[0])


def test_a_server_that_takes_32_texts_is_asked_in_parts(bench: Workbench) -> None:
    texts = ["word " * (n + 1) for n in range(70)]
    with listener(by_length) as server:
        set_role(bench, Role(server.url, rerank_form="tei"))
        scores = Reranker(bench.models.make()).scores("q", texts)
    assert [len(body["texts"]) for body in server.bodies] == [32, 32, 6]
    assert all(body["truncate"] is True for body in server.bodies)
    assert scores.values == tuple(float(n + 1) for n in range(70))


def test_in_a_measure_a_reranker_that_fails_is_an_error(bench: Workbench) -> None:
    """Check that the error is raised: else a run that is called reranked would have the figures of one that is not."""
    (summary,) = bench.indexes.all()
    index = bench.open(summary.id)
    with listener(lambda path, body: Failure(500, {"error": "out of memory"})) as server:
        set_role(bench, Role(server.url, model="openai:fails"))
        options = {"top_c": 3, "rerank": 5}
        with pytest.raises(CallFailed, match="out of memory"):
            bench.questions.retriever(index, "vector", options)(QUESTION)
        with pytest.raises(CallFailed, match="out of memory"):
            bench.questions.retrieve(index, AskRequest(QUESTION, "vector", options, measured=True))
        assert len(server.bodies) == 2


def test_without_a_server_the_option_is_refused_with_what_to_do(bench: Workbench) -> None:
    bench.settings.save(Settings())
    with pytest.raises(InvalidConfig, match="no server reranks"):
        ask(bench, rerank=5)


def test_calls_end_at_the_budget_of_the_role(bench: Workbench) -> None:
    with listener(last_first) as server:
        set_role(bench, Role(server.url, model="openai:budget", max_calls=1))
        models = bench.models.make()
        first, part = Reranker(models), Reranker(models.counted_apart("x"))
        assert first.scores("q", ["a", "b"]).values == (0.5, 1.0)
        assert part.scores("q", ["a", "b"]).values == (0.5, 1.0)  # kept
        with pytest.raises(BudgetSpent, match="1 reranking calls"):
            part.scores("another", ["a", "b"])
    assert len(server.bodies) == 1


def test_a_column_with_reranking_beside_one_without_is_called_reranked() -> None:
    columns = {
        "A": VariantSettings("vector", {"top_c": 3}, {}),
        "B": VariantSettings("vector", {"top_c": 3, "rerank": 20}, {}),
    }
    (group,) = groups(columns)
    assert [sentence(name) for letter in "AB" if (name := group.name(letter))] == [
        "not reranked",
        "reranked, the first 20",
    ]


def test_an_unknown_form_is_refused(bench: Workbench) -> None:
    set_role(bench, Role("http://127.0.0.1:9/v1", rerank_form="morse"))
    ask(bench)  # without reranking nobody cares
    with pytest.raises(InvalidConfig, match="morse"):
        ask(bench, rerank=2)


def test_the_key_of_the_role_is_sent_and_stored_nowhere(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("RERANK_KEY", "rerank-secret-0815")
    with listener(last_first) as server:
        set_role(bench, Role(server.url, "RERANK_KEY", model="openai:keyed"))
        trace = ask(bench, rerank=4)
    assert server.keys == ["Bearer rerank-secret-0815"]
    assert b"rerank-secret" not in to_json(trace)
