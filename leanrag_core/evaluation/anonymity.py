"""Names in texts replaced by placeholders, and put back."""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from leanrag_core.errors import InvalidConfig
from leanrag_core.evaluation.answers import GRADES, grade
from leanrag_core.evaluation.gold import Evidence, GoldQuestion, normalised
from leanrag_core.evaluation.question_sets.reading import to_jsonl
from leanrag_core.files.atomic import writing
from leanrag_core.files.records import from_json, to_json
from leanrag_core.messages.message import message
from leanrag_core.types.index import Index

# Types that hold common nouns and parts of documents; replacing these would leave no text to read.
ORDINARY = frozenset(("concept", "heading", "title", "other", "unknown", ""))
ALL_TYPES = "all"
_NO_LETTER = re.compile(r"[^A-Z]+")
_SHORTEST = 2  # characters of a name


@dataclass(frozen=True)
class Placeholder:
    """An entity and what stands for it, such as PERSON_12. names: all its names, the shown one first."""

    placeholder: str
    type: str
    names: tuple[str, ...]


@dataclass(frozen=True)
class Dictionary:
    """All placeholders, in the order of the index's entities. index: the id of the index that they were taken from."""

    index: str
    entries: tuple[Placeholder, ...]

    def by_name(self) -> dict[str, Placeholder]:
        """Map each name to its entry; a name that several entries have maps to the first of them."""
        entries: dict[str, Placeholder] = {}
        for entry in self.entries:
            for name in entry.names:
                entries.setdefault(name, entry)
        return entries


def dictionary_of(index: Index, types: Collection[str] = ()) -> Dictionary:
    """Make a placeholder for each entity of those types. types: in any case; empty: all but ORDINARY; "all": every
    type.

    Only names with a capital letter are replaced, and those of a script without capitals: others are common nouns. A
    placeholder that a document already contains is skipped.
    """
    wanted = frozenset(name.casefold() for name in types)
    layer = index.layers[0]
    aliases = _by_entity(index.report.aliases)
    in_documents = _taken(index)
    numbers: Counter[str] = Counter()
    entries = []
    for name, type_ in zip(layer.entities["name"].to_pylist(), layer.entities["type"].to_pylist(), strict=True):
        names = tuple(each for each in dict.fromkeys((name, *aliases.get(name, ()))) if _is_name(each))
        if not names or not _is_wanted(type_, wanted):
            continue
        label = _NO_LETTER.sub("", type_.upper()) or "ENTITY"
        numbers[label] += 1
        while f"{label}_{numbers[label]}" in in_documents:
            numbers[label] += 1
        entries.append(Placeholder(f"{label}_{numbers[label]}", type_, names))
    return Dictionary(index.id, tuple(entries))


def _by_entity(aliases: Mapping[str, str]) -> Mapping[str, list[str]]:
    names: dict[str, list[str]] = {}
    for alias, name in sorted(aliases.items()):
        names.setdefault(name, []).append(alias)
    return names


def _is_wanted(type_: str, wanted: frozenset[str]) -> bool:
    if not wanted:
        return type_.casefold() not in ORDINARY
    return ALL_TYPES in wanted or type_.casefold() in wanted


def _is_name(name: str) -> bool:
    has_capitals = name.upper() != name.lower()
    return len(name) >= _SHORTEST and (name != name.lower() or not has_capitals)


def _taken(index: Index) -> frozenset[str]:
    """Return the words of the documents that look like placeholders."""
    texts: Iterable[str] = index.documents["text"].to_pylist()
    return frozenset(match.upper() for text in texts for match in re.findall(r"\b[A-Za-z]+_\d+\b", text))


