"""Files of a gate: the scores of a run that later gates compare with, and what a CI shows of the checks."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from leanrag_core.errors import InvalidConfig
from leanrag_core.evaluation.gating import FLOOR, Check
from leanrag_core.evaluation.measuring import decimals
from leanrag_core.files.atomic import write_bytes
from leanrag_core.types.visible import visible

_FORMAT = "leanrag-gate-1"
_SHARE_PLACES = 3


@dataclass(frozen=True)
class RunScores:
    """Scores of a run. run: as a person writes it. index: its name. by_question: the scores by the text of the
    question, then by measure; measures without a score are absent."""

    run: str
    index: str
    by_question: Mapping[str, Mapping[str, float]]


def write_scores(path: Path, scores: RunScores) -> None:
    """Write the scores as JSON. Raises StorageFailed."""
    listed = [{"question": text, "scores": dict(values)} for text, values in scores.by_question.items()]
    content = {"format": _FORMAT, "run": scores.run, "index": scores.index, "questions": listed}
    write_bytes(path, (json.dumps(content, ensure_ascii=False, indent=1) + "\n").encode())


def read_scores(path: Path) -> RunScores:
    """Read what write_scores() wrote. Raises InvalidConfig for another file."""
    try:
        content = json.loads(path.read_bytes())
        if content["format"] != _FORMAT:
            raise ValueError(content["format"])
        by_question = {
            str(row["question"]): {str(name): float(value) for name, value in row["scores"].items()}
            for row in content["questions"]
        }
        return RunScores(str(content["run"]), str(content["index"]), by_question)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise InvalidConfig("gate.baseline_unreadable", path=str(path), reason=f"{error}") from error


def sentence_of(check: Check) -> str:
    """Return the result of the check in a sentence."""
    interval, sign = check.interval, "" if check.kind == FLOOR else "+"
    places = decimals(check.measure, interval.value, of_shares=_SHARE_PLACES)
    value = f"{check.measure} {interval.value:{sign},.{places}f}"
    if interval.low is not None:
        value += f" [{interval.low:{sign},.{places}f}, {interval.high:{sign},.{places}f}]"
    if check.kind == FLOOR:
        side = f"above the ceiling {check.bound:g}" if check.is_ceiling else f"below the floor {check.bound:g}"
        verdict = side if check.failed else f"not shown to be {side}"
        return f"{value} of {interval.n:,} questions: {verdict}"
    verdict = "a loss" if check.failed else "no loss is shown"
    text = f"{value} to the baseline over {interval.n:,} questions: {verdict}"
    if check.needed is not None and check.needed > interval.n and not check.failed:
        text += f"; to find a loss of {check.size:g} takes {check.needed:,} questions"
    return text


def junit(checks: Sequence[Check], title: str) -> bytes:
    """Return the checks as a JUnit test suite, which CI services read."""
    failed = sum(check.failed for check in checks)
    suite = ElementTree.Element("testsuite", name=visible(title), tests=str(len(checks)), failures=str(failed))
    for check in checks:
        case = ElementTree.SubElement(suite, "testcase", classname="leanrag.gate", name=f"{check.measure} {check.kind}")
        if check.failed:
            ElementTree.SubElement(case, "failure", message=sentence_of(check))
        else:
            ElementTree.SubElement(case, "system-out").text = sentence_of(check)
    ElementTree.indent(suite)
    encoded: bytes = ElementTree.tostring(suite, encoding="utf-8", xml_declaration=True)
    return encoded + b"\n"


def markdown(checks: Sequence[Check], title: str) -> str:
    """Return the checks as a Markdown section, as a CI shows it beside a change."""
    head = "failed" if any(check.failed for check in checks) else "passed"
    lines = [f"### {_plain(title)}: {head}", "", "| | check | value | interval | questions | needed |",
             "|---|---|---:|---:|---:|---:|"]  # fmt: skip
    lines += [_line(check) for check in checks]
    return "\n".join(lines) + "\n"


def _line(check: Check) -> str:
    interval = check.interval
    places = decimals(check.measure, interval.value, of_shares=_SHARE_PLACES)
    title = (
        f"{check.measure} at least {check.bound:g}" if check.kind == FLOOR else f"{check.measure} beside the baseline"
    )
    bounds = "–" if interval.low is None else f"{interval.low:,.{places}f} to {interval.high:,.{places}f}"
    sign, needed = "❌" if check.failed else "✅", "–" if check.needed is None else f"{check.needed:,}"
    return f"| {sign} | {_plain(title)} | {interval.value:,.{places}f} | {bounds} | {interval.n:,} | {needed} |"


def _plain(text: str) -> str:
    """Return the text without what Markdown or HTML would read as a sign of its own."""
    return "".join(f"&#{ord(sign)};" if sign in "|<>&`*_[]\\" else sign for sign in visible(text))


def values(checks: Sequence[Check]) -> list[dict[str, Any]]:
    """Return the checks as JSON values."""
    return [
        {
            "measure": check.measure,
            "kind": check.kind,
            "failed": check.failed,
            "value": check.interval.value,
            "low": check.interval.low,
            "high": check.interval.high,
            "questions": check.interval.n,
            "bound": check.bound,
            "p": check.p,
            "loss": check.size or None,
            "questions_needed": check.needed,
        }
        for check in checks
    ]
