"""Question sets, and how the layers of an index hang together."""

from collections.abc import Sequence

from leanrag_core.errors import CorpusDamaged, CorpusNotFound, InvalidConfig
from leanrag_core.evaluation.connectivity import LayerConnectivity, connectivity
from leanrag_core.evaluation.gold import GoldQuestion
from leanrag_core.evaluation.question_sets.from_index import questions_from_index
from leanrag_core.evaluation.question_sets.from_model import Generated, corpus_description, questions_from_model
from leanrag_core.evaluation.question_sets.reading import read_set
from leanrag_core.facade.indexes import Indexes
from leanrag_core.facade.taking_index import takes_index
from leanrag_core.messages.catalog import sentence
from leanrag_core.messages.message import message
from leanrag_core.types.index import Index
from leanrag_core.types.model_names import BUILTIN
from leanrag_core.types.progress import Report, silent
from leanrag_core.types.question_set import GENERATED, Generation, QuestionSetInfo
from leanrag_core.types.spending import Budget


class Evaluating(Indexes):
    """Question sets, connectivity. See Workbench."""

    def question_sets(self) -> tuple[QuestionSetInfo, ...]:
        """All question sets, those of the sample corpora first."""
        return self._question_sets.all()

    def question_set_info(self, set_id: str) -> QuestionSetInfo:
        """The set's card. Raises QuestionSetNotFound."""
        return self._question_sets.card(set_id)

    def question_set(self, set_id: str) -> tuple[GoldQuestion, ...]:
        """The questions of the set. Raises QuestionSetNotFound."""
        return self._question_sets.questions(set_id)

    def question_set_file(self, set_id: str) -> bytes:
        """The set as a JSONL file to keep or to send. Raises QuestionSetNotFound."""
        return self._question_sets.content(set_id)

    def read_question_file(self, name: str, content: bytes) -> tuple[GoldQuestion, ...]:
        """The questions of an uploaded JSONL, JSON or CSV file, which is not stored. Raises InvalidConfig."""
        return read_set(content, name)

    def add_question_file(self, name: str, content: bytes, *, title: str = "", corpus_id: str = "") -> str:
        """Stores an uploaded file as a question set; returns its id. title: the file's name by default.

        Raises InvalidConfig, naming the line and what to do, StorageFailed.
        """
        return self._question_sets.add_file(name, content, title=title, corpus_id=corpus_id)

    def add_question_set(self, title: str, questions: Sequence[GoldQuestion], *, corpus_id: str = "") -> str:
        """Stores questions that a person wrote; returns the set's id, which is the same for the same set.

        Raises InvalidConfig, StorageFailed.
        """
        return self._question_sets.add(title, questions, corpus_id=corpus_id)

    def generate_questions(
        self,
        index_id: str,
        generation: Generation | None = None,
        *,
        title: str = "",
        budget: Budget | None = None,
        report: Report = silent,
    ) -> str:
        """Stores questions made from an index of the store; returns the set's id. Raises as generated_questions()."""
        how, index = generation or Generation(), self.open(index_id)
        generated = self.generated_questions(index, how, budget=budget, report=report)
        about: dict[str, str | int] = {"index": index_id, "model": how.model, "lost": generated.n_lost}
        if how.model == BUILTIN:
            about |= {"seed": how.seed, "n": how.n}
        else:
            about |= {"users": how.users, "tasks": how.tasks, "questions": how.questions}
        return self._question_sets.add(
            title or sentence(message("generate.title", index=index.manifest.name, model=how.model)),
            generated.questions,
            corpus_id=index.manifest.corpus.id,
            origin=GENERATED,
            about=about,
        )

    @takes_index
    def generated_questions(
        self,
        index: Index,
        generation: Generation | None = None,
        *,
        budget: Budget | None = None,
        report: Report = silent,
    ) -> Generated:
        """Questions made from an index.

        Without a language model: by templates over entities and relations, with gold answers and evidence. With one:
        about the whole corpus, without gold. Raises InvalidConfig, also where the graph gives no question,
        EndpointError, ReplyError, BudgetSpent.
        """
        how = generation or Generation()
        models = self.models(budget=budget)
        language = models.language(how.model)
        if language is None:
            generated = Generated(questions_from_index(index, n=how.n, kinds=how.kinds, seed=how.seed), 0)
        else:
            corpus = corpus_description(index, self._card_text(index.manifest.corpus.id))
            generated = questions_from_model(corpus, language, models.meter, how, report)
        if not generated.questions:
            raise InvalidConfig("generate.nothing", index=index.manifest.name)
        return generated

    @takes_index
    def connectivity(self, index: Index) -> tuple[LayerConnectivity, ...]:
        """How each layer hangs together, with and without its aggregated relations."""
        return connectivity(index)

    def _card_text(self, corpus_id: str) -> str:
        """Name and description of the corpus; "" where it is gone."""
        try:
            card = self.corpus_store.summary(corpus_id)
        except (CorpusNotFound, CorpusDamaged):
            return ""
        return f"{card.name}. {card.description}"

    def delete_question_set(self, set_id: str) -> None:
        """The set is gone; experiments that used it keep their results. Raises QuestionSetNotFound, InvalidConfig for
        a set that comes with the program."""
        self._question_sets.delete(set_id)
