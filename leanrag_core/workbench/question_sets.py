"""Question sets: those of the store, those that come with the sample corpora, and those made from an index."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import PurePath

from leanrag_core.errors import CorpusDamaged, CorpusNotFound, InvalidConfig
from leanrag_core.evaluation.gold import GoldQuestion
from leanrag_core.evaluation.question_sets.from_index import questions_from_index
from leanrag_core.evaluation.question_sets.from_model import Generated, corpus_description, questions_from_model
from leanrag_core.evaluation.question_sets.reading import read_set, to_jsonl
from leanrag_core.messages.catalog import sentence
from leanrag_core.messages.message import Message, message
from leanrag_core.storage.question_sets import MAX_TITLE, QuestionSetStore
from leanrag_core.system.threads import BoundedCache
from leanrag_core.types.calls import Budget
from leanrag_core.types.config import BUILTIN, model_title
from leanrag_core.types.index import Index
from leanrag_core.types.job import Report, silent
from leanrag_core.types.question_set import GENERATED, SHIPPED, UPLOADED, WRITTEN, Generation, QuestionSetInfo
from leanrag_core.workbench.corpora import Corpora
from leanrag_core.workbench.models import ModelAccess

_KEPT = 4  # sets of the store that stay read


def card_of(
    questions: Sequence[GoldQuestion],
    title: str,
    *,
    id_: str = "",
    corpus_id: str = "",
    origin: str,
    about: Mapping[str, str | int] | None = None,
) -> QuestionSetInfo:
    """Return what lists say of the set."""
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


def generated_title(index_name: str, how: Generation) -> Message:
    """Return the title of a set that is made from that index."""
    if how.model == BUILTIN:
        return message("generate.title_templates", index=index_name)
    return message("generate.title", index=index_name, model=model_title(how.model))


class QuestionSets:
    """Finds, makes, stores and deletes question sets. The last ones read are kept: a page asks at every click."""

    def __init__(self, store: QuestionSetStore, corpora: Corpora, models: ModelAccess) -> None:
        self._store, self._corpora, self._samples, self._models = store, corpora, corpora.samples, models
        self._read: BoundedCache[str, tuple[GoldQuestion, ...]] = BoundedCache(_KEPT)  # an id names a content

    def all(self) -> tuple[QuestionSetInfo, ...]:
        """Return the shipped sets, then those of the store by title."""
        shipped = (self._shipped(corpus_id) for corpus_id in self._samples.ids())
        return (*(card for card in shipped if card.n), *self._store.all())

    def card(self, id_: str) -> QuestionSetInfo:
        """Return the set's card. Raises QuestionSetNotFound."""
        return self._shipped(id_) if id_ in self._samples.ids() else self._store.card(id_)

    def questions(self, id_: str) -> tuple[GoldQuestion, ...]:
        """Return the set's questions. Raises QuestionSetNotFound, InvalidConfig for a file that was changed."""
        if id_ in self._samples.ids():
            return self._samples.questions(id_)
        title = self._store.card(id_).title
        return self._read.get_or_make(id_, lambda: read_set(self._store.content(id_), f"{title}.jsonl"))

    def content(self, id_: str) -> bytes:
        """Return the set as a JSONL file. Raises as questions() does."""
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
        """Store the set; return its id, which is the same for the same set. Raises InvalidConfig for what a file of
        questions could not hold."""
        content = to_jsonl(questions)
        read_set(content, f"{title}.jsonl")
        return self._store.add(content, card_of(questions, title, corpus_id=corpus_id, origin=origin, about=about))

    def add_file(self, name: str, content: bytes, *, title: str = "", corpus_id: str = "") -> str:
        """Store an uploaded JSONL, JSON or CSV file as a question set; return its id. title: the file's name by
        default. Raises InvalidConfig, naming the line and what to do, StorageFailed."""
        questions = read_set(content, name)
        return self.add(title or PurePath(name).stem[:MAX_TITLE], questions, corpus_id=corpus_id, origin=UPLOADED)

    def delete(self, id_: str) -> None:
        """Delete the set; experiments that used it keep their results. Raises QuestionSetNotFound, InvalidConfig for a
        shipped one."""
        if id_ in self._samples.ids():
            raise InvalidConfig("question_set.shipped_stays")
        self._store.delete(id_)

    def best_about(self, corpus_id: str) -> str:
        """Return the id of the question set of the corpus with the most gold evidence, of a generated one only where no
        other has any; "" without a set. Generated questions say nothing of what the index has missed."""
        sets = [each for each in self.all() if corpus_id and each.corpus_id == corpus_id]

        def worth(card: QuestionSetInfo) -> tuple[bool, int, int, str]:
            return (card.origin != GENERATED and card.n_evidence > 0, card.n_evidence, card.n, card.id)

        return max(sets, key=worth).id if sets else ""

    def about(self, corpus_id: str) -> tuple[GoldQuestion, ...]:
        """Return the questions of best_about(); none without a set."""
        set_id = self.best_about(corpus_id)
        return self.questions(set_id) if set_id else ()

    def with_evidence(self, corpus_id: str) -> tuple[GoldQuestion, ...]:
        """Return all questions about the corpus that have gold evidence."""
        set_ids = [card.id for card in self.all() if corpus_id and card.corpus_id == corpus_id]
        questions = [question for set_id in set_ids for question in self.questions(set_id)]
        return tuple(question for question in questions if question.evidence)

    def generate(self, index: Index, how: Generation, *, title: str = "") -> str:
        """Store questions made from an index of the store; return the set's id. Raises as generated() does."""
        generated = self.generated(index, how)
        about: dict[str, str | int] = {"index": index.folder_name, "model": how.model, "lost": generated.n_lost}
        if how.model == BUILTIN:
            about |= {"seed": how.seed, "n": how.n}
        else:
            about |= {"users": how.users, "tasks": how.tasks, "questions": how.questions}
        return self.add(
            title or sentence(generated_title(index.manifest.name, how)),
            generated.questions,
            corpus_id=index.manifest.corpus.id,
            origin=GENERATED,
            about=about,
        )

    def generated(
        self, index: Index, how: Generation, *, budget: Budget | None = None, report: Report = silent
    ) -> Generated:
        """Make questions from an index.

        Without a language model: by templates over entities and relations, with gold answers and evidence. With one:
        about the whole corpus, without gold. Raises InvalidConfig, also where the graph gives no question,
        EndpointError, ReplyError, BudgetSpent.
        """
        models = self._models.make(budget=budget)
        language = models.language(how.model)
        if language is None:
            generated = Generated(questions_from_index(index, n=how.n, kinds=how.kinds, seed=how.seed), 0)
        else:
            corpus = corpus_description(index, self._card_text(index.manifest.corpus.id))
            generated = questions_from_model(corpus, language, models.meter, how, report)
        if not generated.questions:
            raise InvalidConfig("generate.nothing", index=index.manifest.name)
        return generated

    def _card_text(self, corpus_id: str) -> str:
        """Return name and description of the corpus; "" where it is gone."""
        try:
            card = self._corpora.summary(corpus_id)
        except (CorpusNotFound, CorpusDamaged):
            return ""
        return f"{card.name}. {card.description}"

    def _shipped(self, corpus_id: str) -> QuestionSetInfo:
        questions, title = self._samples.questions(corpus_id), self._samples.title(corpus_id)
        return card_of(questions, title, id_=corpus_id, corpus_id=corpus_id, origin=SHIPPED)
