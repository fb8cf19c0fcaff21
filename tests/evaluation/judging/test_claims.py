import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from leanrag_core.errors import ReplyError
from leanrag_core.evaluation.judging.asking import list_claims
from leanrag_core.files.records import to_json
from leanrag_core.types.experiment import ExperimentSpec
from tests.endpoint.scripted_model import ScriptedModel
from tests.endpoint.server import EndpointServer
from tests.evaluation.experiments import QUESTIONS, bench_in, built_index, small_spec
from tests.retrieval.scripted import ScriptedLanguage


def test_claims_are_the_texts_of_the_list() -> None:
    language = ScriptedLanguage(lambda prompt: '```json\n{"Claims": ["Bees  fly.", "", 3, "Bees sting."]}\n```')
    assert list_claims("Bees fly and sting. [C1]", language) == ("Bees fly.", "Bees sting.")
    assert "Bees fly and sting. [C1]" in language.prompts[0]
    assert list_claims("?", ScriptedLanguage(lambda prompt: '{"claims": []}')) == ()


def test_a_reply_without_a_list_is_asked_for_again_and_then_an_error() -> None:
    language = ScriptedLanguage(lambda prompt: "Bees fly.")
    with pytest.raises(ReplyError):
        list_claims("Bees fly.", language)
    assert len(language.prompts) == 2


@pytest.fixture
def server() -> Iterator[EndpointServer]:
    claims = ("List the claims", lambda prompt: json.dumps({"claims": ["Mites weaken bees.", "It was in 1852."]}))
    with EndpointServer(ScriptedModel(further=(claims,))) as endpoint:
        yield endpoint


def test_an_experiment_counts_the_claims_that_the_model_lists(server: EndpointServer, tmp_path: Path) -> None:
    bench = bench_in(tmp_path, server)
    spec = small_spec(built_index(bench), bench.question_sets.add("Bees", QUESTIONS))
    spec = replace(spec, runs=spec.runs[1:2], claims=True)
    rows = bench.experiments.run(spec).rows
    assert [(row.error, row.scores["claims"], row.scores["claim-clusters-50"]) for row in rows] == [("", 2.0, 2.0)] * 3


def test_a_specification_without_claims_is_stored_as_before_there_were_any() -> None:
    assert b"claims" not in to_json(ExperimentSpec("t", "s", ()))
