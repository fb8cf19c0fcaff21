"""A corpus and its questions without names."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from leanrag_core.evaluation.anonymity.dictionary import Dictionary, dictionary_of
from leanrag_core.evaluation.anonymity.replacing import Anonymiser
from leanrag_core.evaluation.gold import Evidence, GoldQuestion
from leanrag_core.types.index import Index

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
    made = [replace_names(document.text) for document in originals]
    digits = len(str(len(originals)))
    documents = tuple(
        AnonymousDocument(
            f"document-{number:0{digits}d}.{_ENDING.get(document.media_type, 'txt')}", document.name, each.text
        )
        for number, (document, each) in enumerate(zip(originals, made, strict=True), 1)
    )
    texts = {document.name: document.text for document in originals}
    names = {document.original: document.name for document in documents}
    return Anonymous(
        dictionary,
        documents,
        tuple(_question(question, replace_names, texts, names) for question in questions),
        sum(len(each.spans) for each in made),
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
