"""The rules by which a claim is called reproduced, not reproduced, or one that cannot be told apart.

relation of the claim:
- "=": the figure of the files, rounded as the published one is printed, is the same: reproduced. Else, where the files
  are a sample of questions or clusters: cannot be told apart if the published figure lies in the 95 % interval of what
  they give, not reproduced if it lies outside. A count without an interval is either the same or not reproduced.
- ">=": reproduced if the figure of the files is at least the published one, else not reproduced.
- "told": all of so many leads can be told from chance. Reproduced if they are, else cannot be told apart.
- "about": as "=", and within 5 % cannot be told apart; for token counts of papers that name no tokenizer.
- "ahead": A beats B. Reproduced if A is ahead over both orders of the answers and a paired test over questions says so
  (Wilcoxon, 5 %, corrected after Holm over all such claims of the group that could be checked); not reproduced if B is;
  else cannot be told apart. Whether A is ahead in either order is kept beside it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from benchmarks.claims.manifest import Claim, FoundFile
from benchmarks.claims.measures import Found, measures
from leanrag_core.errors import LeanRAGError
from leanrag_core.evaluation.audit.files import JudgeFile
from leanrag_core.evaluation.statistics import ALPHA, holm

REPRODUCED, NOT_REPRODUCED, CANNOT_TELL = "reproduced", "not reproduced", "cannot be told apart"
NOT_CHECKED, UNREADABLE = "files missing", "unreadable"
SAME, AT_LEAST, ABOUT, AHEAD, TOLD = "=", ">=", "about", "ahead", "told"
_NEAR = 0.05
_PLACES = 6
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Outcome:
    """What became of a claim. found: as in Found, six decimals, None where it could not be made. p: after Holm. files:
    those that are missing or of another version, or the reason why they cannot be read. unverified: whether a file was
    used of which the manifest has no hash."""

    claim: str
    verdict: str
    found: float | None = None
    low: float | None = None
    high: float | None = None
    n: int = 0
    p: float | None = None
    in_both_orders: bool = True
    files: str = ""
    unverified: bool = False


def check_claims(claims: Sequence[Claim], files: Mapping[str, FoundFile]) -> tuple[Outcome, ...]:
    """Check each claim against the files that are there."""
    known = measures()
    found: dict[str, Found] = {}
    failed: dict[str, Outcome] = {}
    for claim in claims:
        lacking = [name for name in claim.files if not files[name].is_usable]
        if lacking:
            failed[claim.id] = Outcome(claim.id, NOT_CHECKED, files=", ".join(lacking))
            continue
        try:
            found[claim.id] = known[claim.measure](_contents(claim, files), claim.arguments)
        except (LeanRAGError, ValueError, KeyError, TypeError, IndexError) as error:
            failed[claim.id] = Outcome(claim.id, UNREADABLE, files=f"{claim.files[0]}: {error}")
    p_holm = _corrected(claims, found)
    return tuple(
        failed.get(claim.id) or _outcome(claim, found[claim.id], p_holm.get(claim.id), files) for claim in claims
    )


def _contents(claim: Claim, files: Mapping[str, FoundFile]) -> tuple[JudgeFile, ...]:
    paths = [files[name].path for name in claim.files]
    return tuple(JudgeFile(path.name, path.read_bytes()) for path in paths if path is not None)


def _corrected(claims: Sequence[Claim], found: Mapping[str, Found]) -> Mapping[str, float]:
    """Return the corrected p of each claim that one system beats another, over the claims of its group."""
    families: dict[str, dict[str, float]] = {}
    for claim in claims:
        p = found[claim.id].p if claim.id in found else None
        if p is not None:
            families.setdefault(claim.group, {})[claim.id] = p
    return {id_: p for family in families.values() for id_, p in zip(family, holm(list(family.values())), strict=True)}


def _outcome(claim: Claim, found: Found, p: float | None, files: Mapping[str, FoundFile]) -> Outcome:
    low, high = (None if bound is None else round(bound, _PLACES) for bound in (found.low, found.high))
    return Outcome(
        claim.id,
        verdict(claim, found, p),
        round(found.value, _PLACES),
        low,
        high,
        found.n,
        None if p is None else round(p, _PLACES),
        found.in_both_orders,
        unverified=any(not files[name].source.sha256 for name in claim.files),
    )


def verdict(claim: Claim, found: Found, p: float | None = None) -> str:
    """Return the verdict on the claim. p: after correction, for a claim that A beats B."""
    published = float(claim.published)
    if claim.relation == AHEAD:
        if p is None or p >= ALPHA:
            return CANNOT_TELL
        return REPRODUCED if found.value == published else NOT_REPRODUCED
    if claim.relation == AT_LEAST:
        return REPRODUCED if found.value >= published else NOT_REPRODUCED
    decimals = len(claim.published.partition(".")[2])
    if abs(found.value - published) <= 0.5 * 10.0**-decimals + _ROUNDING:
        return REPRODUCED
    if claim.relation == TOLD:
        return CANNOT_TELL
    if claim.relation == ABOUT:
        return CANNOT_TELL if abs(found.value - published) <= _NEAR * published else NOT_REPRODUCED
    if found.low is None or found.high is None:
        return NOT_REPRODUCED
    return CANNOT_TELL if found.low <= published <= found.high else NOT_REPRODUCED
