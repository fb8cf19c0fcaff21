"""Lists of indexes and of uploaded files: titles, the settings that differ, what became of each file."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, overload

from leanrag_core.figures import numbers
from leanrag_core.messages.catalog import ENGLISH, sentence
from leanrag_core.messages.message import Message, message
from leanrag_core.types.config import BUILTIN, MULTILINGUAL, REFERENCE, IndexConfig, model_title
from leanrag_core.types.summary import DocumentSummary, IndexSummary, UploadReport

_SHORTEST_NAME = 5  # characters that a shortened title keeps of the name


def _model(name: Any) -> Message:
    titles = {BUILTIN: "index.apart.builtin", REFERENCE: "index.apart.reference"}
    code = titles.get(str(name))
    title = "multilingual-e5-small" if name == MULTILINGUAL else model_title(str(name))
    return message(code) if code else message("plain", text=title)


# In the order in which they are tried; other settings follow.
_SETTING_TEXTS: Mapping[str, Callable[[Any], Message]] = {
    "model": _model,
    "cluster_size": lambda value: message("index.apart.cluster_size", value=value),
    "tau": lambda value: message("index.apart.tau", value=value) if value else message("index.apart.tau_auto"),
    "chunk_tokens": lambda value: message("index.apart.chunk_tokens", n=int(value)),
    "overlap_tokens": lambda value: message("index.apart.overlap_tokens", n=int(value)),
    "embedding": lambda value: message("index.apart.embedding", model=_model(value)),
    "aggregation_model": lambda value: (
        message("index.apart.aggregation_model", model=_model(value)) if value else message("index.apart.same_model")
    ),
    "gleaning_rounds": lambda value: message("index.apart.gleaning_rounds", n=int(value)),
    "prompts": lambda value: message("index.apart.own_prompts" if value else "index.apart.catalog_prompts"),
    "entity_types": lambda value: message(
        "index.apart.entity_types", types=tuple(message("plain", text=str(name)) for name in value)
    ),
    "size_cap": lambda value: message("index.apart.size_cap" if value else "index.apart.no_size_cap"),
    "smoothing": lambda value: message("index.apart.smoothing", n=int(value)),
    "seed": lambda value: message("index.apart.seed", value=value),
}


def with_titles(indexes: Sequence[IndexSummary], language: str = ENGLISH) -> tuple[IndexSummary, ...]:
    """Give each index a unique title: the name, and where others have it too, the settings that differ, in that
    language."""
    by_name: dict[str, list[IndexSummary]] = defaultdict(list)
    for index in indexes:
        by_name[index.name].append(index)
    comma = sentence(message("ask.comma"), language)
    differences = {
        id_: comma.join(texts) for group in by_name.values() for id_, texts in _differences(group, language).items()
    }
    return tuple(replace(index, apart=differences[index.id], comma=comma) for index in indexes)


def _differences(group: Sequence[IndexSummary], language: str) -> dict[str, list[str]]:
    """Return for each index of the group the fewest settings that distinguish it; its date where no setting does."""
    if len(group) == 1:
        return {group[0].id: []}
    configs = [index.config.by_name() for index in group]
    names = dict.fromkeys([*_SETTING_TEXTS, *sorted(name for config in configs for name in config)])
    parts: list[list[str]] = [[] for _ in group]
    for name in names:
        texts = [_setting_text(name, config.get(name), language) for config in configs]
        longer = [[*part, text] for part, text in zip(parts, texts, strict=True)]
        if _distinct(longer) > _distinct(parts):
            parts = longer
    if _distinct(parts) < len(group):
        built = [
            sentence(message("index.apart.built", time=numbers.day(index.created, language)), language)
            for index in group
        ]
        parts = [[*part, text] for part, text in zip(parts, built, strict=True)]
    return {index.id: part for index, part in zip(group, parts, strict=True)}


def _distinct(parts: Sequence[Sequence[str]]) -> int:
    return len({tuple(part) for part in parts})


def _setting_text(name: str, value: Any, language: str) -> str:
    try:
        return sentence(_SETTING_TEXTS[name](value), language)
    except (KeyError, TypeError, ValueError):  # a setting, or a value, of another version
        return f"{name.replace('_', ' ')} {value}"


def short_title(index: IndexSummary, max_characters: int) -> str:
    """Cut the title to about max_characters: the settings that differ stay whole, the name is cut."""
    if not index.apart or len(index.title) <= max_characters:
        return index.title
    room = max(_SHORTEST_NAME, max_characters - len(index.comma) - len(index.apart))
    name = index.name if len(index.name) <= room else f"{index.name[: room - 1].rstrip(' ,.;:')}…"
    return f"{name}{index.comma}{index.apart}"


@dataclass(frozen=True)
class MeasuredRecall:
    """Evidence recall of an index over so many questions, in that experiment's run."""

    recall: float
    n_questions: int
    experiment: str
    run: str


