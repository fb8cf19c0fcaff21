"""The slides of a presentation in the reader's language: what the script in the browser draws, as JSON values.

A slide whose contents depend on the question has a view for each of them. A sentence is there only where what is stored
supports it (claims.py); words that a person typed over are shown where every figure in them is stored (edits.py).
"""

from dataclasses import asdict, dataclass, replace
from typing import Any

from leanrag_core.errors import InvalidConfig
from leanrag_core.figures import scripts as figures
from leanrag_core.figures.drawing import isolated
from leanrag_core.figures.html import html, html_file
from leanrag_core.figures.palette import palette
from leanrag_core.messages.catalog import ENGLISH, joined_sentences
from leanrag_core.messages.message import Message, message
from leanrag_core.presenting import claims, pages_of_index, pages_of_question
from leanrag_core.presenting.claims import NO_CLAIM, Page
from leanrag_core.presenting.edits import TEXT, Wording, numbers_beyond, ordered
from leanrag_core.presenting.pages_added import added_page
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
    AddedComparison,
    Presentation,
)
from leanrag_core.system.environment import PROGRAM
from leanrag_core.types.visible import visible_values

# Words of the script, by the name that it knows them by.
_WORDS = (
    "next", "previous", "notes", "close", "fullscreen", "of", "slide", "deck", "legend_seed", "legend_path",
    "legend_joined", "legend_lca", "legend_bridge", "legend_island", "legend_summarised", "legend_listed",
    "legend_entity", "legend_relation", "legend_base", "legend_chunk", "play", "pause", "tokens_for_answer", "steps_of",
    "layer", "print", "speaker", "speaker_blocked", "speaker_left", "next_slide", "last_slide", "elapsed", "restart",
    "answer", "sources", "own_logo",
)  # fmt: skip


@dataclass(frozen=True)
class View:
    """A slide as it is for a question, or for all. subtitle: of the speaker. claim: its bold first sentence and the
    rest. picture: JSON values of the kind of slide. foot: where figures come from. stored: the title before it was
    typed over. problem: why typed words are not shown. printed: what a printed page says of its source."""

    title: str
    strong: str
    rest: str
    foot: str
    picture: Any
    subtitle: str = ""
    stored: str = ""
    problem: str = ""
    printed: str = ""


@dataclass(frozen=True)
class Slide:
    """key: its own, which edits name. kind: of story.SLIDES, or of an added slide. views: one, or one of each
    question. talk: what a speaker may say; notes: their own."""

    key: str
    kind: str
    views: tuple[View, ...]
    talk: str
    notes: str
    is_left_out: bool = False
    is_added: bool = False


@dataclass(frozen=True)
class Deck:
    """All that the script draws. subtitle, logo: the speaker's own. facts: beside the title. language, words: of the
    reader."""

    title: str
    subtitle: str
    logo: str
    facts: str
    language: str
    words: dict[str, str]
    questions: tuple[str, ...]
    slides: tuple[Slide, ...]


def deck_of(presentation: Presentation, language: str = ENGLISH, *, whole: bool = False) -> Deck:
    """Return the slides in the order of the edits. A slide is left out where the presentation has nothing for it.
    whole: with those that the edits leave out, as the editor lists them."""
    stored, words = presentation, pages_of_question.Words(language)
    edits = stored.edits
    story_pages = _told(stored, words)
    pages_of = {key: (added_page(each, words),) for key, each in stored.added.items()} | story_pages
    slides = []
    for key in ordered(edits, tuple(story_pages), tuple(stored.added)):
        is_left_out = key in edits.left_out
        if whole or not is_left_out:
            pages, kind = pages_of.get(key, (own_words(),)), _kind(key)
            views = tuple(_view(page, place, key, stored, words) for place, page in enumerate(pages))
            talk = joined_sentences(map(words.say, claims.talk(kind, stored)))
            notes = edits.notes.get(key, stored.notes.get(kind, ""))
            slides.append(Slide(key, kind, views, talk, notes, is_left_out, key not in story_pages))
    if not slides:
        return deck_of(replace(stored, edits=replace(edits, left_out=())), language)  # a deck shows something
    return Deck(
        title=edits.title or stored.title,
        subtitle=edits.subtitle,
        logo=edits.logo,
        facts=words.say(message("ask.comma")).join(
            (isolated(stored.index.name), words.say(message("count.documents", n=stored.documents.n)))
        ),
        language=language,
        words={name: words.say(Message(f"present.word.{name}", {})) for name in _WORDS},
        questions=tuple(question.question for question in stored.questions),
        slides=tuple(slides),
    )


def _kind(key: str) -> str:
    """Return the kind of the slide of that key, which begins with it."""
    return key.partition("-")[0]


