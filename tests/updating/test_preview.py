"""What a preview counts, on an index that was made by hand."""

from dataclasses import replace

import pytest

from leanrag_core.indexing.updating.preview import preview_update
from leanrag_core.types.corpus import Document
from leanrag_core.types.updating import DocumentChanges
from tests.small_index import entity, layer, recorded, small_index, unit

NAMES = ("queen", "honey", "mite", "drone", "brood", "rape", "clover", "seed coat", "beetle", "pollen")
SMALL = small_index()
CONFIG = recorded(cluster_size=3, chunk_tokens=64, overlap_tokens=8, gleaning_rounds=0, model="openai:m")
INDEX = replace(
    SMALL,
    layers=(
        layer(0, [entity(name, [0]) for name in NAMES], [], unit([[1.0] * 4] * 10), [0] * 5 + [1] * 5),
        layer(1, [entity("bees", [0]), entity("fields", [0])], [], unit([[1.0] * 4] * 2), [0, 0]),
        SMALL.layers[2],
    ),
    manifest=replace(SMALL.manifest, config=CONFIG),
)


@pytest.mark.parametrize(("named", "calls"), [("queen", 3), ("queen and the mite", 4)])
def test_the_text_of_a_cluster_is_counted_from_more_than_a_fifth_of_its_members_on(named: str, calls: int) -> None:
    # A call for the new chunk, one for a cluster of its own entities, one for the root; and one for the five bees
    # where two of them are named.
    new = Document("doc-new", "new.txt", "New", "text", f"Of the {named} more is known.", "en")
    preview = preview_update(INDEX, DocumentChanges(added=(new,)), lambda chunk: True)
    assert (preview.chunks_added, preview.usage.calls) == (1, calls)
