"""An answer with citation marks: each shows its evidence on hover and can be clicked; sentences without support are
marked, and all retrieved items stand below, cited or not."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from leanrag_core.answering.support import best_sentence, doubt, supports
from leanrag_core.figures import passages
from leanrag_core.figures.drawing import isolated
from leanrag_core.figures.palette import known_colour
from leanrag_core.messages.message import message as message_of
from leanrag_core.types.trace import Answer, ContextItem, ContextSection, Trace, TraceItem
from leanrag_core.types.visible import visible_values
from pages.ask import roles
from pages.common.component import component, report
from pages.common.messages import say, words

_SCRIPT = Path(__file__).with_name("citations.js")
_FRAME = (
    '<div class="lr-cites"><div class="lr-answer"></div><div class="lr-evidence"></div>'
    '<div class="lr-tip" role="tooltip" hidden></div></div>'
)
_MOST_ITEMS = 60  # items listed per section below the answer; the context itself has all
_QUOTED, _LISTED = 260, 120  # characters of a text shown on hover: in the answer, and in the list below it


def titles(trace: Trace) -> dict[str, str]:
    """Return in words what each citation mark of the context refers to."""
    comma = say("ask.comma")
    relations = {relation.id: comma.join(map(isolated, roles.ends(trace, relation))) for relation in trace.relations}
    shown = roles.names_of(trace) | relations
    nouns = [(section, words(section.noun or section.title)) for section in trace.context.sections]
    return {
        item.mark: noun + comma + isolated(shown.get(item.ref, item.text[:60]))
        for section, noun in nouns
        for item in section.items
    }


@dataclass(frozen=True)
class Differences:
    """What an answer says that the answers beside it do not. alone: positions of such parts, tinted in that colour of
    the palette. only_alone: omit the other parts. compared: mute the other parts, and mark both kinds by signs."""

    alone: Collection[int] = ()
    only_alone: bool = False
    compared: bool = False
    tint: str = ""


NO_DIFFERENCES = Differences()


def show(
    answer: Answer,
    *,
    open_mark: str,
    key: str,
    on_cite: Callable[[str], None],
    differences: Differences = NO_DIFFERENCES,
    all_items: bool = False,
    last_frame: dict[str, Any] | None = None,
) -> None:
    """Draw the answer; on_cite is called with a clicked mark. all_items: list the context's items below the answer,
    cited or not. last_frame: the final frame of the play beside the answer."""
    context = answer.trace.context
    evidence = _Evidence(answer.trace)
    placed = {item.mark: (item, section) for section in context.sections for item in section.items}
    section_titles = {section.name: words(section.noun or section.title) for section in context.sections}
    parts = [
        {
            "text": part.text,
            "from": section_titles.get(part.section, ""),
            "alone": place in differences.alone,
            "lacks": words(why) if (why := doubt(support)) else "",
            "marks": [
                evidence.chip(*placed[mark], part.text)
                if mark in placed
                else {"name": mark, "title": "", "colour": known_colour(""), "section": "", "quote": []}
                for mark in part.marks
            ],
        }
        for place, (part, support) in enumerate(zip(answer.parts, supports(answer), strict=True))
        if place in differences.alone or not differences.only_alone
    ]
    data = {
        "parts": parts,
        "open": open_mark,
        "list": answer.extractive,
        "last_frame": last_frame,
        "tint": differences.tint,
        "compared": differences.compared,
        "items": evidence.sections(frozenset(answer.citations)) if all_items else [],
        "labels": {
            "cited": say("cite.cited"),
            "not_cited": say("cite.not_cited"),
            "more": say("cite.more", n="{n}"),
            "open": say("cite.open"),
            "items": say("cite.items"),
        },
    }
    component(_SCRIPT, _FRAME, parts=("marks",))(
        data=visible_values(data), key=key, on_cited_change=report(key, "cited", on_cite)
    )


class _Evidence:
    """What the citation marks of a trace's context show."""

    def __init__(self, trace: Trace) -> None:
        self._trace, self._titles = trace, titles(trace)
        self._passages = {passage.id: passage for passage in trace.passages}

    def chip(self, item: ContextItem, section: ContextSection, sentence: str = "") -> dict[str, Any]:
        """Return a mark with its title, its place, and the text around what supports the sentence. Without a sentence
        the mark is meant for the list."""
        passage = self._passages.get(item.ref)
        text = passage.text if passage is not None else item.text[item.lead :]
        nearest = sentence if sentence and sentence in text else best_sentence(sentence, text) if sentence else ""
        quote = passages.around(text, nearest, longest=_QUOTED if sentence else _LISTED)
        mark = {
            "name": item.mark,
            "title": self._titles.get(item.mark, ""),
            "quote": [[piece.text, "cited" in piece.marks] for piece in quote],
        }
        if passage is not None:
            mark["place"] = _place(passage)
        # In the list below the answer the section states these once for all of its marks.
        return {**mark, "colour": known_colour(section.colour), "section": section.name} if sentence else mark

    def sections(self, cited: frozenset[str]) -> list[dict[str, Any]]:
        """Return the items of each section, the cited ones first."""
        listed = []
        for section in self._trace.context.sections:
            items = sorted(section.items, key=lambda item: item.mark not in cited)
            n_cited = sum(item.mark in cited for item in items)
            listed.append(
                {
                    "title": words(section.title),
                    "colour": known_colour(section.colour),
                    "section": section.name,
                    "count": say("cite.count", n=len(items), cited=n_cited),
                    "cited": n_cited,
                    "marks": [self.chip(item, section) for item in items[:_MOST_ITEMS]],
                }
            )
        return [section for section in listed if section["marks"]]


def _place(passage: TraceItem) -> str:
    """Return the place of a passage: document, page, tokens."""
    source = passage.source
    assert source is not None
    page = [say("passage.page", page=source.page)] if source.page else []
    if not page and passage.row is not None:
        page = [say("passage.chunk", n=passage.row + 1)]
    return say("ask.comma").join([isolated(source.document), *page, words(message_of("count.tokens", n=source.tokens))])