_EASTERN = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_PLACE = re.compile(rf"(?<!\w)(?=\w)|(?=[{_EASTERN}])|(?=[^\w\s])")  # where a name may begin
_KEY = 2  # characters that names are looked up by
# Types whose names are written with a capital letter wherever they occur.
_ALWAYS_CAPITAL = frozenset(("person", "location", "organization", "group", "work", "event", "law", "language"))
# As models write placeholders: person_12, [PERSON#12], PERSON 12; "work 12 hours" is none.
_PLACEHOLDER = re.compile(r"\[?(?<!\w)(?:([A-Za-z]{2,})[_#]|([A-Z]{2,})[ -])(\d{1,7})(?!\w)\]?")


@dataclass(frozen=True)
class Replaced:
    """A text with placeholders. spans: start and end of each name in the original text, and its placeholder."""

    text: str
    spans: tuple[tuple[int, int, str], ...] = ()


@dataclass(frozen=True)
class Reverted:
    """A text with the names put back. known: placeholders that were; unknown: those that the dictionary lacks, which a
    model has made up."""

    text: str
    known: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Name:
    pattern: re.Pattern[str]
    placeholder: str


@dataclass
class Anonymiser:
    """Replaces names by their placeholders, the longest name first; wherever a line break divides a name, too."""

    dictionary: Dictionary
    _by_key: dict[str, list[_Name]] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._by_key = defaultdict(list)
        by_name = self.dictionary.by_name()
        for name in sorted(by_name, key=lambda each: (-len(each), each)):
            entry = by_name[name]
            for form in dict.fromkeys(_forms(name, entry.type)):
                self._by_key[form[:_KEY]].append(_Name(_pattern(form), entry.placeholder))

    @cached_property
    def normalised_names(self) -> Mapping[str, str]:
        """Return each name and its placeholder, both as gold answers are compared."""
        by_name = self.dictionary.by_name()
        return {normalised(name): normalised(entry.placeholder) for name, entry in by_name.items()}

    def __call__(self, text: str) -> Replaced:
        """Return the text with every name replaced."""
        pieces, spans, end = [], [], 0
        for place in _PLACE.finditer(text):
            start = place.start()
            if start < end:
                continue
            for name in self._by_key.get(text[start : start + _KEY], ()):
                if match := name.pattern.match(text, start):
                    pieces += [text[end:start], name.placeholder]
                    end = match.end()
                    spans.append((start, end, name.placeholder))
                    break
        return Replaced("".join((*pieces, text[end:])), tuple(spans))

    def of_quote(self, text: str, start: int, end: int) -> str:
        """Return the part of a text from start to end as the replaced text has it; names that start or end cuts are
        whole."""
        spans = self(text).spans
        start = min([start, *(left for left, right, _ in spans if left < start < right)])
        end = max([end, *(right for left, right, _ in spans if left < end < right)])
        pieces = []
        for left, right, placeholder in spans:
            if start <= left and right <= end:
                pieces += [text[start:left], placeholder]
                start = right
        return "".join((*pieces, text[start:end]))


def _forms(name: str, type_: str) -> Sequence[str]:
    """Return the name as it is, in capitals, and for a kind of thing ("Red clover") with a small first letter."""
    forms = [name, name.upper()]
    if type_.casefold() not in _ALWAYS_CAPITAL and name[1:] == name[1:].lower():
        forms.append(name[:1].lower() + name[1:])
    return forms


def _pattern(form: str) -> re.Pattern[str]:
    words = r"\s+".join(map(re.escape, form.split()))
    is_open = re.search(r"[\w]$", form) and not re.search(rf"[{_EASTERN}]$", form)
    return re.compile(words + (r"(?!\w)" if is_open else ""))


def reverted(text: str, dictionary: Dictionary) -> Reverted:
    """Put the shown name in the place of each placeholder, also where a model wrote it another way (person_12,
    [PERSON#12], PERSON 12)."""
    name_of = {entry.placeholder: entry.names[0] for entry in dictionary.entries}
    labels = {placeholder.rsplit("_", 1)[0] for placeholder in name_of}
    known: list[str] = []
    unknown: list[str] = []

    def name(match: re.Match[str]) -> str:
        label = (match[1] or match[2]).upper()
        placeholder = f"{label}_{int(match[3])}"
        if label not in labels:
            return match[0]
        if placeholder not in name_of:
            unknown.append(placeholder)
            return match[0]
        known.append(placeholder)
        return name_of[placeholder]

    return Reverted(_PLACEHOLDER.sub(name, text), tuple(known), tuple(unknown))


