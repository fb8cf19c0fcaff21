"""What is said of the graph that grows beside a build."""

from leanrag_core.jobs.kinds import BUILD
from leanrag_core.types.growth import Growth
from leanrag_core.types.job import JobState, StageState
from pages.build import growing_view


def building(found: int, relations: int) -> JobState:
    """Return a job whose extraction has counted so much."""
    stages = (StageState("extract", "running", 1, 9, "chunks", found=found, relations=relations),)
    return JobState("1", BUILD, "Letters", "running", stages, "", 1.0, 0.1, None, "", (), "letters", {})


def test_no_fewer_entities_are_said_than_drawn() -> None:
    ahead = Growth(names=("Ada", "Bela", "Carl", "Dora"), links=((0, 1), (1, 2), (2, 3)), gone=(3,))
    assert growing_view._sentence(building(2, 1), ahead) == "3 entities, 3 relations so far."


def test_a_picture_that_has_a_part_of_the_graph_says_so() -> None:
    part = Growth(names=("Ada", "Bela"), links=((0, 1),))
    said = growing_view._sentence(building(1200, 4000), part)
    assert said.startswith("1,200 entities, 4,000 relations so far. ")
    assert "2 of the entities" in said
