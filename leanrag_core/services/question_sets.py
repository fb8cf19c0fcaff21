"""Question sets of the store, and those that come with the sample corpora."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import PurePath

from leanrag_core.bounded_cache import BoundedCache
from leanrag_core.errors import InvalidConfig
from leanrag_core.evaluation.gold import GoldQuestion
from leanrag_core.evaluation.question_sets.reading import read_set, to_jsonl
from leanrag_core.services.samples import Samples
from leanrag_core.storage.question_sets import MAX_TITLE, QuestionSetStore
from leanrag_core.types.question_set import SHIPPED, UPLOADED, WRITTEN, QuestionSetInfo


def card_of(
    questions: Sequence[GoldQuestion],
    title: str,
    *,
    id_: str = "",
    corpus_id: str = "",
    origin: str,
    about: Mapping[str, str | int] | None = None,
) -> QuestionSetInfo:
    """What lists say of the set."""
    return QuestionSetInfo(
        id=id_,
        title=title,
        n=len(questions),
        kinds=dict(sorted(Counter(question.kind for question in questions).items())),
        n_evidence=sum(bool(question.evidence) for question in questions),
        n_answers=sum(bool(question.answers or question.answer) for question in questions),
        corpus_id=corpus_id,
        origin=origin,
        about=about or {},
    )


_KEPT = 4  # sets of the store that stay read


class QuestionSets:
    """Finds, stores and deletes question sets. Those that were read last are kept: a page asks at every click."""

    def __init__(self, store: QuestionSetStore, samples: Samples) -> None:
        self._store, self._samples = store, samples
        self._read: BoundedCache[str, tuple[GoldQuestion, ...]] = BoundedCache(_KEPT)  # an id names a content

    def all(self) -> tuple[QuestionSetInfo, ...]:
        """The shipped sets, then those of the store by title."""
        shipped = (self._shipped(corpus_id) for corpus_id in self._samples.ids())
        return (*(card for card in shipped if card.n), *self._store.all())

    def card(self, id_: str) -> QuestionSetInfo:
        """The set's card. Raises QuestionSetNotFound."""
        return self._shipped(id_) if id_ in self._samples.ids() else self._store.card(id_)

    def questions(self, id_: str) -> tuple[GoldQuestion, ...]:
        """The set's questions. Raises QuestionSetNotFound, InvalidConfig for a file that was changed."""
        if id_ in self._samples.ids():
            return self._samples.questions(id_)
        title = self._store.card(id_).title
        return self._read.get_or_make(id_, lambda: read_set(self._store.content(id_), f"{title}.jsonl"))

    def content(self, id_: str) -> bytes:
        """The set as a JSONL file. Raises as questions() does."""
        return to_jsonl(self.questions(id_)) if id_ in self._samples.ids() else self._store.content(id_)

    def add(
        self,
        title: str,
        questions: Sequence[GoldQuestion],
        *,
        corpus_id: str = "",
        origin: str = WRITTEN,
        about: Mapping[str, str | int] | None = None,
    ) -> str:
        """Stores the set; returns its id. Raises InvalidConfig for what a file of questions could not hold."""
        content = to_jsonl(questions)
        read_set(content, f"{title}.jsonl")
        return self._store.add(content, card_of(questions, title, corpus_id=corpus_id, origin=origin, about=about))

    def add_file(self, name: str, content: bytes, *, title: str, corpus_id: str) -> str:
        """Stores an uploaded JSONL, JSON or CSV file; see read_set(). title: the file's name by default."""
        questions = read_set(content, name)
        return self.add(title or PurePath(name).stem[:MAX_TITLE], questions, corpus_id=corpus_id, origin=UPLOADED)

    def delete(self, id_: str) -> None:
        """The set is gone. Raises QuestionSetNotFound, InvalidConfig for a shipped one."""
        if id_ in self._samples.ids():
            raise InvalidConfig("question_set.shipped_stays")
        self._store.delete(id_)

    def _shipped(self, corpus_id: str) -> QuestionSetInfo:
        questions, title = self._samples.questions(corpus_id), self._samples.title(corpus_id)
        return card_of(questions, title, id_=corpus_id, corpus_id=corpus_id, origin=SHIPPED)
