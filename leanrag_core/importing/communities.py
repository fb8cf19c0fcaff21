"""Communities, their reports and claims of other systems, with the entities of the import."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from leanrag_core.importing.rows import Drops
from leanrag_core.indexing.parsing.blocks import clean, one_line
from leanrag_core.types.graph import Finding
from leanrag_core.types.imported import ImportedClaim, ImportedCommunity, ImportedReport

_MAX_TITLE, _MAX_TEXT, _MAX_FINDINGS = 500, 20_000, 100
_MAX_LEVEL = 100

EntityId = Callable[[str], str]  # a foreign id or name to the id of an entity; "" when there is none


def communities_of(
    communities: Iterable[ImportedCommunity], entity_id: EntityId, drops: Drops
) -> tuple[ImportedCommunity, ...]:
    """Sort the communities by level and id, and give their entities the ids of the index.

    A community without an entity of the import is left out, and so is a second one of the same id.
    """
    kept: dict[str, ImportedCommunity] = {}
    for community in communities:
        place = f"community {community.id[:80]}"
        ids = [entity_id(name) for name in community.entities]
        members = tuple(sorted({id_ for id_ in ids if id_}))
        if not 0 <= community.level <= _MAX_LEVEL or not members:
            drops.add(place, "import.empty_community")
        elif community.id in kept:
            drops.add(place, "import.id_twice")
        else:
            if "" in ids:
                drops.add(place, "import.community_members", n=ids.count(""))
            title = one_line(community.title)[:_MAX_TITLE]
            report = _report(community.report) if community.report is not None else None
            kept[community.id] = replace(community, title=title, entities=members, report=report)
    known = [replace(each, parent=_parent(each, kept)) for each in kept.values()]
    return tuple(sorted(known, key=lambda each: (each.level, len(each.id), each.id)))


def _parent(community: ImportedCommunity, kept: Mapping[str, ImportedCommunity]) -> str:
    """Return the id of its parent, if that is there and coarser."""
    parent = kept.get(community.parent)
    return parent.id if parent is not None and parent.level < community.level else ""


def _report(report: ImportedReport) -> ImportedReport:
    findings = tuple(
        Finding(_text(finding.summary), _text(finding.explanation)) for finding in report.findings[:_MAX_FINDINGS]
    )
    rating = report.rating if report.rating is not None and 0 <= report.rating <= 1000 else None
    return ImportedReport(one_line(report.title)[:_MAX_TITLE], _text(report.summary), rating, findings)


def _text(text: str) -> str:
    return clean(text).strip()[:_MAX_TEXT]


def claims_of(
    claims: Iterable[ImportedClaim], entity_id: EntityId, chunk_of: dict[str, str], drops: Drops
) -> tuple[ImportedClaim, ...]:
    """Return the claims whose subject is an entity of the import, each with the id of its chunk."""
    kept = []
    for number, claim in enumerate(claims, 1):
        subject = entity_id(claim.subject)
        if not subject:
            drops.add(f"claim {number}", "import.claim_subject", end=claim.subject[:80])
            continue
        kept.append(
            ImportedClaim(
                subject,
                one_line(claim.object)[:_MAX_TITLE],
                one_line(claim.type)[:_MAX_TITLE],
                one_line(claim.status)[:_MAX_TITLE],
                _text(claim.description),
                one_line(claim.start)[:_MAX_TITLE],
                one_line(claim.end)[:_MAX_TITLE],
                _text(claim.source_text),
                chunk_of.get(claim.chunk, ""),
            )
        )
    return tuple(kept)
