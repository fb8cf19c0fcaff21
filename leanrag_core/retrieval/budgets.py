"""Token budgets of a context's sections under one budget for the whole context."""

from collections.abc import Mapping


def scaled(budgets: Mapping[str, int], max_tokens: int) -> dict[str, int]:
    """The sections' budgets, made smaller in proportion where their sum is above max_tokens; the rest of the rounding
    goes to the first sections."""
    total = sum(budgets.values())
    if total <= max_tokens:
        return dict(budgets)
    shares = {name: budget * max_tokens // total for name, budget in budgets.items()}
    for name in list(shares)[: max_tokens - sum(shares.values())]:
        shares[name] += 1
    return shares