_ENDING = {"markdown": "md"}
_WORD = re.compile(r"[^\W\d_]+")


@dataclass(frozen=True)
class AnonymousDocument:
    """A document's text under a name that says nothing. original: the name that it had."""

    name: str
    original: str
    text: str


@dataclass(frozen=True)
class Anonymous:
    """replaced: names that were replaced, each time counted. left_words: capitalised words of replaced names that the
    documents still hold somewhere, such as a surname that is no name of its own."""

    dictionary: Dictionary
    documents: tuple[AnonymousDocument, ...]
    questions: tuple[GoldQuestion, ...]
    replaced: int
    left_words: tuple[str, ...]


def anonymised(index: Index, questions: Sequence[GoldQuestion] = (), types: Collection[str] = ()) -> Anonymous:
    """Replace the names in the index's documents and in the questions by placeholders. types: see dictionary_of()."""
    dictionary = dictionary_of(index, types)
    replace_names = Anonymiser(dictionary)
    originals = [index.document(row) for row in range(index.documents.num_rows)]
    replaced_texts = [replace_names(document.text) for document in originals]
    digits = len(str(len(originals)))
    documents = tuple(
        AnonymousDocument(
            f"document-{number:0{digits}d}.{_ENDING.get(document.media_type, 'txt')}", document.name, each.text
        )
        for number, (document, each) in enumerate(zip(originals, replaced_texts, strict=True), 1)
    )
    texts = {document.name: document.text for document in originals}
    names = {document.original: document.name for document in documents}
    return Anonymous(
        dictionary,
        documents,
        tuple(_question(question, replace_names, texts, names) for question in questions),
        sum(len(each.spans) for each in replaced_texts),
        _left_words(dictionary, documents),
    )


def _question(
    question: GoldQuestion, replace_names: Anonymiser, texts: dict[str, str], names: dict[str, str]
) -> GoldQuestion:
    return replace(
        question,
        question=replace_names(question.question).text,
        answer=replace_names(question.answer).text,
        answers=tuple(replace_names(answer).text for answer in question.answers),
        entities=tuple(_entity(names_of_entity, replace_names) for names_of_entity in question.entities),
        evidence=tuple(
            Evidence(names.get(each.document, each.document), _quote(each, replace_names, texts))
            for each in question.evidence
        ),
    )


def _entity(names: tuple[str, ...], replace_names: Anonymiser) -> tuple[str, ...]:
    """Return the normalised names of an entity of the gold answer, each as its placeholder where it has one."""
    known = replace_names.normalised_names
    return tuple(dict.fromkeys(known.get(name, name) for name in names))


def _quote(evidence: Evidence, replace_names: Anonymiser, texts: dict[str, str]) -> str:
    """Return the quote as the anonymous document has it."""
    text = texts.get(evidence.document, "")
    start = text.find(evidence.quote)
    if start < 0:
        return replace_names(evidence.quote).text
    return replace_names.of_quote(text, start, start + len(evidence.quote))


def _left_words(dictionary: Dictionary, documents: Sequence[AnonymousDocument]) -> tuple[str, ...]:
    words = {word for entry in dictionary.entries for name in entry.names for word in _WORD.findall(name)}
    present = {word for document in documents for word in _WORD.findall(document.text)}
    return tuple(sorted(word for word in words & present if word.istitle() and len(word) > 2))


DOCUMENTS, QUESTIONS, DICTIONARY = "documents", "questions.jsonl", "dictionary.json"
_ID_KEYS = ("id", "question", "query")


