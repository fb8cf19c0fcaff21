"""audit: whether judgements depend on order, length or chance, and which pairs they separate."""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from leanrag_core.commands._options import Verbs, set_run
from leanrag_core.commands._printing import printed_json
from leanrag_core.errors import InvalidConfig
from leanrag_core.evaluation.audit.files import JudgeFile, SystemAnswers, read_answers, read_judge_files, system_of
from leanrag_core.evaluation.audit.judges import advice, audit, headline
from leanrag_core.evaluation.audit.records import Audit, PairAudit
from leanrag_core.evaluation.statistics import Interval
from leanrag_core.figures.numbers import share
from leanrag_core.files.records import plain
from leanrag_core.messages.catalog import sentence
from leanrag_core.messages.message import Message
from leanrag_core.types.experiment import Judgement
from leanrag_core.types.visible import visible
from leanrag_core.workbench import Workbench

_HEADS = ("", "win rate", "first", "second", "flips", "1st wins", "ties", "unread", "p, Holm")
_WIDTHS = (20, 16, 16, 16, 16, 16, 6, 8, 9)  # characters of the columns of pairs


def add_verbs(verbs: Verbs) -> None:
    """Add the verb audit."""
    parser = verbs.add_parser("audit", help="whether judgements can be trusted: order, length, repetition, agreement")
    files = "JSONL or CSV of judgements, HiRAG's files, or ids of experiments"
    parser.add_argument("files", nargs="+", metavar="FILE", help=files)
    parser.add_argument(
        "--answers",
        nargs="+",
        default=[],
        metavar="[NAME=]FILE",
        help="answers of the systems, for their lengths; NAME is the system's name in the judgements",
    )
    parser.add_argument("--questions", type=int, default=0, metavar="N", help="questions of each of HiRAG's files")
    set_run(parser, _audit)


def _audit(options: argparse.Namespace) -> None:
    bench = Workbench.default()
    stored, files = _sources(bench, options.files)
    read = read_judge_files(files, _answers(options.answers), n_questions=options.questions)
    audited = audit((*stored, *read.judgements))
    summary = (headline(audited), *advice(audited))
    if printed_json(options, _record(audited, summary, read.notes)):
        return
    for each in (*summary, *read.notes):
        print(visible(sentence(each)))
    _print_judges(audited)
    _print_pairs(audited)


def _sources(bench: Workbench, names: Sequence[str]) -> tuple[list[Judgement], list[JudgeFile]]:
    """Return the judgements of the experiments that are named by their id, and the other files."""
    experiments = {summary.id for summary in bench.experiments.store.all()}
    ids = [name for name in names if name in experiments and not Path(name).is_file()]
    stored = [judgement for id_ in ids for judgement in bench.experiments.store.read(id_).judgements]
    return stored, [_file(Path(name)) for name in names if name not in ids]


def _file(path: Path) -> JudgeFile:
    if not path.is_file():
        raise InvalidConfig("command.no_source", path=str(path))
    return JudgeFile(path.name, path.read_bytes())


def _answers(named_files: Sequence[str]) -> dict[str, SystemAnswers]:
    """Return the answers by the system's name: that in front of "=", else what the file's name says."""
    answers = {}
    for text in named_files:
        name, equals, path = text.partition("=")
        file = _file(Path(path if equals else text))
        answers[name if equals else system_of(file.name)] = read_answers(file)
    return answers


def _record(audit: Audit, summary: Sequence[Message], notes: Sequence[Message]) -> dict[str, Any]:
    """Return the audit as JSON values. The judgements behind flips are left out, since the files hold them."""
    record: dict[str, Any] = plain(audit)
    for judge, audited_judge in zip(record["judges"], audit.judges, strict=True):
        judge |= {"faults": [sentence(fault) for fault in audited_judge.faults], "holds": audited_judge.holds}
        judge["swaps"] |= {"flip_rate": audited_judge.swaps.flip_rate}
    for pair, each in zip(record["pairs"], audit.pairs, strict=True):
        pair["swaps"] |= {"flip_rate": each.swaps.flip_rate}
    record["flips"] = [
        {"judge": flip.judge, "a": flip.a, "b": flip.b, "question": flip.question, "criterion": flip.criterion}
        for flip in audit.flips
    ]
    return {"said": [sentence(each) for each in summary], "notes": [sentence(note) for note in notes], **record}


def _print_judges(audit: Audit) -> None:
    for judge in audit.judges:
        print(f"\n{visible(judge.judge)}: {judge.judgements:,} judgements of {judge.questions:,} questions")
        figures = (
            ("verdicts that flip", _value(judge.swaps.rate)),
            ("first answer wins", _value(judge.first_answer)),
            ("longer answer wins", _value(judge.longer_wins)),
            ("same verdict again", _value(judge.consistency)),
            ("unreadable", f"{judge.unparsed:,} of {judge.judgements:,}"),
        )
        print("  " + ", ".join(f"{name} {value}" for name, value in figures))
        for fault in judge.faults:
            print(f"  {sentence(fault)}")
    for row in audit.agreement:
        if row.judge != row.other and row.kappa is not None:
            print(f"agreement of {visible(row.judge)} and {visible(row.other)}: kappa {row.kappa:.2f} over {row.n:,}")
    for scored in audit.scores:
        spread = "–" if scored.spread is None else f"{scored.spread:.2f}"
        title = f"{visible(scored.judge)}, {visible(scored.criterion)}"
        print(f"{title}: mean score {scored.mean:.2f}, spread over repeats {spread}")


def _print_pairs(audit: Audit) -> None:
    if not audit.pairs:
        return
    print(f"\n{_line(_HEADS)}  verdict")
    named = None
    for pair in audit.pairs:
        if (pair.judge, pair.a, pair.b) != named:
            named = (pair.judge, pair.a, pair.b)
            print(visible(f"{pair.a} against {pair.b}, {pair.judge}"))
        print(_pair_line(pair))


def _pair_line(pair: PairAudit) -> str:
    cells = (
        visible(pair.criterion)[: _WIDTHS[0] - 2],
        _value(pair.win_rate),
        _value(pair.shown_first),
        _value(pair.shown_second),
        _value(pair.swaps.rate),
        _value(pair.first_answer),
        f"{pair.ties:,}",
        f"{pair.unparsed:,}",
        "< .001" if pair.p_holm < 0.001 else f"{pair.p_holm:.3f}",
    )
    verdict = f"{visible(pair.winner)} {pair.verdict}".strip()
    equal = f", {share(pair.length.equal_length.value)} at equal length" if pair.length else ""
    needed = f", about {pair.questions_needed:,} questions would separate them" if pair.questions_needed else ""
    return f"{_line(cells)}  {verdict}{equal}{needed}"


def _line(cells: Sequence[str]) -> str:
    first, *others = zip(cells, _WIDTHS, strict=True)
    return "  " + first[0].ljust(first[1]) + "".join(cell.rjust(width) for cell, width in others)


def _value(interval: Interval | None) -> str:
    """Return the share and, in brackets, the percentages between which it lies at 95 %."""
    if interval is None:
        return "–"
    if interval.low is None or interval.high is None:
        return share(interval.value)
    return f"{share(interval.value)} ({100 * interval.low:.0f}–{100 * interval.high:.0f})"
