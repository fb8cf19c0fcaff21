"""What of a cluster or a group of relations a prompt holds: lines that fit its budget, and what did not fit."""

from collections.abc import Sequence
from dataclasses import dataclass

from leanrag_core.indexing.aggregation.writer import ClusterView
from leanrag_core.text.tokens import count_tokens, trim_to_tokens

_SHORTEST = 60  # tokens of a line that is cut; what would be shorter is left out instead


@dataclass(frozen=True)
class Listing:
    """Lines that fit a budget. left_out: how many did not; cut: how many are not whole. tokens: what they take."""

    text: str
    tokens: int
    left_out: int = 0
    cut: int = 0


def fitting(lines: Sequence[str], max_tokens: int) -> Listing:
    """Fit the lines into the budget: whole where it holds them all.

    Else the longest are cut to one length, as large as the budget allows; what does not fit even so is left out from
    the end.
    """
    sizes = [count_tokens(line + "\n") for line in lines]
    if sum(sizes) <= max_tokens:
        return Listing("\n".join(lines), sum(sizes))
    limit = _common_limit(sizes, max_tokens)
    kept: list[str] = []
    room, cut = max_tokens, 0
    for line, size in zip(lines, sizes, strict=True):
        shown = line if size <= limit else trim_to_tokens(line, min(limit, max_tokens) - 1)
        cost = size if size <= limit else count_tokens(shown + "\n")
        if cost > room and kept:
            break
        kept.append(shown)
        room -= cost
        cut += shown != line
    return Listing("\n".join(kept), max_tokens - room, len(lines) - len(kept), cut)


def _common_limit(sizes: Sequence[int], max_tokens: int) -> int:
    """Return the largest length to which lines can be cut so that all fit, at least _SHORTEST."""
    room, ordered = max_tokens, sorted(sizes)
    for place, size in enumerate(ordered):
        share = room // (len(ordered) - place)
        if size > share:
            return max(_SHORTEST, share)
        room -= size
    return max(_SHORTEST, *ordered)


def member_lines(members: ClusterView) -> list[str]:
    """Return a line for each member, the most connected first."""
    return [
        f"- {members.names[place]} ({members.types[place] or 'unknown'}): {members.descriptions[place]}"
        for place in members.most_connected()
    ]


def inside_lines(members: ClusterView) -> list[str]:
    """Return a line for each relation of R_Cj, strongest first.

    Aggregated relations are named by lambda and keywords, which do not depend on tau, so that another tau asks for no
    aggregated entity again.
    """
    ordered = sorted(
        members.relations, key=lambda relation: (-relation.strength, -relation.weight, relation.source, relation.target)
    )
    lines = []
    for inner in ordered:
        text = inner.description
        if members.layer > 1:
            about = f", about {', '.join(inner.keywords)}" if inner.keywords else ""
            text = f"{inner.strength} relations between them{about}"
        lines.append(f"- {members.names[inner.source]} / {members.names[inner.target]}: {text}")
    return lines


def losses(what: str, listing: Listing, budget: int) -> list[str]:
    """Say in words what a prompt lacks; nothing when it lacks nothing."""
    parts = []
    if listing.left_out:
        parts.append(f"{listing.left_out} {what} did not fit into the {budget} tokens of the prompt")
    if listing.cut:
        parts.append(f"the texts of {listing.cut} {what} were cut to fit into the {budget} tokens of the prompt")
    return parts