def write_anonymous(corpus: Anonymous, folder: Path) -> None:
    """Write the anonymous corpus into a folder that is new or empty. Raises InvalidConfig for another one,
    StorageFailed."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InvalidConfig("anonymity.folder_in_use", folder=str(folder))
    with writing(message("what.anonymous", folder=str(folder))):
        (folder / DOCUMENTS).mkdir(parents=True, exist_ok=True)
        for document in corpus.documents:
            (folder / DOCUMENTS / document.name).write_text(document.text, encoding="utf-8", newline="")
        if corpus.questions:
            (folder / QUESTIONS).write_bytes(to_jsonl(corpus.questions))
        (folder / DICTIONARY).write_bytes(to_json(corpus.dictionary, indent=1))


def read_dictionary(path: Path) -> Dictionary:
    """Read the dictionary from that file. Raises InvalidConfig where there is none, RecordDamaged."""
    return from_json(Dictionary, _content(path), name=path.name)


def read_given_answers(path: Path) -> tuple[tuple[str, str], ...]:
    """Return the id (or words) of the question and the answer, of each line of a JSONL file. Raises InvalidConfig,
    naming the line."""
    answers = []
    for place, line in enumerate(_content(path).decode("utf-8", "replace").split("\n"), 1):
        if not line.strip():
            continue
        try:
            cells = json.loads(line)
            answers.append((str(next(cells[key] for key in _ID_KEYS if key in cells)), str(cells["answer"])))
        except (ValueError, TypeError, KeyError, StopIteration, RecursionError) as error:
            raise InvalidConfig("judge_file.bad_answer", file=path.name, line=place) from error
    return tuple(answers)


def _content(path: Path) -> bytes:
    if not path.is_file():
        raise InvalidConfig("command.no_source", path=str(path))
    return path.read_bytes()


@dataclass(frozen=True)
class RevertedAnswer:
    """An answer with its names. unknown: placeholders that stand for nothing; remembered: names of the dictionary that
    the answer held before, which the model can only have from memory. grade: one of GRADES by match, None without gold.
    """

    question: str
    text: str
    known: tuple[str, ...]
    unknown: tuple[str, ...]
    remembered: tuple[str, ...]
    grade: str | None


@dataclass(frozen=True)
class ReversionScore:
    """reverted: share of placeholders that stand for an entity, None without any. remembering: share of answers that
    hold a name that the documents did not show. shares: of the graded answers, each of GRADES; empty without gold."""

    answers: tuple[RevertedAnswer, ...]
    reverted: float | None
    remembering: float | None
    shares: Mapping[str, float]


def reversion(
    answers: Sequence[tuple[str, str]], dictionary: Dictionary, questions: Sequence[GoldQuestion] = ()
) -> ReversionScore:
    """Put the names back into the answers, and score them. answers: id of the question, and the answer. questions:
    with names and gold answers."""
    gold = {question.id: question for question in questions}
    find_names = Anonymiser(dictionary)
    scored = [_answer(id_, text, dictionary, find_names, gold.get(id_)) for id_, text in answers]
    known, unknown = (sum(len(getattr(each, name)) for each in scored) for name in ("known", "unknown"))
    graded = [each.grade for each in scored if each.grade is not None]
    return ReversionScore(
        tuple(scored),
        known / (known + unknown) if known + unknown else None,
        sum(bool(each.remembered) for each in scored) / len(scored) if scored else None,
        {name: graded.count(name) / len(graded) for name in GRADES} if graded else {},
    )


def _answer(
    id_: str, text: str, dictionary: Dictionary, find_names: Anonymiser, question: GoldQuestion | None
) -> RevertedAnswer:
    names = reverted(text, dictionary)
    remembered = tuple(dict.fromkeys(text[start:end] for start, end, _ in find_names(text).spans))
    answer_grade = grade(question, names.text) if question else None
    return RevertedAnswer(id_, names.text, names.known, names.unknown, remembered, answer_grade)
