"""A program asks over HTTP: lists, retrievals, answers whole and streamed, comparisons, entities; and every refusal."""

import json
from typing import Any

import httpx
import jsonschema
import pytest

from leanrag_core import Workbench
from leanrag_core.answering.record import ask_record
from tests.serving.served import INDEX, QUESTION, TOKEN, client_of, events_of

pytestmark = pytest.mark.slow
ASK, RETRIEVE = f"/api/indexes/{INDEX}/ask", f"/api/indexes/{INDEX}/retrieve"
PRIVATE = ("timings_ms", "milliseconds")  # other in each run


def without_times(values: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if name not in PRIVATE}


def asked(client: httpx.Client, **body: Any) -> dict[str, Any]:
    answer = client.post(ASK, json={"question": QUESTION, **body})
    assert answer.status_code == 200, answer.text
    values: dict[str, Any] = answer.json()
    return values


def test_indexes_strategies_and_documents_are_listed(client: httpx.Client, bench: Workbench) -> None:
    [index] = client.get("/api/indexes").json()
    assert (index["id"], index["entities"][-1]) == (INDEX, 1)
    assert index["documents"] == bench.open(INDEX).documents.num_rows
    strategies = {each["name"]: each for each in client.get("/api/strategies").json()}
    assert strategies["leanrag"]["options"]["top_n"] == 10
    assert strategies["hipporag"]["parts"] == ["synonyms"]
    names = [each["name"] for each in client.get(f"/api/indexes/{INDEX}/documents").json()]
    assert names == bench.open(INDEX).documents["name"].to_pylist()


def test_a_retrieval_has_what_ask_json_has_and_what_its_marks_stand_for(client: httpx.Client, bench: Workbench) -> None:
    values = client.post(RETRIEVE, json={"question": QUESTION, "options": {"top_c": 2}}).json()
    sources = values.pop("sources")
    own = json.loads(json.dumps(ask_record(bench.retrieve(INDEX, QUESTION, top_c=2), None)))
    assert without_times(values) == without_times(own)
    passages = [source for source in sources if source["kind"] == "passage"]
    assert [passage["text"] for passage in passages] == [chunk["text"] for chunk in values["chunks"]]
    assert len(passages) == 2


def test_an_answer_cites_passages_that_are_in_their_documents(client: httpx.Client, bench: Workbench) -> None:
    values = asked(client)
    assert {source["mark"] for source in values["sources"]} == set(values["answer"]["citations"])
    documents = bench.open(INDEX).documents
    text_of = dict(zip(documents["name"].to_pylist(), documents["text"].to_pylist(), strict=True))
    passages = [source for source in values["sources"] if source["kind"] == "passage"]
    assert passages
    for source in passages:
        assert text_of[source["name"]][source["start"] : source["end"]] == source["text"]


def test_a_streamed_answer_tells_its_steps_its_text_and_then_the_same_result(client: httpx.Client) -> None:
    for _ in range(2):
        with client.stream("POST", ASK, json={"question": QUESTION, "stream": True}) as answer:
            assert answer.headers["content-type"].startswith("text/event-stream")
            events = list(events_of(answer.iter_lines()))
        names = [event.name for event in events]
        assert names == ["step"] * names.count("step") + ["text", "result"]
        whole = asked(client)
        assert [event.values["said"] for event in events if event.name == "step"]
        assert "".join(event.values["text"] for event in events if event.name == "text") == whole["answer"]["text"]
        assert without_times(events[-1].values) == without_times(whole)


def test_a_scope_restricts_the_documents_that_are_asked(client: httpx.Client) -> None:
    values = asked(client, scope={"documents": ["season-calendar.html", "honey-bee-colony.md"]})
    assert {chunk["document"] for chunk in values["chunks"]} <= {"season-calendar.html", "honey-bee-colony.md"}
    assert values["scope"] == {"documents": ["season-calendar.html", "honey-bee-colony.md"]}


def test_a_follow_up_is_asked_as_it_stands_alone(client: httpx.Client) -> None:
    values = asked(client, question="How does it spread?", after=["What is the varroa mite?"])
    assert "varroa" in values["asked_as"].casefold()
    assert values["question"] == values["asked_as"]
    assert asked(client)["asked_as"] == ""


def test_strategies_are_compared_side_by_side(client: httpx.Client) -> None:
    body = {"question": QUESTION, "columns": ["leanrag:top_c=3", "vector"]}
    values = client.post(f"/api/indexes/{INDEX}/compare", json=body).json()
    assert [column["strategy"] for column in values["columns"].values()] == ["leanrag", "vector"]
    assert len(values["columns"]["A"]["passages"]) == 3
    assert all(column["answer"] for column in values["columns"].values())
    assert {kind["kind"] for kind in values["shared"]} >= {"chunks"}


