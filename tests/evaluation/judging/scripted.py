"""A small experiment whose answers are judged, and judges whose rule is known."""

import json
import re
from collections.abc import Callable

from leanrag_core.evaluation.gold import GoldQuestion
from leanrag_core.types.experiment import ExperimentSpec, JudgeSpec, QuestionRow, RunSpec

JUDGE = "openai:judge"
QUESTIONS = (
    GoldQuestion("q1", "Why do bees dance?", ("direction",)),
    GoldQuestion("q2", "Who owns the moon?"),
)
ANSWERS = {
    ("long", "q1"): "They tell the direction and the distance of food to others of the colony.",
    ("short", "q1"): "For the direction.",
    ("long", "q2"): "The documents do not say who owns the moon.",
    ("short", "q2"): "A king.",
}
_SHOWN = re.compile(r"^Answer(?: 1| 2| to check)?:\n<<<(TEXT-\w+)\n(.*?)\n\1>>>$", re.MULTILINE | re.DOTALL)


def spec(*kinds: str, repeats: int = 2, **more: object) -> ExperimentSpec:
    runs = tuple(RunSpec(name, "index", "leanrag") for name in ("long", "short"))
    judge = JudgeSpec(JUDGE, repeats=repeats, **({"kinds": kinds} if kinds else {}), **more)
    return ExperimentSpec("Bees", "set", runs, baseline="short", judges=(judge,))


def rows() -> tuple[QuestionRow, ...]:
    return tuple(QuestionRow(run, question, "", {}, answer=answer) for (run, question), answer in ANSWERS.items())


def shown(prompt: str) -> list[str]:
    """Return the answers that the prompt shows, in order."""
    return [answer for _, answer in _SHOWN.findall(prompt)]


def winner_reply(winner: int) -> str:
    names = ("comprehensiveness", "empowerment", "diversity", "directness", "overall")
    return json.dumps({name: {"explanation": "So it is.", "winner": winner} for name in names})


def score_reply(score: object) -> str:
    names = ("comprehensiveness", "empowerment", "diversity", "overall")
    return json.dumps({name: {"explanation": "So it is.", "score": score} for name in names})


def longer_wins(prompt: str) -> str:
    first, second = shown(prompt)
    return winner_reply(1 if len(first) > len(second) else 2)


Rule = Callable[[str], str]
