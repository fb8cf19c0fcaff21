from leanrag_core.figures.changes import Group, changes, telling_groups
from tests.figures.small_trace import chunk, node, relation, trace_of

BEES, FIELDS, FARM = node("bees", 1, "farm"), node("fields", 1, "farm"), node("farm", 2, role="lca")
QUEEN, RAPE = node("queen", 0, "bees", rank=1), node("rape", 0, "fields", rank=2)


def test_the_same_retrieval_changes_nothing() -> None:
    trace = trace_of([QUEEN, BEES], lca=BEES, chunks=[chunk(0, "A")], top_n=1)
    listed = changes(trace, trace)
    assert not listed.any
    assert (listed.settings, listed.groups, listed.tokens) == ({}, (), 0)


def test_one_more_seed_brings_its_path_a_higher_meeting_point_and_a_bridge() -> None:
    before = trace_of([QUEEN, BEES], lca=BEES, chunks=[chunk(0, "A"), chunk(1, "B")], tokens=300, top_n=1)
    bridge = relation("bees", "fields", 1, "inter-cluster", 2.0)
    tree = relation("queen", "bees", 0)
    after = trace_of(
        [QUEEN, RAPE, BEES, FIELDS, FARM],
        [bridge, tree],
        lca=FARM,
        chunks=[chunk(0, "A"), chunk(4, "C", page=3)],
        tokens=280,
        top_n=2,
    )
    listed = changes(before, after)
    assert listed.any
    assert listed.settings == {"top_n": (1, 2)}
    assert listed.of("seed") == Group("seed", ("rape",), ())
    assert listed.of("path") == Group("path", ("fields",), ())
    assert listed.of("inter-cluster") == Group("inter-cluster", ("bees, fields",), ())
    assert listed.of("passage") == Group("passage", ("C, p. 3",), ("B, chunk 2",))
    assert listed.tokens == -20
    assert listed.of("lca") == Group("lca", ("farm",), ("bees",))


def test_read_backwards_what_entered_has_left() -> None:
    small, large = trace_of([QUEEN, BEES], lca=BEES), trace_of([QUEEN, RAPE, BEES, FIELDS, FARM], lca=FARM)
    there, back = changes(small, large), changes(large, small)
    entered = {group.role: group.entered for group in there.groups}
    assert {group.role: group.left for group in back.groups} == entered
    assert back.of("lca") == Group("lca", ("bees",), ("farm",))


def test_another_strategy_is_the_only_setting_listed() -> None:
    before = trace_of([QUEEN], lca=QUEEN, top_n=5, findings=True)
    after = trace_of([], strategy="vector", top_c=7)
    listed = changes(before, after)
    assert listed.settings == {"strategy": ("leanrag", "vector")}
    assert listed.of("seed") == Group("seed", (), ("queen",))
    assert listed.of("lca") == Group("lca", (), ("queen",))


def test_entities_of_one_name_are_distinguished_by_their_ids() -> None:
    before = trace_of([node("a", 0, rank=1)])
    other = node("b", 0, rank=1)
    after = trace_of([type(other)(**{**other.__dict__, "name": "a"})])
    assert changes(before, after).of("seed") == Group("seed", ("a",), ("a",))


def test_fewer_tokens_alone_are_a_change() -> None:
    assert changes(trace_of([QUEEN], tokens=5), trace_of([QUEEN], tokens=4)).any


def test_of_two_strategies_only_roles_that_both_have_say_something() -> None:
    before = trace_of([QUEEN, BEES], lca=BEES, chunks=[chunk(0, "A")])
    other = trace_of([RAPE], chunks=[chunk(1, "B")], strategy="vector")
    assert {group.role for group in changes(before, other).groups} == {"seed", "path", "lca", "passage"}
    assert {group.role for group in telling_groups(before, other)} == {"seed", "passage"}
    same = trace_of([RAPE], chunks=[chunk(1, "B")])
    assert telling_groups(before, same) == changes(before, same).groups