def test_an_entity_its_neighbours_and_the_ways_to_another_one(client: httpx.Client) -> None:
    folder = f"/api/indexes/{INDEX}"
    entity = client.get(f"{folder}/entity", params={"name": "queen bee"}).json()
    assert (entity["name"], entity["layer"], entity["parent"]["layer"]) == ("Queen bee", 0, 1)
    assert "queen" in entity["passages"][0]["text"].casefold()
    parent = client.get(f"{folder}/entity", params={"name": entity["parent"]["id"]}).json()
    assert entity["id"] in [child["id"] for child in parent["children"]]
    near = client.get(f"{folder}/neighbours", params={"name": entity["id"], "limit": 3}).json()
    assert len(near) == min(3, entity["n_relations"])
    assert near == sorted(near, key=lambda each: -each["strength"])
    ways = client.get(f"{folder}/path", params={"first": entity["id"], "second": near[0]["entity"]["id"]}).json()
    assert [hop["entity"]["id"] for hop in ways["by_relations"]] == [entity["id"], near[0]["entity"]["id"]]
    assert ways["by_relations"][1]["relation"]
    ends = [ways["through_ancestor"][0]["id"], ways["through_ancestor"][-1]["id"]]
    assert ends == [entity["id"], near[0]["entity"]["id"]]
    assert ways["ancestor"] in ways["through_ancestor"]


@pytest.mark.parametrize(
    ("path", "body", "status", "code"),
    [
        ("/api/indexes/none/ask", {"question": QUESTION}, 404, "index.not_found"),
        ("/api/indexes/a%00b/ask", {"question": QUESTION}, 404, "index.not_found"),
        (ASK, {"question": " "}, 422, "question.empty"),
        (ASK, {"question": QUESTION, "strategy": "none"}, 422, "strategy.unknown"),
        (ASK, {"question": QUESTION, "options": {"top_n": "many"}}, 422, "option.not_an_integer"),
        (ASK, {"question": QUESTION, "options": {"none": 1}}, 422, "strategy.unknown_option"),
        (ASK, {"question": QUESTION, "strategy": "hipporag"}, 422, "part.missing"),
        (ASK, {"question": QUESTION, "scope": {"since": "soon"}}, 422, "scope.no_date"),
        (ASK, {"question": QUESTION, "scope": {"tags": ["none"]}}, 422, "scope.unknown_tag"),
        (ASK, {"question": QUESTION, "scope": {"tag": ["none"]}}, 422, "serving.request_wrong"),
        (ASK, {"query": QUESTION}, 422, "serving.request_wrong"),
        (f"/api/indexes/{INDEX}/compare", {"question": QUESTION, "columns": ["leanrag"]}, 422,
         "comparison.number_of_columns"),
        ("/api/none", {}, 404, "serving.no_route"),
    ],
)  # fmt: skip
def test_an_error_has_a_status_a_code_and_a_sentence(
    client: httpx.Client, bench: Workbench, path: str, body: dict[str, Any], status: int, code: str
) -> None:
    for stream in ({}, {"stream": True}) if path == ASK and code != "part.missing" else ({},):
        answer = client.post(path, json={**body, **stream})
        assert (answer.status_code, answer.json()["error"]["code"]) == (status, code), answer.text
        assert answer.json()["error"]["message"]
        assert str(bench.root) not in answer.text


def test_an_error_of_a_streamed_answer_is_its_last_event(client: httpx.Client) -> None:
    with client.stream("POST", ASK, json={"question": QUESTION, "strategy": "hipporag", "stream": True}) as answer:
        events = list(events_of(answer.iter_lines()))
    assert [(event.name, event.values["error"]["code"]) for event in events] == [("error", "part.missing")]


@pytest.mark.parametrize("token", ["", "wrong", TOKEN[:-1], f"{TOKEN}x"])
@pytest.mark.parametrize("path", ["/api/indexes", "/openapi.json", "/v1/models", "/mcp", "/none"])
def test_nothing_is_told_without_the_token(url: str, token: str, path: str) -> None:
    with client_of(url, token) as stranger:
        answer = stranger.get(path)
        assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer")
        assert answer.json()["error"]["code"] == "serving.no_token"
        assert stranger.get(path, params={"token": TOKEN, "access_token": TOKEN}).status_code == 401


@pytest.mark.parametrize(
    "headers", [{"Host": "evil.example"}, {"Origin": "http://evil.example"}, {"Origin": "http://localhost:3000"}]
)
def test_foreign_hosts_and_origins_are_refused_even_with_the_token(
    client: httpx.Client, headers: dict[str, str]
) -> None:
    assert client.get("/api/indexes", headers=headers).status_code == 403
    assert client.get("/api/indexes").status_code == 200


def test_openapi_describes_what_is_answered(client: httpx.Client) -> None:
    described = client.get("/openapi.json").json()
    assert described["components"]["securitySchemes"]["HTTPBearer"] == {"type": "http", "scheme": "bearer"}
    for path, method, answer in [
        ("/api/indexes", "get", client.get("/api/indexes")),
        ("/api/strategies", "get", client.get("/api/strategies")),
        ("/api/indexes/{index}/retrieve", "post", client.post(RETRIEVE, json={"question": QUESTION})),
        ("/api/indexes/{index}/ask", "post", client.post(ASK, json={"question": QUESTION})),
        ("/api/indexes/{index}/entity", "get", client.get(f"/api/indexes/{INDEX}/entity?name=Queen+bee")),
    ]:
        schema = described["paths"][path][method]["responses"]["200"]["content"]["application/json"]["schema"]
        jsonschema.validate(answer.json(), {**schema, "components": described["components"]})
    refused = client.post(ASK, json={"question": ""}).json()
    jsonschema.validate(refused, {"$ref": "#/components/schemas/FailureBody", "components": described["components"]})
    broken = {**client.post(RETRIEVE, json={"question": QUESTION}).json(), "seeds": "none"}
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(
            broken, {"$ref": "#/components/schemas/RetrievedValues", "components": described["components"]}
        )
