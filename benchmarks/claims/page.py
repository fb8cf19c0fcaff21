"""Writes docs/claims.md from the results: findings first, then the rules, every claim, and where its files are."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from benchmarks.claims.manifest import MISSING, Claim, SourceFile
from benchmarks.claims.verdicts import (
    AHEAD,
    CANNOT_TELL,
    NOT_CHECKED,
    NOT_REPRODUCED,
    REPRODUCED,
    UNREADABLE,
    Outcome,
)

_VERDICTS = (REPRODUCED, NOT_REPRODUCED, CANNOT_TELL, NOT_CHECKED, UNREADABLE)
_SHORT_HASH = 12
_SHORT_COMMIT = 8
_TEMPLATE = Path(__file__).with_name("page.md")


def page_text(claims: Sequence[Claim], sources: Sequence[SourceFile], outcomes: Mapping[str, Outcome]) -> str:
    """Return the page in Markdown."""
    checked = [claim for claim in claims if outcomes[claim.id].verdict not in (NOT_CHECKED, UNREADABLE)]
    return _TEMPLATE.read_text(encoding="utf-8").format(
        n=len(claims),
        checked=len(checked),
        findings=_findings(claims, outcomes),
        groups="\n\n".join(_group(group, members, outcomes) for group, members in _by_group(claims).items()),
        files=_files(sources, claims),
    )


def _table(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return the rows as a Markdown table."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(str(cell) for cell in line)} |" for line in lines)


def _by_group(claims: Iterable[Claim]) -> Mapping[str, list[Claim]]:
    groups: dict[str, list[Claim]] = {}
    for claim in claims:
        groups.setdefault(claim.group, []).append(claim)
    return groups


def counts_table(claims: Sequence[Claim], outcomes: Mapping[str, Outcome]) -> str:
    """Return how many claims of each group have each verdict."""
    used = [name for name in _VERDICTS if any(outcome.verdict == name for outcome in outcomes.values())]
    rows = []
    for group, members in _by_group(claims).items():
        counts = Counter(outcomes[claim.id].verdict for claim in members)
        rows.append([group, len(members), *(counts[name] or "" for name in used)])
    return _table(["group", "claims", *used], rows)


def _findings(claims: Sequence[Claim], outcomes: Mapping[str, Outcome]) -> str:
    def listed(verdict: str) -> str:
        return "\n".join(
            _finding(claim, outcomes[claim.id])
            for claim in claims
            if outcomes[claim.id].verdict == verdict and claim.relation != AHEAD
        )

    ahead = [claim for claim in claims if claim.relation == AHEAD and outcomes[claim.id].p is not None]
    untold = [claim for claim in ahead if outcomes[claim.id].verdict == CANNOT_TELL]
    held = [claim for claim in ahead if outcomes[claim.id].verdict == REPRODUCED]
    one_order = [claim for claim in held if not outcomes[claim.id].in_both_orders]
    return "\n".join(
        [
            counts_table(claims, outcomes),
            "",
            "**Not reproduced:**",
            "",
            listed(NOT_REPRODUCED),
            "",
            "**Figures that cannot be told apart:**",
            "",
            listed(CANNOT_TELL),
            "",
            f"**A beats B.** {len(ahead)} published leads could be tested: {len(held)} hold, {len(untold)} cannot "
            "be told apart:",
            "",
            "\n".join(_finding(claim, outcomes[claim.id]) for claim in untold),
            "",
            f"{len(one_order)} of the {len(held)} are leads over both orders of the answers together only: shown in "
            "the other place, the system is not ahead, since the judge prefers the place.",
            "",
            "\n".join(_finding(claim, outcomes[claim.id]) for claim in one_order),
        ]
    )


def _finding(claim: Claim, outcome: Outcome) -> str:
    if claim.relation == AHEAD:
        return f"- {claim.subject}: p {_number(outcome.p)} after Holm."
    note = f" ({claim.note})" if claim.note else ""
    return f"- {claim.subject}: {_published(claim)} published, {_found(claim, outcome)} found{note}. {claim.stands_in}."


def _group(group: str, claims: Sequence[Claim], outcomes: Mapping[str, Outcome]) -> str:
    rows = []
    for claim in claims:
        outcome = outcomes[claim.id]
        verdict = outcome.verdict + (", unverified" if outcome.unverified and outcome.found is not None else "")
        rows.append([claim.subject, _published(claim), _found(claim, outcome), verdict, claim.stands_in])
    return f"## {group}\n\n{_table(['what is measured', 'published', 'found', 'verdict', 'stands in'], rows)}"


def _published(claim: Claim) -> str:
    if claim.relation == AHEAD:
        return "ahead"
    number = f"{float(claim.published):,.{len(claim.published.partition('.')[2])}f}"
    return f"{number} or more" if claim.relation == ">=" else number


def _found(claim: Claim, outcome: Outcome) -> str:
    """Return the figure with its interval, with one decimal more than the published one has where they differ."""
    if outcome.found is None:
        return "–"
    if claim.relation == AHEAD:
        lead = "ahead" if outcome.found == float(claim.published) else "behind"
        return f"{lead}{'' if outcome.in_both_orders else ' in one order'}, p {_number(outcome.p)}"
    is_whole = outcome.found == round(outcome.found) and "." not in claim.published
    decimals = 0 if is_whole else len(claim.published.partition(".")[2]) + 1
    number = f"{outcome.found:,.{decimals}f}"
    if outcome.low is None or outcome.high is None:
        return number
    return f"{number} [{outcome.low:,.{decimals}f}, {outcome.high:,.{decimals}f}]"


_SMALL = 0.001


def _number(p: float | None) -> str:
    if p is None:
        return "–"
    return "< .001" if p < _SMALL else f"{p:.3f}".lstrip("0") if p < 1 else "1"


def _files(sources: Sequence[SourceFile], claims: Sequence[Claim]) -> str:
    uses = Counter(name for claim in claims for name in claim.files)
    rows = [
        [
            f"`{source.name}`",
            f"{source.repository}@{source.commit[:_SHORT_COMMIT]}",
            source.folder,
            source.licence,
            f"`{source.sha256[:_SHORT_HASH]}`" if source.sha256 else "not known",
            uses[source.name],
        ]
        for source in sources
    ]
    head = ["file", "repository", "folder", "licence", "SHA-256 begins with", "claims"]
    return _table(head, rows)


def missing_files(statuses: Mapping[str, str]) -> Sequence[str]:
    """Return the names of the files that were not found."""
    return [name for name, status in statuses.items() if status == MISSING]
