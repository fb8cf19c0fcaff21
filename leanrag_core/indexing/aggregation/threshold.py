"""tau: how strongly two clusters must be connected before their relations are summarised (eq. 5)."""

from dataclasses import dataclass

import numpy as np

from leanrag_core.errors import InvalidConfig

_LLM_DEFAULT = "3"
_HEURISTIC_DEFAULT = "3,q0.75"  # bare co-occurrence makes nearly every pair of the upper layers exceed 3


@dataclass(frozen=True)
class TauRule:
    """tau of each layer. steps: one for each layer from layer 1 on, the last one repeats; each a number, or
    ("q", share) for a quantile of that layer's connectivity."""

    steps: tuple[float | tuple[str, float], ...]

    def threshold(self, layer_number: int, lambdas: np.ndarray) -> float:
        """Return tau_i of layer `layer_number` (1 is the first above the base graph).

        lambdas: (pairs,) connectivity strengths of that layer; only positive ones count towards a quantile.
        """
        step = self.step(layer_number)
        if not isinstance(step, tuple):
            return step
        positive = np.asarray(lambdas)[np.asarray(lambdas) > 0]
        return float(np.quantile(positive, step[1])) if len(positive) else 0.0

    def step(self, layer_number: int) -> float | tuple[str, float]:
        """Return the number, or ("q", share), of layer `layer_number`."""
        return self.steps[min(max(layer_number, 1), len(self.steps)) - 1]

    def with_step(self, layer_number: int, tau: float, n_layers: int) -> "TauRule":
        """Return the rule with another tau for one layer alone. n_layers: aggregated layers of the index; those above
        the last one repeat it, so that no layer but the named one changes.
        """
        steps = [self.step(number) for number in range(1, max(n_layers, layer_number) + 1)]
        steps[layer_number - 1] = float(tau)
        while len(steps) > 1 and steps[-1] == steps[-2]:
            steps.pop()
        return TauRule(tuple(steps))

    def step_text(self, layer_number: int) -> str:
        """Return the step of that layer, as a setting writes it."""
        return str(TauRule((self.step(layer_number),)))

    def __str__(self) -> str:
        return ",".join(f"q{step[1]:g}" if isinstance(step, tuple) else f"{step:g}" for step in self.steps)


PAPER_TAU = TauRule((3.0,))


def parse_tau(value: str | int | float | None, heuristic: bool) -> TauRule:
    """Read the rule from a setting of tau: a number, a list by layer ("3,5"), a quantile ("q0.75"), or a mix.

    None or an empty text chooses the paper's 3 for graphs that a language model extracted, and "3,q0.75" for heuristic
    ones. Raises InvalidConfig for anything else.
    """
    if value is None or not str(value).strip():
        value = _HEURISTIC_DEFAULT if heuristic else _LLM_DEFAULT
    return TauRule(tuple(_step(part.strip(), value) for part in str(value).split(",")))


def _step(part: str, whole: str | int | float) -> float | tuple[str, float]:
    quantile = part[:1].lower() == "q"
    try:
        number = float(part[1:] if quantile else part)
    except ValueError:
        number = float("nan")
    if not (0 <= number <= 1 if quantile else 0 <= number < float("inf")):
        raise InvalidConfig("option.tau_not_understood", whole=whole, part=part)
    return ("q", number) if quantile else number
