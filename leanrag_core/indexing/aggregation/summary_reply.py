"""From a language model's reply to an aggregated entity's text or an aggregated relation's sentence."""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any

from leanrag_core.errors import ReplyError
from leanrag_core.indexing.aggregation.writer import RelationGroupView, Summary
from leanrag_core.models.asking import read_json
from leanrag_core.models.base import Completion
from leanrag_core.text.sentences import ends_with_abbreviation
from leanrag_core.types.calls import JSON_TEXT, json_list, json_object
from leanrag_core.types.extraction import Drop
from leanrag_core.types.graph import Finding

FINDINGS = json_list(json_object(summary=JSON_TEXT, explanation=JSON_TEXT))
LONGEST_NAME = 200  # characters
_PARTS = (("name", "title"), ("description", "summary"), ("findings", "key_findings", "insights"))
_SUMMARY = ("summary", "finding", "title", "headline", "statement", "insight")
_EXPLANATION = ("explanation", "description", "detail", "details", "support", "evidence")
_SENTENCE_END = re.compile(r"(?<=[.!?])[\"'”’)\]]*\s+(?=[\"'“(\[]?[^\W\da-z_])|(?<=[。！？])(?=.)")


def whole(completion: Completion) -> str:
    """Return the reply's text. Raises ReplyError when it was cut at the token limit."""
    if completion.cut:
        raise ReplyError("reply.cut_be_shorter")
    return completion.text


def parse_summary(reply: str, member_names: Sequence[str], *, stage: str = "", item: str = "") -> Summary:
    """Read name, description and findings from a reply, whose broken JSON is repaired; a finding that cannot be read is
    a Drop.

    Raises ReplyError when there is no object, its end is missing, there is no name or description, or when the name is
    a member's.
    """
    reply_json = read_json(reply, _PARTS)
    if reply_json.breaks_off:
        raise ReplyError("reply.broken_off")
    cells = {str(key).strip().lower(): value for key, value in reply_json.cells.items()}
    name, description, listed = (next((cells[key] for key in keys if cells.get(key)), None) for keys in _PARTS)
    name = " ".join(str(name or "").split())
    description = str(description or "").strip()
    if not name or not description:
        raise ReplyError("reply.no_name_or_description")
    if len(name) > LONGEST_NAME:
        raise ReplyError("reply.name_too_long", n=len(name), limit=LONGEST_NAME)
    if name.casefold() in {" ".join(member.split()).casefold() for member in member_names}:
        raise ReplyError("reply.name_of_member", name=name)
    findings, lost = [], []
    for entry in _as_list(listed):
        finding = _finding(entry)
        findings += [finding] if finding else []
        lost += [] if finding else [Drop(stage, item, f"a finding cannot be read: {str(entry)[:100]!r}")]
    return Summary(name, description, tuple(findings), drops=tuple(lost))


def _as_list(value: Any) -> list[Any]:
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


def finding_of(summary: str, explanation: str) -> Finding | None:
    """Return the finding, with an explanation alone as its summary; None where both are empty."""
    return Finding(summary or explanation, explanation if summary else "") if summary or explanation else None


def _finding(entry: Any) -> Finding | None:
    """Make a finding from an object or a text; None for anything else."""
    if isinstance(entry, str):
        return finding_of(entry.strip(), "")
    if not isinstance(entry, dict):
        return None
    cells = {str(key).strip().lower(): str(value).strip() for key, value in entry.items() if isinstance(value, str)}
    summary = next((cells[key] for key in _SUMMARY if cells.get(key)), "")
    explanation = next((cells[key] for key in _EXPLANATION if cells.get(key) and cells[key] != summary), "")
    return finding_of(summary, explanation)


def sentence_of(completion: Completion) -> str:
    """Return the reply in one line, without quotes around it. Raises ReplyError when it is empty or cut."""
    text = " ".join(whole(completion).split()).strip("`\"'“” ")
    if not text:
        raise ReplyError("reply.empty")
    return text


def faults_of(text: str, view: RelationGroupView) -> list[str]:
    """Say where a sentence on two groups breaks the rules of eq. 5: that it is one sentence, and names no member."""
    faults = []
    n_sentences = count_sentences(text)
    if n_sentences > 1:
        faults.append(f"it has {n_sentences} sentences, not one")
    named = named_members(text, view)
    if named:
        faults.append(f"it names {', '.join(map(repr, named[:3]))}; speak of the groups as wholes")
    return faults


def count_sentences(text: str) -> int:
    """Count the sentences of a text; initials and abbreviations end none."""
    pieces = [piece for piece in _SENTENCE_END.split(text) if piece.strip()]
    return sum(1 for piece in pieces[:-1] if not ends_with_abbreviation(piece)) + bool(pieces)


def named_members(text: str, view: RelationGroupView) -> list[str]:
    """Return the members that the text names; a group's own words or a single common noun do not count as a member's
    name.
    """
    groups = _plain(f"{view.left_name} {view.right_name}")
    plain = _plain(text)
    return [
        name for name in _names(view.member_names) if _holds(plain, _plain(name)) and not _holds(groups, _plain(name))
    ]


def _names(names: Iterable[str]) -> list[str]:
    return [
        name for name in names if len(name) > 1 and (" " in name.strip() or name != name.lower() or _caseless(name))
    ]


def _caseless(name: str) -> bool:
    return name.lower() == name.upper() and any(map(str.isalpha, name))


def _holds(text: str, name: str) -> bool:
    if _caseless(name):
        return name in text
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) is not None


def _plain(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).split()).casefold()
