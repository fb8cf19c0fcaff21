"""The items of the palette: places in the app, each a page with the values of a link, and actions."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from leanrag_core.errors import LeanRAGError
from leanrag_core.messages.catalog import sentence
from leanrag_core.messages.message import Message
from leanrag_core.queries.entity_search import matches_by_words
from leanrag_core.retrieval.base import strategies as all_strategies
from leanrag_core.types.config import SETTINGS, IndexConfig
from leanrag_core.types.settings import LANGUAGES, Settings
from leanrag_core.types.summary import IndexSummary
from leanrag_core.types.visible import visible
from pages.common import forms, reveal, session, state
from pages.common.frame import PAGES
from pages.common.messages import say, words

PAGE, INDEX, ENTITY, QUESTION, SETTING, ACTION = KINDS = ("page", "index", "entity", "question", "setting", "action")
TOUR, LANGUAGE, THEME, ASK, COMPARE = "tour", "language", "theme", "ask", "compare"
THEMES = ("System", "Light", "Dark")  # the names of Streamlit's front end
_ENTITIES, _HISTORY = 12, 60


@dataclass(frozen=True)
class Item:
    """A row of the palette. page: where it leads, "" for the current page. values: the values of its link, by name; an
    empty one forgets what is remembered. also: further search words besides title and detail. does: an action that no
    link can hold. whole: the page forgets everything that the values do not hold."""

    kind: str
    title: str
    page: str = ""
    values: Mapping[str, str] = field(default_factory=dict)
    detail: str = ""
    also: str = ""
    does: str = ""
    whole: bool = False

    def sent(self) -> dict[str, Any]:
        """Return the item for the browser, without empty values, and with invisible characters of its texts made
        visible."""
        values = {spec.name: value for spec in fields(self) if (value := getattr(self, spec.name))}
        return {**values, "title": visible(self.title), "detail": visible(self.detail)}


def fixed() -> Iterator[Item]:
    """Yield the items of every page, whatever is stored: pages and actions."""
    for name, _ in PAGES:
        yield Item(PAGE, say(f"page.{name}"), name)
    yield Item(ACTION, say("palette.tour"), "library", does=TOUR)
    yield Item(ACTION, say("palette.rate_limits"), "settings", {reveal.PLACE: "requests_per_minute"})
    for code in LANGUAGES:
        title = sentence(Message("settings.language_name"), code)
        yield Item(ACTION, title, detail=forms.title_of("language"), does=f"{LANGUAGE}:{code}")
    for theme in THEMES:
        yield Item(ACTION, say(f"palette.theme.{theme.lower()}"), does=f"{THEME}:{theme}")
    # {text}: the search text, which the browser fills in.
    yield Item(ACTION, say("palette.ask", text="{text}"), "ask", {"q": "{text}"}, does=ASK)
    yield Item(ACTION, say("palette.compare", text="{text}"), "compare", {"q": "{text}"}, does=COMPARE)


def of_home() -> Iterator[Item]:
    """Yield questions, settings, indexes, and actions with indexes, strategies and corpora."""
    indexes = {summary.id: summary for summary in session.index_list().indexes}
    chosen = indexes.get(state.recall("index"))
    yield from _questions(chosen)
    yield from settings()
    for summary in indexes.values():
        facts = say("count.documents", n=summary.documents)
        if summary is not chosen:
            yield Item(INDEX, summary.title, values={"index": summary.id}, detail=say("palette.switch", facts=facts))
            title = say("palette.compare_index", index=summary.title)
            yield Item(ACTION, title, "compare", {"cols": "ab", "b_index": summary.id})
        else:
            yield Item(INDEX, summary.title, "explore", detail=say("palette.chosen", facts=facts))
    for info in all_strategies().strategies:
        title = say("palette.compare_with", strategy=words(info.title))
        yield Item(ACTION, title, "compare", {"cols": "ab", "b_strategy": info.name})
    for corpus in session.workbench().corpora.summaries():
        yield Item(ACTION, say("palette.build", corpus=corpus.name), "build", {"corpus": corpus.id})


def settings() -> Iterator[Item]:
    """Yield the declared settings of the workbench and of builds."""
    for config, names, page, prefix in (
        (Settings, [spec.name for spec in fields(Settings)], "settings", ""),
        (IndexConfig, SETTINGS, "build", "b_"),
    ):
        specs = forms.option_fields(config)
        for name in names:
            title = forms.title_of(name, config)
            page_title, also = say(f"page.{page}"), forms.hint(specs[name])
            yield Item(SETTING, title, page, {reveal.PLACE: f"{prefix}{name}"}, page_title, also)


def _questions(chosen: IndexSummary | None) -> Iterator[Item]:
    """Yield asked questions with their settings, then the sample questions of the chosen index."""
    asked_texts = set()
    for entry in session.workbench().history.matching()[:_HISTORY]:
        if entry.question in asked_texts:
            continue
        asked_texts.add(entry.question)
        values = {**entry.link, "q": entry.question, "index": entry.index}
        values |= {"after": entry.follows, "wrote": entry.written}
        yield Item(QUESTION, entry.question, "ask", values, say("palette.asked", index=entry.index_name), whole=True)
    if chosen is None:
        return
    samples = session.workbench().corpora.samples
    offered = samples.examples(chosen.corpus_id)
    first = [] if offered is None else [example.id for example in offered.examples]
    questions = sorted(samples.questions(chosen.corpus_id), key=lambda question: question.id not in first)
    for question in questions:
        if question.question not in asked_texts:
            yield Item(QUESTION, question.question, "ask", {"q": question.question}, say("palette.example"), does=ASK)


def entities(text: str) -> Iterator[Item]:
    """Yield entities of the chosen index whose names contain the words of the text."""
    wanted = state.recall("index")
    summary = next((summary for summary in session.index_list().indexes if summary.id == wanted), None)
    if summary is None or not text.strip():
        return
    try:
        with session.reading(summary) as index:
            rows = matches_by_words(index, text, limit=_ENTITIES)
    except LeanRAGError:  # the page reports the damaged index
        return
    for row in rows:
        detail = say("explore.block.entities", n=row.below) if row.layer else row.type
        values = {"index": summary.id, "node": row.id} | dict.fromkeys(("focus", "rel", "chunk", "find"), "")
        yield Item(ENTITY, row.name, "explore", values, f"L{row.layer} {detail}")
