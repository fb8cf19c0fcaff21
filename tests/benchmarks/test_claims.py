"""Published claims against small scripted files, with figures worked out by hand."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.claims.__main__ import PAGE, RESULTS, kept_outcomes, main, results_text
from benchmarks.claims.manifest import (
    MISSING,
    OTHER,
    UNVERIFIED,
    VERIFIED,
    Claim,
    FoundFile,
    SourceFile,
    claims,
    find_files,
    source_files,
)
from benchmarks.claims.measures import Found, measures
from benchmarks.claims.page import page_text
from benchmarks.claims.verdicts import (
    CANNOT_TELL,
    NOT_CHECKED,
    NOT_REPRODUCED,
    REPRODUCED,
    UNREADABLE,
    check_claims,
    verdict,
)

CLAIM = Claim("c", "group", "a wins", "win-rate", {}, (), "=", "62.5", "paper, table 1", "")


def judge_lines(first_half: Sequence[int], second_half: Sequence[int]) -> str:
    """Return HiRAG's replies: the winning place for each question, then again with the answers swapped."""
    replies = ({"Overall Winner": {"Winner": f"Answer {place}"}} for place in (*first_half, *second_half))
    return "".join(json.dumps(json.dumps(reply)) + "\n" for reply in replies)


def files_of(folder: Path, contents: Mapping[str, str], *, is_known: bool = True) -> Mapping[str, FoundFile]:
    """Write the files and find them again. is_known: the manifest has their hashes."""
    sources = []
    for name, content in contents.items():
        (folder / name).write_text(content, encoding="utf-8")
        digest = hashlib.sha256(content.encode()).hexdigest() if is_known else ""
        sources.append(SourceFile(name, "somebody/something", "c0ffee", "eval", "MIT", digest))
    return find_files(sources, folder)


def judged(name: str, system: str, questions: int, relation: str = "=", published: str = "75.0") -> Claim:
    """Return a claim on the overall win rate of a system."""
    measure = "ahead" if relation == "ahead" else "win-rate"
    arguments = {"system": system, "criterion": "overall", "questions": str(questions)}
    return replace(
        CLAIM, id=system, measure=measure, arguments=arguments, files=(name,), relation=relation, published=published
    )


def test_a_win_rate_counts_both_orders() -> None:
    # hi is answer 1 in the first half and wins 2 of 2, answer 2 in the second and wins 1 of 2.
    name = "bees_eval_hi_naive_result_judge.jsonl"
    claim = judged(name, "hi", 2)
    found = measures()["win-rate"](_files(name, judge_lines([1, 1], [2, 1])), claim.arguments)
    assert (found.value, found.n) == (75.0, 2)


def test_a_variant_with_an_underscore_in_its_name_is_the_first_system() -> None:
    name = "bees_eval_hi_naiveR_hi_result_judge.jsonl"
    lines = judge_lines([1, 1], [2, 1])
    arguments = judged(name, "hi", 2).arguments
    assert measures()["win-rate"](_files(name, lines), arguments).value == 25.0
    assert measures()["win-rate"](_files(name, lines), {**arguments, "system": "hi_naiveR"}).value == 75.0


def _files(name: str, content: str) -> tuple:  # type: ignore[type-arg]
    from leanrag_core.evaluation.audit.files import JudgeFile

    return (JudgeFile(name, content.encode()),)


def test_a_lead_holds_by_a_paired_test_and_not_by_a_higher_rate(tmp_path: Path) -> None:
    clear, slight = "bees_eval_hi_naive_result_j.jsonl", "ants_eval_hi_naive_result_j.jsonl"
    contents = {clear: judge_lines([1] * 10, [2] * 10), slight: judge_lines([1] * 6 + [2] * 4, [2] * 5 + [1] * 5)}
    sure = judged(clear, "hi", 10, "ahead", "1")
    unsure = replace(judged(slight, "hi", 10, "ahead", "1"), id="unsure")
    reversed_ = replace(judged(clear, "naive", 10, "ahead", "1"), id="reversed")
    outcomes = check_claims([sure, unsure, reversed_], files_of(tmp_path, contents))
    assert [outcome.verdict for outcome in outcomes] == [REPRODUCED, CANNOT_TELL, NOT_REPRODUCED]
    # Ten questions that all fall to one side have p 2 / 2**10; of three tests the smallest is taken three times.
    assert outcomes[0].p == pytest.approx(3 * 2 / 2**10, abs=1e-6)


def test_a_lead_in_one_order_is_marked(tmp_path: Path) -> None:
    name = "bees_eval_hi_naive_result_j.jsonl"
    (outcome,) = check_claims(
        [judged(name, "hi", 10, "ahead", "1")], files_of(tmp_path, {name: judge_lines([1] * 10, [1] * 5 + [2] * 5)})
    )
    assert (outcome.verdict, outcome.in_both_orders) == (CANNOT_TELL, False)


@pytest.mark.parametrize(
    ("relation", "published", "found", "expected"),
    [
        ("=", "62.5", Found(62.54, 50, 70), REPRODUCED),
        ("=", "62.5", Found(64.0, 50, 70), CANNOT_TELL),
        ("=", "62.5", Found(80.0, 71, 90), NOT_REPRODUCED),
        ("=", "3", Found(4), NOT_REPRODUCED),
        (">=", "9", Found(11), REPRODUCED),
        (">=", "9", Found(8), NOT_REPRODUCED),
        ("about", "1000", Found(1040), CANNOT_TELL),
        ("about", "1000", Found(1060), NOT_REPRODUCED),
        ("told", "12", Found(4), CANNOT_TELL),
    ],
)
def test_the_rule_of_each_relation(relation: str, published: str, found: Found, expected: str) -> None:
    assert verdict(replace(CLAIM, relation=relation, published=published), found) == expected


