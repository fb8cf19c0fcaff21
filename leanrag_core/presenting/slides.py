"""The slides of a presentation in the reader's language: what the script in the browser draws, as JSON values.

A slide whose contents depend on the question has a view for each of them. A sentence is there only where what is stored
supports it (claims.py).
"""

from dataclasses import asdict, dataclass
from typing import Any

from leanrag_core.errors import InvalidConfig
from leanrag_core.figures import scripts as figures
from leanrag_core.figures.drawing import isolated
from leanrag_core.figures.html import html, html_file
from leanrag_core.messages.catalog import ENGLISH, sentence
from leanrag_core.messages.message import Message
from leanrag_core.presenting import claims, pages_of_index, pages_of_question
from leanrag_core.presenting.claims import NO_CLAIM, Claim, Page
from leanrag_core.presenting.story import (
    ANSWER,
    BRIDGES,
    COMPARE,
    COST,
    DOCUMENTS,
    GRAPH,
    HIERARCHY,
    ISLANDS,
    QUESTIONS,
    STEPS,
    Presentation,
)
from leanrag_core.system.environment import PROGRAM
from leanrag_core.types.visible import visible_values

# Words of the script, by the name that it knows them by.
_WORDS = (
    "next", "previous", "notes", "close", "fullscreen", "of", "slide", "deck", "legend_seed", "legend_path",
    "legend_joined", "legend_lca", "legend_bridge", "legend_island", "legend_summarised", "legend_listed",
    "legend_entity", "legend_relation", "legend_base", "legend_chunk", "play", "pause", "tokens_for_answer", "steps_of",
    "layer",
)  # fmt: skip


@dataclass(frozen=True)
class View:
    """A slide as it is for a question, or for all. claim: its bold first sentence and the rest. picture: JSON values of
    the kind of slide. foot: where figures come from."""

    title: str
    strong: str
    rest: str
    foot: str
    picture: Any


@dataclass(frozen=True)
class Slide:
    """kind: of story.SLIDES. views: one, or one for each question. talk: what a speaker may say; notes: their own."""

    kind: str
    views: tuple[View, ...]
    talk: str
    notes: str


@dataclass(frozen=True)
class Deck:
    """All that the script draws. facts: beside the title. language, words: of the reader."""

    title: str
    facts: str
    language: str
    words: dict[str, str]
    questions: tuple[str, ...]
    slides: tuple[Slide, ...]


def deck_of(presentation: Presentation, language: str = ENGLISH) -> Deck:
    """Return the slides. A slide is left out where the presentation has nothing for it."""

    def say(message: Message) -> str:
        return sentence(message, language)

    def view(page: Page) -> View:
        return View(say(page.title), *_claim(page.claim, say), "  ".join(map(say, page.foot)), page.picture)

    stored, words = presentation, pages_of_question.Words(language)
    slides: list[tuple[str, list[Page]]] = [(DOCUMENTS, [pages_of_index.documents(stored)])]
    if stored.graph is not None:
        slides.append((GRAPH, [pages_of_index.graph(stored)]))
    if stored.islands is not None:
        slides.append((ISLANDS, [pages_of_index.islands(stored.islands)]))
        slides.append((BRIDGES, [pages_of_index.bridges(stored.islands)]))
    slides.append((HIERARCHY, [pages_of_index.hierarchy(stored)]))
    slides.append((STEPS, [pages_of_question.steps(question, words) for question in stored.questions]))
    slides.append((ANSWER, [pages_of_question.answer(question, words) for question in stored.questions]))
    for beside in range(1, len(stored.questions[0].sides)):
        pages = [pages_of_question.compare(stored, question, beside, words) for question in stored.questions]
        slides.append((COMPARE, pages))
    if len(stored.questions) > 1:
        slides.append((QUESTIONS, [pages_of_question.several(stored, words)]))
    slides.append((COST, [pages_of_index.cost(stored, words)]))
    documents = sentence(Message("count.documents", {"n": stored.documents.n}), language)
    return Deck(
        title=stored.title,
        facts=f"{isolated(stored.index.name)}, {documents}",
        language=language,
        words={name: say(Message(f"present.word.{name}", {})) for name in _WORDS},
        questions=tuple(question.question for question in stored.questions),
        slides=tuple(
            Slide(
                kind, tuple(map(view, pages)), " ".join(map(say, claims.talk(kind, stored))), stored.notes.get(kind, "")
            )
            for kind, pages in slides
        ),
    )


def _claim(claim: Claim | None, say: Any) -> tuple[str, str]:
    claim = claim or NO_CLAIM
    strong = say(claim.strong) if claim.strong else ""
    return strong, " ".join(say(part) for part in claim.rest)


def values_of_deck(deck: Deck) -> dict[str, Any]:
    """Return the deck as JSON values, characters that are not seen made visible."""
    values: dict[str, Any] = visible_values(asdict(deck))
    return values


MAX_BYTES = 5_000_000
_PAGES = PROGRAM / "pages"
_SCRIPTS = (
    "present/slides_index.js",
    "present/slides_question.js",
    "present/deck.js",
)
_STYLES = ("present/deck.css",)


def scripts() -> str:
    """Return the functions and the class DeckView, for a script that follows."""
    return f"{figures.scripts(('layers',))}\n{_joined(_SCRIPTS)}"


def styles() -> str:
    """Return the style sheet; colours are the --lr-* properties of the palette."""
    return f"{figures.styles(('layers',))}\n{_joined(_STYLES)}"


def _joined(names: tuple[str, ...]) -> str:
    return "\n".join((_PAGES / name).read_text(encoding="utf-8") for name in names)


def as_html(presentation: Presentation, language: str = "en") -> bytes:
    """Return the content of the file. Raises InvalidConfig where it would have more than MAX_BYTES."""
    deck = deck_of(presentation, language)
    content = html_file(
        html('<div class="lrp"></div>'),
        title=deck.title,
        language=deck.language,
        styles=f"body{{margin:0}}{styles()}",
        script=f'{scripts()}\nnew DeckView(document.querySelector(".lrp"),values);',
        values=values_of_deck(deck),
    ).encode()
    if len(content) > MAX_BYTES:
        raise InvalidConfig("present.file_too_large", n=len(content), limit=MAX_BYTES)
    return content
