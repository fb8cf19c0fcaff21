"""An audit in sentences: its headline, and what may be reported."""

from collections.abc import Sequence

from leanrag_core.evaluation.audit.judges import band, main_of
from leanrag_core.evaluation.audit.records import CANNOT_TELL, WINS, Audit, PairAudit
from leanrag_core.messages.message import Message, message


def headline(audit: Audit) -> Message:
    """Say in a sentence the most important finding: the pair whose verdicts depend most on the order, a judge's first
    fault, or that the judge can be trusted."""
    if not audit.judges:
        return message("audit.nothing")
    main = [pair for pair in main_of(audit) if pair.verdict == CANNOT_TELL and pair.swaps.flip_rate is not None]
    worst = max(main, key=lambda pair: pair.swaps.flip_rate or 0.0, default=None)
    faults = [fault for judge in audit.judges for fault in judge.faults]
    rate = worst.swaps.rate if worst else None
    if worst is not None and rate is not None and rate.value > 0 and (faults or rate.value == 1):
        return message("audit.cannot_tell_pair", a=worst.a, b=worst.b, share=rate.value, band=band(rate))
    if faults:
        return faults[0]
    n, flipped = (sum(getattr(judge.swaps, name) for judge in audit.judges) for name in ("n", "flipped"))
    return message("audit.holds", share=1 - flipped / n) if n else message("audit.holds_scores")


def advice(audit: Audit) -> tuple[Message, ...]:
    """Say which pairs can be reported as they are, which with their interval, and which cannot."""
    main = main_of(audit)
    groups = (
        ("audit.report", [pair for pair in main if pair.verdict == WINS]),
        ("audit.report_interval", [pair for pair in main if pair.verdict not in (WINS, CANNOT_TELL)]),
        ("audit.do_not_report", [pair for pair in main if pair.verdict == CANNOT_TELL]),
    )
    return tuple(message(code, pairs=_named(pairs)) for code, pairs in groups if pairs)


def _named(pairs: Sequence[PairAudit]) -> tuple[Message, ...]:
    names = dict.fromkeys((pair.winner or pair.a, pair.b if pair.winner != pair.b else pair.a) for pair in pairs)
    return tuple(message("audit.pair", a=a, b=b) for a, b in names)
