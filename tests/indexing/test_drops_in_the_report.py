from leanrag_core.indexing.assembly import build_report
from leanrag_core.indexing.stages.base_graph import Findings
from leanrag_core.types.extraction import Drop
from leanrag_core.types.usage import NO_USAGE


def test_a_lost_chunk_is_listed_behind_any_number_of_lost_items() -> None:
    items = [Drop("extract", f"chunk c{n}: entity 'x'", "no name") for n in range(300)]
    chunks = [Drop("extract", f"chunk c{n}", "the server failed") for n in range(250)]
    report = build_report([*items, *chunks], Findings(), (), NO_USAGE)
    assert report.drops == {"extract": 550}
    listed = [drop.item for drop in report.dropped["extract"]]
    assert listed == [drop.item for drop in (*items[:200], *chunks)]
