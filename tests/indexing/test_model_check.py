"""The check of a model: its reply is read as a build reads it, and the verdict follows the figures."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from leanrag_core.evaluation.extraction import GivenGraph, extraction_score
from leanrag_core.indexing.model_check import GOOD, USABLE, USELESS, ModelCheck, check_model
from leanrag_core.indexing.reference.records import Quote, ReferenceEntity, ReferenceRelation
from leanrag_core.models.registry import Models
from leanrag_core.storage.calls import CallStore
from leanrag_core.types.config import IndexConfig
from leanrag_core.types.settings import Settings
from leanrag_core.workbench.references import PassageScores, judged
from tests.endpoint.scripted_model import Messages, Reply, ScriptedModel
from tests.endpoint.server import EndpointServer

PASSAGE = "Ada Thornbury built the Lantern House at Marram Point. Bela Kraus lived at Marram Point with Ada Thornbury."
NAMES = ("Ada Thornbury", "Lantern House", "Marram Point", "Bela Kraus")


@dataclass(frozen=True)
class Says(ScriptedModel):
    text: str = ""

    def reply(self, messages: Messages, *, as_json: bool = False) -> Reply:
        return Reply("extract_graph", self.text)


def graph(names: Sequence[str]) -> str:
    entities = [{"name": name, "type": "thing", "description": f"{name} is told of."} for name in names]
    ends = [{"source": names[0], "target": name, "description": "Related.", "strength": 5} for name in names[1:]]
    return json.dumps({"entities": entities, "relations": [{**each, "keywords": []} for each in ends]})


def checked(text: str, folder: Path) -> ModelCheck:
    with EndpointServer(Says(text=text)) as server:
        models = Models(Settings(base_url=server.url, timeout_seconds=30, retries=0), CallStore(folder / "calls"))
        return check_model(models, "m", PASSAGE, IndexConfig())


def codes(check: ModelCheck) -> set[str]:
    return {remark.code for remark in check.remarks} - {"model_check.slow"}


def test_a_reply_that_a_build_keeps_whole_is_good(tmp_path: Path) -> None:
    check = checked(graph(NAMES), tmp_path)
    assert (check.verdict, codes(check)) == (GOOD, set())
    assert [name for name, _ in check.entities] == list(NAMES)


def test_names_copied_from_the_prompts_example_are_left_out_as_a_build_leaves_them_out(tmp_path: Path) -> None:
    copied = checked(graph(["Hester Lunn", "Carrow tide mill", "millwrighting"]), tmp_path)
    assert (copied.verdict, copied.entities, copied.relations) == (USELESS, (), ())
    partly = checked(graph([*NAMES, "Hester Lunn"]), tmp_path)
    assert (partly.verdict, len(partly.entities)) == (USABLE, 4)
    [remark] = [remark for remark in partly.remarks if remark.code == "model_check.dropped"]
    assert "Hester Lunn" in str(remark.values["first"])


def test_a_reply_that_goes_round_in_a_loop_is_refused(tmp_path: Path) -> None:
    start = graph(NAMES)[:-2]
    check = checked(
        start + ', {"source": "Ada Thornbury", "target": "Bela Kraus", "description": "Related."}' * 300, tmp_path
    )
    assert (check.verdict, check.entities) == (USELESS, ())
    assert "model_check.loops" in codes(check)


def test_a_reply_that_breaks_off_and_names_that_the_passage_has_not_make_it_usable_at_best(tmp_path: Path) -> None:
    broken = checked(graph(NAMES)[:-40], tmp_path)
    assert broken.verdict == USABLE
    doubtful = checked(graph([*NAMES, "Quarterly Turnover"]), tmp_path)
    assert (doubtful.verdict, codes(doubtful)) == (USABLE, {"model_check.doubtful"})


def test_the_verdict_follows_the_table_beside_the_reference_graph() -> None:
    quotes = (Quote("a.md", "A."),)
    gold = tuple(ReferenceEntity(f"name {n}", "thing", "Told.", quotes) for n in range(12))
    relations = tuple(ReferenceRelation("name 0", f"name {n}", "Told.", ("k",), 5, quotes) for n in range(1, 8))

    def verdict(n_entities: int, n_relations: int) -> tuple[str, str]:
        given = GivenGraph(
            tuple((f"name {n}", "thing") for n in range(n_entities)),
            tuple(("name 0", f"name {n}", "") for n in range(1, n_relations + 1)),
        )
        score = extraction_score(given, gold, relations)
        check = ModelCheck("m", "{}", "schema", 1.0, 10, 10, None, given.entities, (), GOOD, ())
        made = judged(check, PassageScores(score, score))
        return made.verdict, " ".join(remark.code for remark in made.remarks)

    said = "model_check.beside_reference"
    assert verdict(1, 0) == (USELESS, said)
    assert verdict(8, 0) == (USABLE, said)
    assert verdict(4, 3) == (USABLE, said)
    assert verdict(8, 3) == (GOOD, "")