def test_a_file_is_known_by_its_hash_wherever_it_lies(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    (tmp_path / "a" / "graph.json").write_text("old", encoding="utf-8")
    (tmp_path / "b" / "graph.json").write_text("new", encoding="utf-8")
    digest = hashlib.sha256(b"new").hexdigest()
    known = SourceFile("graph.json", "r", "c", "f", "MIT", digest)
    assert find_files([known], tmp_path)["graph.json"].path == tmp_path / "b" / "graph.json"
    statuses = [
        find_files([source], folder)["graph.json"].status
        for source, folder in (
            (known, tmp_path),
            (known, tmp_path / "a"),
            (replace(known, sha256=""), tmp_path / "a"),
            (known, None),
        )
    ]
    assert statuses == [VERIFIED, OTHER, UNVERIFIED, MISSING]


def test_a_claim_whose_file_is_missing_changed_or_broken_is_said_to_be_so(tmp_path: Path) -> None:
    name = "bees_eval_hi_naive_result_j.jsonl"
    claim = judged(name, "hi", 2)
    files = files_of(tmp_path, {name: "no reply\n"}, is_known=False)
    (outcome,) = check_claims([claim], files)
    assert outcome.verdict == UNREADABLE
    assert name in outcome.files
    for status in (MISSING, OTHER):
        (outcome,) = check_claims([claim], {name: replace(files[name], status=status)})
        assert (outcome.verdict, outcome.files) == (NOT_CHECKED, name)


def test_a_figure_from_a_file_without_a_known_hash_is_unverified(tmp_path: Path) -> None:
    name = "bees_eval_hi_naive_result_j.jsonl"
    files = files_of(tmp_path, {name: judge_lines([1, 1], [2, 1])}, is_known=False)
    (outcome,) = check_claims([judged(name, "hi", 2)], files)
    assert (outcome.verdict, outcome.unverified) == (REPRODUCED, True)


def test_counts_of_a_small_hierarchy() -> None:
    def layer(*nodes: tuple[str, str]) -> str:
        return json.dumps([{"entity_name": name, "parent": parent} for name, parent in nodes])

    hierarchy = "\n".join(
        [
            layer(("ant", "insect"), ("bee", "insect"), ("fly", "insect"), ("oak", "oak")),
            layer(("insect", "life"), ("oak", "life")),
            json.dumps({"entity_name": "life", "parent": "root"}),
        ]
    )
    relations = json.dumps({"src_tgt": "insect", "tgt_src": "oak", "description": "relationship<|>x", "level": 1})
    strange = json.dumps({"src_tgt": "insect", "tgt_src": "stone", "description": "x", "level": 1})
    base = "\n".join(json.dumps({"src_tgt": name, "tgt_src": "oak"}) for name in ("ant", "ant", "bee", "fly"))
    tree = _files("all_entities.json", hierarchy)[0]
    linked = _files("generate_relations.json", f"{relations}\n{strange}")[0]
    counted = {
        "cluster-size": ((tree,), {"layer": "0"}, 2.0),
        "larger-clusters": ((tree,), {"layer": "0", "size": "2"}, 1),
        "several-parents": ((tree,), {}, 0),
        "repeated-names": ((tree,), {}, 1),
        "components": ((tree, linked), {"layer": "1"}, 1),
        "unknown-ends": ((tree, linked), {}, 1),
        "concatenated": ((tree, linked, _files("relation.jsonl", base)[0]), {"threshold": "2"}, 1),
    }
    known = measures()
    assert {name: known[name](files, arguments).value for name, (files, arguments, _) in counted.items()} == {
        name: expected for name, (_, _, expected) in counted.items()
    }
    weak = known["concatenated"]((tree, linked, _files("relation.jsonl", base)[0]), {"threshold": "3"})
    assert (weak.value, weak.n) == (0, 0)


def test_a_corpus_is_counted_in_texts_and_tokens() -> None:
    file = _files("c.json", json.dumps(["one two", "three"]))
    assert [measures()[name](file, {}).value for name in ("documents", "tokens")] == [2, 3]


def test_the_manifest_names_measures_and_files_that_exist() -> None:
    names, known = {source.name for source in source_files()}, measures()
    for claim in claims():
        assert claim.measure in known
        assert names.issuperset(claim.files)
        assert claim.stands_in
    assert all(len(source.sha256) in (0, 64) for source in source_files())


def test_the_page_is_that_of_the_results() -> None:
    assert page_text(claims(), source_files(), kept_outcomes()) == PAGE.read_text(encoding="utf-8")
    assert [outcome["claim"] for outcome in json.loads(RESULTS.read_text(encoding="utf-8"))["outcomes"]] == [
        claim.id for claim in claims()
    ]


def test_claims_on_printed_tables_need_no_file_and_are_as_kept() -> None:
    printed = [claim for claim in claims() if not claim.files]
    assert len(printed) > 20
    kept = kept_outcomes()
    assert list(check_claims(printed, {})) == [kept[claim.id] for claim in printed]


def test_the_command_says_what_is_missing_and_is_the_same_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--data", str(tmp_path)]) == 0
    first = capsys.readouterr().out
    assert f"{len(source_files())} of {len(source_files())} files are missing" in first
    assert main([]) == 0
    assert capsys.readouterr().out == first
    assert main(["--data", str(tmp_path / "nowhere")]) == 2
    files = find_files(source_files(), tmp_path)
    assert results_text(files, check_claims(claims(), files)) == results_text(files, check_claims(claims(), files))
