"""Questions about a whole corpus by a language model: users, their tasks, and questions for each task.

Source: GraphRAG (From Local to Global), algorithm 1; K users x N tasks x M questions from a description of the corpus.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from leanrag_core.errors import InvalidConfig, ReplyError
from leanrag_core.evaluation.gold import GoldQuestion, normalised
from leanrag_core.execution.executors import ThreadMap
from leanrag_core.models.asking import ask, read_json
from leanrag_core.models.base import Completion, LanguageModel
from leanrag_core.models.pacing import Meter
from leanrag_core.models.window import fill_within
from leanrag_core.prompts.catalog import load_prompt
from leanrag_core.retrieval.base import MAX_QUESTION
from leanrag_core.types.calls import JsonSchema, object_schema
from leanrag_core.types.index import Index
from leanrag_core.types.job import Progress, Report, silent
from leanrag_core.types.question_set import WHOLE_CORPUS, Generation

MOST = 50  # of users, of tasks of each, of questions of each
_CALLS_AT_ONCE = 8  # the pace of the settings decides how many of them the endpoint gets
_TITLES = 60
_ENTITIES = 40


@dataclass(frozen=True)
class Generated:
    """questions: without gold. n_lost: replies that could not be used, after they were asked for again."""

    questions: tuple[GoldQuestion, ...]
    n_lost: int


def questions_from_model(
    corpus: str,
    language: LanguageModel,
    meter: Meter,
    generation: Generation,
    report: Report = silent,
) -> Generated:
    """Ask the model for questions that need the whole corpus; equal ones are kept once.

    corpus: its description. Raises InvalidConfig for numbers out of bounds, ReplyError where no user came back,
    BudgetSpent, and what `report` raises.
    """
    users, tasks, questions = generation.users, generation.tasks, generation.questions
    for n in (users, tasks, questions):
        if not 1 <= n <= MOST:
            raise InvalidConfig("generate.bounds", limit=MOST)
    asked = _Asking(language, meter, report, generation.n_calls)
    people = asked.lists_of("imagine_users", "users", users, [{"corpus": corpus}])[0]
    if not people:
        raise ReplyError("generate.no_users")
    tasks_of = asked.lists_of("imagine_tasks", "tasks", tasks, [{"corpus": corpus, "user": user} for user in people])
    pairs = [
        {"corpus": corpus, "user": user, "task": task}
        for user, named in zip(people, tasks_of, strict=True)
        for task in named
    ]
    texts = [text for listed in asked.lists_of("imagine_questions", "questions", questions, pairs) for text in listed]
    distinct = {normalised(text): text for text in reversed(texts) if normalised(text)}
    kept = [text for text in texts if distinct.get(normalised(text)) is text]
    return Generated(
        tuple(GoldQuestion(str(number), text, kind=WHOLE_CORPUS) for number, text in enumerate(kept, 1)), asked.n_lost
    )


def corpus_description(index: Index, card: str = "") -> str:
    """Describe the corpus by its card, titles of its documents and its best connected entities."""
    titles = index.documents["title"].to_pylist()
    step = max(1, len(titles) // _TITLES)
    base = index.layers[0]
    ranked = sorted(range(len(base)), key=lambda row: (-int(base.degrees[row]), row))[:_ENTITIES]
    names = [base.entity_cells.value("name", row) for row in ranked]
    lines = [card.strip(), f"Documents ({len(titles):,}): {'; '.join(titles[::step][:_TITLES])}"]
    return "\n".join(filter(None, [*lines, f"Much is said about: {', '.join(names)}" if names else ""]))


class _Asking:
    """Asks for lists of texts, counts what is lost, and reports how many calls are answered."""

    def __init__(self, language: LanguageModel, meter: Meter, report: Report, total: int) -> None:
        self._language, self._meter, self._report, self._total = language, meter, report, total
        self._n_answered = 0
        self.n_lost = 0

    def lists_of(self, task: str, name: str, n: int, filled: Sequence[Mapping[str, str]]) -> list[list[str]]:
        """Ask for a list for each set of values, in their order; an empty one where the reply could not be used."""
        lists = []
        for texts in ThreadMap(_CALLS_AT_ONCE)(lambda values: self._ask(task, name, n, values), filled):
            self.n_lost += texts is None
            lists.append(texts or [])
            self._n_answered += 1
            self._report(Progress("questions", self._n_answered, self._total, "calls", spent=self._meter.read()))
        return lists

    def _ask(self, task: str, name: str, n: int, values: Mapping[str, str]) -> list[str] | None:
        prompt = load_prompt(task)
        self._meter.require_budget()
        text = fill_within(self._language, prompt, keep=("n", "user", "task"), n=n, **values)
        try:
            asked = ask(
                self._language,
                [{"role": "user", "content": text}],
                _reader(name, n),
                schema=_schema(name),
                task=prompt.fingerprint,
            )
        except ReplyError as error:
            self._meter.add_fault(str(error))
            return None
        return asked.value


def _reader(name: str, n: int) -> Callable[[Completion], list[str]]:
    """Return a reader of at most n texts of a reply's list; a user's name and description become a text."""

    def read(completion: Completion) -> list[str]:
        reply = read_json(completion.text, ((name,),))
        texts = [text for text in map(_text_of, reply.list_of(name)) if text]
        if completion.cut or not texts:
            raise ReplyError("reply.broken_off")
        return list(dict.fromkeys(texts))[:n]

    return read


def _text_of(entry: Any) -> str:
    if isinstance(entry, dict):
        named = [str(entry.get(key) or "") for key in ("name", "description", "task", "question")]
        entry = ": ".join(filter(None, named))
    text = " ".join(entry.split()) if isinstance(entry, str) else ""
    return text if len(text) <= MAX_QUESTION else ""


def _schema(name: str) -> JsonSchema:
    user = object_schema({"name": {"type": "string"}, "description": {"type": "string"}})
    item: JsonSchema = user if name == "users" else {"type": "string"}
    return object_schema({name: {"type": "array", "items": item}})
