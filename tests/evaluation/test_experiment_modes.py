from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from leanrag_core.types.experiment import ASKED, OPEN, REJECT
from tests.endpoint.server import EndpointServer
from tests.evaluation.experiments import QUESTIONS, bench_in, built_index, small_spec


@pytest.fixture
def server() -> Iterator[EndpointServer]:
    with EndpointServer() as endpoint:
        yield endpoint


def test_the_mode_of_an_experiment_chooses_the_prompt_of_its_answers(server: EndpointServer, tmp_path: Path) -> None:
    bench = bench_in(tmp_path, server)
    spec = small_spec(built_index(bench), bench.question_sets.add("Bees", QUESTIONS))
    spec = replace(spec, runs=spec.runs[1:2])
    answers_of = {}
    for mode, task in ((ASKED, "answer"), (OPEN, "answer_open"), (REJECT, "answer_reject")):
        bench.experiments.run(replace(spec, mode=mode))
        answers_of[mode] = [entry for entry in bench.calls.entries() if entry.task.startswith(f"{task}.v")]
    assert [len(entries) for entries in answers_of.values()] == [3, 3, 3]
