"""What a question is asked of: documents by themselves, by folder, by tag, by date; facts as of a date."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any
from urllib.parse import quote, unquote

from leanrag_core.errors import InvalidConfig
from leanrag_core.files.records import absent_at_default

_DATE = re.compile(r"\d{4}(-(0[1-9]|1[0-2])(-(0[1-9]|[12]\d|3[01]))?)?")


def is_date(text: str) -> bool:
    """Return whether the text is a day, a month or a year as YYYY-MM-DD, YYYY-MM or YYYY."""
    if _DATE.fullmatch(text) is None:
        return False
    try:
        date.fromisoformat(f"{text}-01-01"[:10])
    except ValueError:  # such as the 30th of February, or the year 0
        return False
    return True


@dataclass(frozen=True)
class Scope:
    """Which documents a question is asked of, and as of when; without a condition, of all.

    A document is in the scope when it is one of `documents` (ids or names) or lies in one of `folders` or below it,
    where any of these are named; has one of `tags`, where any are named; and is dated not before `since` and not after
    `until`, where they are given. A date is a day, a month or a year. One that has no date is in no scope with dates.
    as_of: what texts say that was not valid then is left out; what has no date stays.
    """

    documents: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    since: str = ""
    until: str = ""
    as_of: str = absent_at_default("")

    def __post_init__(self) -> None:
        for bound in (self.since, self.until, self.as_of):
            if bound and not is_date(bound):
                raise InvalidConfig("scope.no_date", date=bound)
        if self.since and self.until and not _not_before(self.until, self.since):
            raise InvalidConfig("scope.ends_before", since=self.since, until=self.until)

    @property
    def is_all(self) -> bool:
        """Whether nothing is asked for, so that every document is in the scope."""
        return self == ALL

    def holds(self, document: "ScopedDocument") -> bool:
        """Return whether the document is in the scope."""
        if self.documents or self.folders:
            named = {document.id, document.name} & set(self.documents)
            if not named and not any(_lies_in(document.folder, folder) for folder in self.folders):
                return False
        if self.tags and not set(self.tags) & set(document.tags):
            return False
        if (self.since or self.until) and not document.date:
            return False
        return _not_before(document.date, self.since) and _not_before(self.until, document.date)

    def values(self) -> dict[str, Any]:
        """Return the conditions by name, as JSON values; those that are not asked for are left out."""
        listed = {"documents": self.documents, "folders": self.folders, "tags": self.tags}
        dates = {"since": self.since, "until": self.until, "as_of": self.as_of}
        return {name: list(value) for name, value in listed.items() if value} | {
            name: value for name, value in dates.items() if value
        }


ALL = Scope()
_KINDS = (("document", "documents"), ("folder", "folders"), ("tag", "tags"))
_BOUNDS = (("from", "since"), ("to", "until"), ("as-of", "as_of"))
_PLAIN = " /._-"  # beside letters and digits: what stands for itself where a scope is written


def written(scope: Scope) -> str:
    """Return the scope in one line, such as "folder:reports;tag:law;from:2024"; empty for all documents."""
    parts = [f"{kind}:{quote(name, safe=_PLAIN)}" for kind, field_name in _KINDS for name in getattr(scope, field_name)]
    parts += [f"{kind}:{bound}" for kind, field_name in _BOUNDS if (bound := getattr(scope, field_name))]
    return ";".join(parts)


def read_scope(text: str) -> Scope:
    """Return the scope that written() gives as that line. Raises InvalidConfig for one that it does not give."""
    listed: dict[str, list[str]] = {}
    for part in filter(None, text.split(";")):
        kind, _, value = part.partition(":")
        listed.setdefault(kind, []).append(unquote(value))
    many = {field_name: tuple(listed.pop(kind, ())) for kind, field_name in _KINDS}
    bounds = {field_name: listed.pop(kind, [""]) for kind, field_name in _BOUNDS}
    several = any(len(dates) != 1 for dates in bounds.values())
    if listed or several or any("" in values for values in many.values() if values):
        raise InvalidConfig("scope.not_understood", text=text)
    since, until, as_of = (dates[0] for dates in bounds.values())
    return Scope(**many, since=since, until=until, as_of=as_of)


@dataclass(frozen=True)
class ScopedDocument:
    """What a scope looks at of a document. folder: below the folder that was read, with "/", empty for that one itself.
    date: a day, a month or a year; empty when it is not known."""

    id: str
    name: str
    folder: str = ""
    tags: tuple[str, ...] = ()
    date: str = ""


@dataclass(frozen=True)
class DocumentData:
    """What was set of a document by hand, or read from its file."""

    tags: tuple[str, ...] = ()
    date: str = ""


@dataclass(frozen=True)
class NotValid:
    """How many are left out as of a date: later, that had not begun or happened; ended, that were over."""

    later: int = 0
    ended: int = 0

    @property
    def n(self) -> int:
        """All of them."""
        return self.later + self.ended


@dataclass(frozen=True)
class LeftOut:
    """What is left out as of a date. sentences: of descriptions that stay; passages: sentences of documents."""

    relations: NotValid = NotValid()
    sentences: NotValid = NotValid()
    passages: NotValid = NotValid()

    @property
    def n(self) -> int:
        """All of them."""
        return self.relations.n + self.sentences.n + self.passages.n


NOTHING_LEFT_OUT = LeftOut()
Data = Mapping[str, DocumentData]  # by the document's id


def _lies_in(folder: str, wanted: str) -> bool:
    wanted = wanted.strip("/")
    return folder == wanted or folder.startswith(f"{wanted}/")


def _not_before(day: str, bound: str) -> bool:
    """Return whether the date is not before the bound, as far as both are known: "2024" is not before "2024-05"."""
    n_common = min(len(day), len(bound))
    return day[:n_common] >= bound[:n_common]