def differing_settings(indexes: Sequence[IndexSummary]) -> tuple[str, ...]:
    """Return the names of the settings that are not the same in all of these indexes, in the order of the form; those
    of another version last.
    """
    settings = [index.config.by_name() for index in indexes]
    known = [spec.name for spec in fields(IndexConfig)]
    others = sorted({name for of_index in settings for name in of_index} - set(known))
    return tuple(name for name in (*known, *others) if len({repr(each.get(name)) for each in settings}) > 1)


def common_settings(indexes: Sequence[IndexSummary], names: Iterable[str]) -> Mapping[str, Any]:
    """Return those of these settings that all of the indexes have in common, with their value."""
    differing = set(differing_settings(indexes))
    values = indexes[0].config.by_name()
    return {name: values[name] for name in names if name in values and name not in differing}


def grouped(indexes: Sequence[IndexSummary], by: str) -> list[IndexSummary]:
    """Return the indexes with those of one group together, groups in the order of their first index. by: an attribute
    of a summary, or a setting; "" for no groups.
    """
    if not by:
        return list(indexes)
    order: dict[str, int] = {}
    for index in indexes:
        order.setdefault(group_of(index, by), len(order))
    return sorted(indexes, key=lambda index: order[group_of(index, by)])


def group_of(index: IndexSummary, by: str) -> str:
    """Return the name of the group that the index belongs to."""
    if by in ("corpus_name", "kind"):
        return str(getattr(index, by))
    return str(index.config.by_name().get(by, ""))


REFUSED, DUPLICATE, ADDED = "refused", "duplicate", "added"


@dataclass(frozen=True)
class FileRow:
    """A document, or a file that gave none. size_bytes: of its file, None where that held several documents or could
    not be opened. tokens, language: of an added document. remarks: why it was refused, or what to know about it."""

    name: str
    state: str
    size_bytes: int | None = None
    tokens: int | None = None
    language: str = ""
    remarks: tuple[Message | str, ...] = ()


class FileRows(Sequence[FileRow]):
    """Rows of an upload: of refused and repeated files, which are few, and of documents, made when they are looked
    at."""

    def __init__(self, first: Sequence[FileRow], added: Sequence[DocumentSummary], sizes: Mapping[str, int]) -> None:
        self._first, self._added, self._sizes = first, added, sizes

    def __len__(self) -> int:
        return len(self._first) + len(self._added)

    @overload
    def __getitem__(self, place: int) -> FileRow: ...

    @overload
    def __getitem__(self, place: slice) -> list[FileRow]: ...

    def __getitem__(self, place: int | slice) -> FileRow | list[FileRow]:
        if isinstance(place, slice):
            start, stop, step = place.indices(len(self))
            n = len(self._first)
            added = self._added[max(0, start - n) : max(0, stop - n)]
            return [*self._first[start:stop], *(_added_row(row, self._sizes) for row in added)][::step]
        row = range(len(self))[place]
        return self[row : row + 1][0]


def upload_rows(report: UploadReport, sizes: Mapping[str, int]) -> FileRows:
    """Return a row for each file that could not be read, then repeated ones, documents with remarks, and the others;
    documents that went into a large corpus by their names.

    sizes: bytes of a file by the id of its only document, or by its name where it gave none.
    """
    rows = [
        FileRow(refusal.name, state, sizes.get(refusal.name), remarks=(refusal.reason,))
        for state, refusals in ((REFUSED, report.refusals), (DUPLICATE, report.duplicates))
        for refusal in refusals
    ]
    added = report.added
    if isinstance(added, tuple):
        added = sorted(added, key=lambda document: not document.notes)
    return FileRows(rows, added, sizes)


def _added_row(document: DocumentSummary, sizes: Mapping[str, int]) -> FileRow:
    language = "" if document.language == "und" else document.language
    return FileRow(document.name, ADDED, sizes.get(document.id), document.tokens, language, tuple(document.notes))
