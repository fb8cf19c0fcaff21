from leanrag_core.files.records import to_json
from leanrag_core.indexing.build import build_report
from leanrag_core.indexing.stages.base_graph import Findings
from leanrag_core.types.build_report import BuildReport, DroppedItem, Spent
from leanrag_core.types.calls import NO_USAGE
from leanrag_core.types.extraction import Drop


def test_a_lost_chunk_is_listed_behind_any_number_of_lost_items() -> None:
    items = [Drop("extract", f"chunk c{n}: entity 'x'", "no name") for n in range(300)]
    chunks = [Drop("extract", f"chunk c{n}", "the server failed", chunk=f"c{n}") for n in range(250)]
    report = build_report([*items, *chunks], Findings(), (), NO_USAGE)
    assert report.drops == {"extract": 550}
    listed = [drop.item for drop in report.dropped["extract"]]
    assert listed == [drop.item for drop in (*items[:200], *chunks)]


def test_what_a_report_says_of_lost_chunks_is_in_fields_and_of_older_versions_in_the_texts() -> None:
    drops = [Drop("extract", "chunk c7", "cut off", chunk="c7"), Drop("extract", "chunk c8: entity 'x'", "too long")]
    drops.append(Drop("aggregate entities", "Bees", "another wording", by_builtin=True))
    report = build_report(drops, Findings(), (), NO_USAGE)
    assert (report.lost_chunks, report.listed_by_builtin) == ({"c7": "cut off"}, 1)
    old = {
        "extract": (DroppedItem("chunk c7", "cut off"),),
        "merge": (DroppedItem("x", "the built-in writer wrote it"),),
    }
    assert (BuildReport({}, (), Spent(), old).lost_chunks, BuildReport({}, (), Spent(), old).listed_by_builtin) == (
        {"c7": "cut off"},
        1,
    )
    assert b"by_builtin" not in to_json(DroppedItem("x", "y")), "records of the built-in engine stay as they were"