def _told(stored: Presentation, words: pages_of_question.Words) -> dict[str, tuple[Page, ...]]:
    """Return the slides of the story by their keys, in its own order, before words are typed over them: a page for each
    question, or one."""
    pages: dict[str, tuple[Page, ...]] = {DOCUMENTS: (pages_of_index.documents(stored),)}
    if stored.graph is not None:
        pages[GRAPH] = (pages_of_index.graph(stored),)
    if stored.islands is not None:
        pages[ISLANDS] = (pages_of_index.islands(stored.islands),)
        pages[BRIDGES] = (pages_of_index.bridges(stored.islands),)
    pages[HIERARCHY] = (pages_of_index.hierarchy(stored),)
    questions = stored.questions
    pages[STEPS] = tuple(pages_of_question.steps(question, words) for question in questions)
    pages[ANSWER] = tuple(pages_of_question.answer(question, words) for question in questions)
    for beside in range(1, len(questions[0].sides)):
        key = COMPARE if beside == 1 else f"{COMPARE}-{beside}"
        pages[key] = tuple(pages_of_question.compare(stored, question, beside, words) for question in questions)
    if len(questions) > 1:
        pages[QUESTIONS] = (pages_of_question.several(stored, words),)
    pages[COST] = (pages_of_index.cost(stored, words),)
    return pages


def _view(page: Page, place: int, key: str, stored: Presentation, words: pages_of_question.Words) -> View:
    title, claim = words.say(page.title), words.claim(page.claim)
    foot = joined_sentences(map(words.say, page.foot))
    typed = stored.edits.words.get(key, Wording())
    picture = page.picture
    if _kind(key) == TEXT:
        title, picture, problem = typed.title or title, {"text": typed.text, "quotation": typed.quotation}, ""
    else:
        beyond = numbers_beyond(
            f"{typed.title} {typed.subtitle}", (title, *claim.values(), foot, stored.made, *shown_texts(picture))
        )
        listed = message("present.edit.beyond", n=len(beyond), numbers=", ".join(beyond))
        problem = words.say(listed) if beyond else ""
    shown = Wording() if problem else typed
    if (shown.title or shown.subtitle) and _kind(key) != TEXT:
        foot = f"{foot}  {words.say(message('present.edit.own_words'))}".strip()
    return View(
        title=shown.title or title,
        **claim,
        foot=foot,
        picture=picture,
        subtitle=shown.subtitle,
        stored=words.say(page.title),
        problem=problem,
        printed=_printed(key, place, stored, words),
    )


def _printed(key: str, place: int, stored: Presentation, words: pages_of_question.Words) -> str:
    """Return what a printed page says of its source: system, settings, engine, day, question."""
    if _kind(key) == TEXT:
        return words.say(message("present.print.own"))
    added = stored.added.get(key)
    if added is not None and not isinstance(added, AddedComparison):
        return words.say(message("present.added.of", index=isolated(added.index), day=words.day(added.made)))
    side = added.sides[0] if added is not None else stored.questions[place].sides[0]
    date, question = (
        (added.made, added.question) if added is not None else (stored.made, stored.questions[place].question)
    )
    parts = [
        words.say(message("ask.comma")).join((words.strategy(side), words.settings(side))),
        words.say(pages_of_question.answer_kind(side)),
        words.day(date),
        question if added is not None or _kind(key) in (STEPS, ANSWER, COMPARE) else "",
    ]
    return words.say(message("text.semicolon")).join(filter(None, parts))


def own_words() -> Page:
    """Return a slide of the speaker's own words, before there are any."""
    return Page(message("present.text.title"), NO_CLAIM, {}, (message("present.text.foot"),))


# Names of values that are texts or counts which a slide shows; all others are places and looks.
_SHOWN = frozenset(
    ("title", "fact", "strong", "rest", "question", "text", "value", "label", "name", "settings", "tokens", "chunks",
     "n", "seeds", "where", "said", "rows", "statements")
)  # fmt: skip


def shown_texts(picture: Any, *, is_shown: bool = False) -> list[str]:
    """Return the texts and counts that the values of a picture show."""
    if isinstance(picture, dict):
        return [
            text
            for name, value in picture.items()
            for text in shown_texts(value, is_shown=name in _SHOWN and not isinstance(value, dict))
        ]
    if isinstance(picture, list | tuple):
        return [text for value in picture for text in shown_texts(value, is_shown=is_shown)]
    if is_shown and isinstance(picture, str | int) and not isinstance(picture, bool):
        return [str(picture)]
    return []


def values_of_deck(deck: Deck) -> dict[str, Any]:
    """Return the deck as JSON values, characters that are not seen made visible."""
    values: dict[str, Any] = visible_values(asdict(deck))
    return values


MAX_BYTES = 5_000_000
_PAGES = PROGRAM / "pages"
_SCRIPTS = (
    "present/slides_index.js",
    "present/slides_question.js",
    "present/slides_added.js",
    "present/print.js",
    "present/speaker.js",
    "present/deck.js",
)
_STYLES = ("present/deck.css", "present/deck_more.css")


def scripts() -> str:
    """Return the functions and the class DeckView, for a script that follows."""
    return f"{figures.scripts(('layers',))}\n{_joined(_SCRIPTS)}"


def styles() -> str:
    """Return the style sheet; colours are the --lr-* properties of the palette."""
    light = palette(dark=False).css_variables()
    return f"{figures.styles(('layers',))}\n.lrp-sheets{{{light}}}\n{_joined(_STYLES)}"


def asset(name: str) -> str:
    """Return the text of a script or style sheet of the pages."""
    return (_PAGES / name).read_text(encoding="utf-8")


def _joined(names: tuple[str, ...]) -> str:
    return "\n".join(map(asset, names))


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
