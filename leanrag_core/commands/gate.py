"""gate: a question set on an updated index or another setting, beside floors and a baseline, for a CI."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from leanrag_core.commands._options import Verbs, index_verb, set_run
from leanrag_core.commands._printing import make_needed_parts, printed_json
from leanrag_core.comparing.column_specs import written_run
from leanrag_core.errors import InvalidConfig
from leanrag_core.evaluation.base import LOWER, SHARE, MeasureInfo
from leanrag_core.evaluation.gate_files import (
    RunScores,
    junit,
    markdown,
    read_scores,
    sentence_of,
    values,
    write_scores,
)
from leanrag_core.evaluation.gating import Gated, gate
from leanrag_core.evaluation.gold import GoldQuestion
from leanrag_core.evaluation.measuring import measure_infos, scores_of_questions
from leanrag_core.evaluation.question_sets.reading import read_questions
from leanrag_core.files.atomic import write_bytes
from leanrag_core.retrieval.base import strategies
from leanrag_core.types.visible import visible
from leanrag_core.workbench import Workbench, open_index

_USUAL = "evidence-recall"
_RUN = "NAME[:OPTION=VALUE,...]"


def add_verbs(verbs: Verbs) -> None:
    """Add the verb gate."""
    parser = index_verb(
        verbs, "gate", "fail (1) where questions show that an index or a setting lost, or is below a floor"
    )
    parser.add_argument("questions", type=Path, metavar="QUESTIONS.jsonl")
    parser.add_argument("--run", dest="asked", default="leanrag", metavar=_RUN, help="a strategy with options")
    parser.add_argument("--against", type=Path, metavar="BASELINE", help="another index, or a file of --write")
    parser.add_argument("--against-run", metavar=_RUN, help="how that index is asked (default: as --run)")
    parser.add_argument(
        "--floor", action="append", default=[], metavar="MEASURE=VALUE", help="such as recall@5=.75; may be repeated"
    )
    parser.add_argument(
        "--measure",
        action="append",
        default=[],
        metavar="MEASURE",
        help=f"compared with the baseline; may be repeated (default: those of --floor, else {_USUAL})",
    )
    parser.add_argument(
        "--loss", type=float, default=0.05, metavar="SIZE", help="tells how many questions find it (default: 0.05)"
    )
    parser.add_argument("--write", type=Path, metavar="FILE", help="the scores, as the baseline of later gates")
    parser.add_argument("--junit", type=Path, metavar="FILE", help="the checks as JUnit XML")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="the checks as a Markdown section")
    set_run(parser, _gate)


def _gate(options: argparse.Namespace) -> int:
    """Measure retrieval alone, as evaluate does."""
    if not 0 < options.loss < 1:
        raise InvalidConfig("gate.loss_invalid", loss=f"{options.loss:g}")
    floors = {}
    for name, floor in _floors(options.floor).items():
        info = _measure(name)
        if info.unit == SHARE and not 0 <= floor <= 1:
            raise InvalidConfig("gate.floor_no_share", measure=name, floor=f"{floor:g}")
        floors[info.name] = floor
    names = tuple(_measure(name).name for name in options.measure)
    bench, questions = Workbench.default(), read_questions(options.questions)
    before = None if options.against is None else _baseline(bench, options, questions)
    after = _scores(bench, options.index, options.asked, questions)
    if options.write is not None:
        write_scores(options.write, after)
    wanted = _wanted(after, before, floors, names or tuple(floors) or (_USUAL,), options.loss)
    checks = gate(wanted)
    if not checks and options.write is None:
        raise InvalidConfig("gate.nothing_to_check")
    title = f"{options.asked}, {after.index}"
    if options.junit is not None:
        write_bytes(options.junit, junit(checks, title))
    if options.markdown is not None:
        write_bytes(options.markdown, markdown(checks, title).encode())
    failed = any(check.failed for check in checks)
    shown = {"run": options.asked, "index": after.index, "failed": failed, "checks": values(checks)}
    if printed_json(options, shown):
        return int(failed)
    for check in checks:
        print(f"{'FAILED' if check.failed else 'ok':>6}  {visible(sentence_of(check))}")
    if options.write is not None:
        print(f"scores of {len(after.by_question):,} questions are in {options.write}")
    return int(failed)


def _measure(name: str) -> MeasureInfo:
    """Return the measure of that name, recall@5 for recall-5. Raises InvalidConfig."""
    known = {info.name: info for info in measure_infos() if info.ratio is None}
    if name.replace("@", "-") not in known:
        raise InvalidConfig("gate.unknown_measure", measure=name, known=", ".join(known))
    return known[name.replace("@", "-")]


def _floors(pairs: list[str]) -> dict[str, float]:
    """Read MEASURE=VALUE. Raises InvalidConfig."""
    floors = {}
    for pair in pairs:
        name, _, value = pair.partition("=")
        try:
            floors[name.strip()] = float(value)
        except ValueError as error:
            raise InvalidConfig("gate.floor_invalid", floor=pair) from error
    return floors


def _baseline(bench: Workbench, options: argparse.Namespace, questions: Sequence[GoldQuestion]) -> RunScores:
    if options.against.is_dir():
        return _scores(bench, options.against, options.against_run or options.asked, questions)
    return read_scores(options.against)


def _scores(bench: Workbench, index: Path, run_text: str, questions: Sequence[GoldQuestion]) -> RunScores:
    """Ask every question and score what is retrieved."""
    run, opened = written_run(run_text, strategies()), open_index(index)
    make_needed_parts(bench, opened, run.info.name, run.options)
    by_question = scores_of_questions(
        opened, questions, lambda question: bench.retrieve(opened, question, run.info.name, **run.options)
    )
    return RunScores(run_text, opened.manifest.name, by_question)


def _wanted(
    after: RunScores, before: RunScores | None, floors: dict[str, float], names: tuple[str, ...], loss: float
) -> list[Gated]:
    """Return what the gate checks. Raises InvalidConfig for a measure that has no score here."""
    compared = () if before is None else names
    listed = []
    common = [] if before is None else [text for text in after.by_question if text in before.by_question]
    if before is not None and not common:
        raise InvalidConfig("gate.no_common_questions")
    for name in dict.fromkeys((*floors, *compared)):
        info = _measure(name)
        is_lower, is_share = info.better == LOWER, info.unit == SHARE
        every = [scores.get(name) for scores in after.by_question.values()]
        if not any(score is not None for score in every):
            raise InvalidConfig("gate.no_score", measure=name)
        if name in floors:
            listed.append(Gated(name, every, None, floors[name], is_lower, is_share))
        if before is not None and name in compared:
            new = [after.by_question[text].get(name) for text in common]
            old = [before.by_question[text].get(name) for text in common]
            if not any(None not in pair for pair in zip(new, old, strict=True)):
                raise InvalidConfig("gate.no_common_questions")
            listed.append(Gated(name, new, old, None, is_lower, is_share, loss))
    return listed
