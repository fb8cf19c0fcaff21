"""Which texts an update takes over, and which are written again."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from leanrag_core.indexing.aggregation.tables import cluster_view, columns_of, inside_rows
from leanrag_core.indexing.aggregation.writer import ClusterView, RelationGroupView, Sentence, Summary
from leanrag_core.indexing.build_models import BuildModels
from leanrag_core.indexing.updating.before import Before
from leanrag_core.indexing.updating.kept_texts import KeptTexts
from leanrag_core.models.minilm import MiniLM
from leanrag_core.types.build_report import DroppedItem
from leanrag_core.types.graph import Finding, Layer
from leanrag_core.types.updating import LineageStep, UpdateReport
from tests.small_index import EMPTY_REPORT, entity, layer, relation, small_index, unit

INDEX = small_index()
BASE, ROOT = INDEX.layers[0], INDEX.layers[2]
MIDDLE = layer(
    1,
    [entity("bees", [0, 1, 2]), entity("fields", [2, 3])],
    [relation(0, 1, id="rel-pair", kind="summarised", strength=2, members=[2, 4], description="Bees need fields.")],
    unit([[1, 1, 0, 0], [0, 0, 1, 1]]),
    [0, 0],
)


class NewTexts:
    """Writes the same text for everything."""

    def prepare(self, layers: Any, labels: np.ndarray) -> None:
        pass

    def entity(self, members: ClusterView) -> Summary:
        return Summary("insects", "On insects.", (Finding("insects fly", "said of insects"),))

    def relation(self, view: RelationGroupView) -> Sentence:
        return Sentence("A new sentence.")


def texts(*outdated: str, exact: bool) -> KeptTexts:
    """Return what is kept of the index before, of which these ids were outdated."""
    report = replace(EMPTY_REPORT, update=UpdateReport(outdated=outdated))
    return KeptTexts(NewTexts(), (BASE, MIDDLE, ROOT), report, relations=lambda layer: True, exact=exact)


def cluster_of(base: Layer) -> ClusterView:
    """Return the first cluster of the layer: queen, honey and mite."""
    offsets, rows = inside_rows(base.ends, base.parent, 2)
    members = np.flatnonzero(base.parent == 0).astype(np.int32)
    return cluster_view(base, columns_of(base), 0, members, rows[offsets[0] : offsets[1]])


BEES = cluster_of(BASE)
PAIR = RelationGroupView(
    layer=1,
    left_name="fields",
    left_description="About fields.",
    right_name="bees",
    right_description="About bees.",
    strength=2,
    base_kinds=(("verb", 2),),
    keywords=(),
    descriptions=("2 meets 5.", "1 meets 3."),
    pairs=(("seed coat", "mite"), ("honey", "rape")),
)


@pytest.mark.parametrize("exact", [True, False])
def test_the_same_members_in_any_order_keep_their_text(exact: bool) -> None:
    turned = replace(
        BEES,
        names=BEES.names[::-1],
        types=BEES.types[::-1],
        descriptions=BEES.descriptions[::-1],
        relations=tuple(replace(each, source=2 - each.source, target=2 - each.target) for each in BEES.relations[::-1]),
    )
    assert texts(exact=exact).entity(turned).description == "About bees."
    assert texts(exact=exact).relation(PAIR).text == "Bees need fields."


def with_description(place: int, text: str) -> ClusterView:
    descriptions = list(BEES.descriptions)
    descriptions[place] = text
    return replace(BEES, descriptions=tuple(descriptions))


def test_one_changed_member_of_five_parts_leaves_a_text_once_where_nothing_is_taken_away() -> None:
    changed = with_description(0, "The queen also dances.")
    keeping = texts(exact=False)
    assert keeping.entity(changed).description == "About bees."
    assert keeping.outdated == {(1, 0)}
    assert texts("id-bees", exact=False).entity(changed).description == "On bees."
    assert texts(exact=True).entity(changed).description == "On insects."


def test_two_changed_members_of_five_parts_have_the_text_written_again_under_its_name() -> None:
    descriptions = ("The queen also dances.", "Honey flows.", BEES.descriptions[2])
    keeping = texts(exact=False)
    written = keeping.entity(replace(BEES, descriptions=descriptions))
    assert (written.name, written.description) == ("bees", "On bees.")
    assert written.findings == (Finding("bees fly", "said of bees"),)
    assert keeping.outdated == {(1, 0)}, "the name was made of what the members said before"


def test_a_cluster_that_holds_all_of_two_former_ones_gets_the_name_of_the_larger() -> None:
    base = replace(BASE, parent=np.array([0, 0, 1, 1, 1, 1], dtype=np.int32))  # two bees, four fields
    keeping = KeptTexts(NewTexts(), (base, MIDDLE, ROOT), EMPTY_REPORT, relations=lambda layer: True, exact=False)
    joined = cluster_of(replace(BASE, parent=np.zeros(6, dtype=np.int32)))
    assert keeping.entity(joined).name == "fields"


def test_a_cluster_that_lost_a_member_gets_another_name() -> None:
    smaller = replace(
        BEES, names=("queen", "ant"), types=BEES.types[:2], descriptions=("About queen.", "About ant."), relations=()
    )
    assert texts(exact=False).entity(smaller).name == "insects"


class Models(BuildModels):
    """Models of which only the writer is asked."""

    def writer(self, *, heuristic: bool) -> NewTexts:
        return NewTexts()


@pytest.mark.parametrize(("n_by_builtin", "description"), [(1, "About bees."), (2, "On insects.")])
def test_no_text_is_kept_where_the_report_does_not_list_all_that_the_built_in_writer_wrote(
    n_by_builtin: int, description: str
) -> None:
    lost = DroppedItem("meadows / woods", "no reply", by_builtin=True)
    report = replace(EMPTY_REPORT, drops={"aggregate relations": 1}, dropped={"aggregate relations": (lost,)})
    index = replace(INDEX, manifest=replace(INDEX.manifest, builtin_texts=n_by_builtin), report=report)
    start = Before(index, LineageStep("before", added=1)).start(Models(MiniLM()))
    assert start.writer.entity(BEES).description == description


def test_an_outdated_text_does_not_outlive_an_update_that_takes_something_away() -> None:
    assert texts("id-bees", exact=False).entity(BEES).description == "About bees."
    assert texts("id-bees", exact=True).entity(BEES).description == "On insects."
    assert texts("rel-pair", exact=False).relation(PAIR).text == "Bees need fields."
    assert texts("rel-pair", exact=True).relation(PAIR).text == "A new sentence."


def test_a_sentence_outlives_another_description_of_an_end_but_not_another_name_or_relation() -> None:
    described = replace(PAIR, left_description="Fields are sown.")
    keeping = texts(exact=False)
    assert keeping.relation(described).text == "Bees need fields."
    assert keeping.outdated_pairs == {(1, frozenset(["bees", "fields"]))}
    assert texts(exact=True).relation(described).text == "A new sentence."
    renamed = replace(PAIR, left_name="meadows")
    other = replace(PAIR, descriptions=("2 meets 5.", "1 greets 3."))
    assert texts(exact=False).relation(renamed).text == texts(exact=False).relation(other).text == "A new sentence."
