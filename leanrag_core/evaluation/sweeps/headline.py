"""What a sweep shows, in sentences."""

from leanrag_core.evaluation.sweeps.findings import AxisEffect, Findings
from leanrag_core.evaluation.sweeps.points import shown_value
from leanrag_core.messages.message import Message, message


def headline(findings: Findings) -> tuple[Message, ...]:
    """Say what each axis does by itself, how many points cannot be told from the best, and what the cheapest of them
    saves."""
    if not findings.best:
        return (message("sweep.headline.nothing"),)
    without = findings.n_without_score
    left_out = [message("grounds.without_gold", n=without, all=findings.n_questions)] if without else []
    if findings.is_level:
        return (message("sweep.headline.level", all=len(findings.points)), *left_out)
    best, cheapest = findings.at(findings.best), findings.at(findings.cheapest or findings.best)
    sentences = [_of_axis(effect) for effect in findings.axes]
    code = "sweep.headline.close" if findings.tells else "sweep.headline.none"
    sentences.append(message(code, n=len(findings.close), all=len(findings.points), best=best.name))
    if cheapest.name != best.name and best.cost is not None and cheapest.cost is not None and cheapest.difference:
        saved, lost = best.cost - cheapest.cost, abs(cheapest.difference.value)
        sentences.append(message("sweep.headline.saves", cheapest=cheapest.name, saved=saved, lost=lost))
    return (*sentences, *left_out)


def _of_axis(effect: AxisEffect) -> Message:
    if not effect.matters:
        return message("sweep.headline.axis_equal", axis=effect.axis)
    close = ", ".join(shown_value(standing.setting) for standing in effect.values if standing.is_close)
    return message("sweep.headline.axis_best", axis=effect.axis, values=close)
