"""The building blocks of the inspector's component: a head, tabs of blocks, and a line about the origin."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from leanrag_core.figures import passages
from leanrag_core.figures.drawing import isolated
from leanrag_core.figures.lines import call_sentence, made_sentence
from leanrag_core.figures.palette import known_colour
from leanrag_core.figures.passages import Piece
from leanrag_core.queries import browse
from leanrag_core.queries.browse import forms_by_name, with_forms
from leanrag_core.queries.hits import Mark
from leanrag_core.queries.made_by import made_by
from leanrag_core.types.calls import MadeBy, RecordedCall
from leanrag_core.types.graph import Relation
from leanrag_core.types.index import Index
from leanrag_core.types.summary import IndexSummary
from leanrag_core.types.visible import shortened
from pages.common import markup, reveal, session
from pages.common.html import draw
from pages.common.messages import message, say, words
from pages.common.scope import PAGE
from pages.explore.exploring import kind_title

Values = dict[str, Any]
DESCRIPTION = 260  # characters of a description in a list; a click shows all of it


def tab(key: str, title: str, blocks: Sequence[Values], count: int | None = None) -> Values:
    """Return a tab. key: independent of the language, so that a tab stays open."""
    return {"key": key, "title": title, "count": "" if count is None else f"{count:,}", "blocks": list(blocks)}


def text(body: str, *, muted: bool = False) -> Values:
    """Return a paragraph. muted: for the app's own remarks."""
    return {"kind": "text", "text": body, "muted": muted}


def label(title: str, note: str = "") -> Values:
    """Return a small heading."""
    return {"kind": "label", "text": title, "note": note}


def runs(parts: Sequence[Values]) -> Values:
    """Return a line of text in parts, some of them links."""
    return {"kind": "runs", "parts": list(parts)}


def run(body: str, *, do: str = "", id_: str = "", strong: bool = False) -> Values:
    """Return a part of a line. do: the action of a click, with that id."""
    return {"text": body, "do": do, "id": id_, "strong": strong}


def marks(cited: Sequence[Mark]) -> list[Values]:
    """Return citation marks as parts of a line."""
    return [{"mark": mark.name, "colour": known_colour(mark.colour)} for mark in cited]


def finding(summary: str, explanation: str) -> Values:
    """Return a finding with its explanation."""
    return {"kind": "finding", "summary": summary, "text": explanation}


def rows(listed: Sequence[Values], *, note: str = "", more: str = "", more_id: str = "") -> Values:
    """Return a list of rows that are links or unfold. more: text of the button that lists more of them."""
    return {"kind": "rows", "rows": list(listed), "note": note, "more": more, "moreId": more_id}


@dataclass(frozen=True)
class Target:
    """The target of a click. do: its action. layer: of an entity or relation; None if it is not shown."""

    do: str
    id: str
    layer: int | None = None


def row(
    name: str,
    target: Target,
    *,
    sub: str = "",
    value: str = "",
    bar: float | None = None,
    unfolds: Sequence[Values] = (),
) -> Values:
    """Return a row of a list. bar: 0 to 1. unfolds: blocks that a click shows below the row, which then contain the
    link."""
    return {
        "name": name,
        "do": target.do,
        "id": target.id,
        "layer": target.layer,
        "sub": sub,
        "value": value,
        "bar": bar,
        "unfolds": list(unfolds),
    }


def passage(title: str, sub: str, parts: Sequence[Piece], *, id_: str, row_number: int) -> Values:
    """Return an excerpt of a chunk with marked mentions; it links to the document and to the chunk."""
    pieces = [{"text": piece.text, "marked": "name" in piece.marks} for piece in parts]
    return {"kind": "passage", "title": title, "sub": sub, "pieces": pieces, "id": id_, "row": row_number}


def count_note(shown: int, total: int, order: str) -> str:
    """Return the note above an incomplete list; empty for a complete one."""
    return say(f"explore.inspect.first.{order}", shown=shown, rest=total - shown) if shown < total else ""


_EXCERPT = 260  # characters
_LINE = 120  # characters of a relation's text in a list
_UNFOLDED = 6  # most members that an unfolded row shows; the relation itself lists all
_ROWS_THAT_UNFOLD = 20  # later rows only describe the relation and link to it
CHUNKS = 12  # shown at first, and added by every "more"
RELATIONS = 50


@st.cache_resource(max_entries=8, show_spinner=False, hash_funcs=session.BY_INDEX)
def _forms(summary: IndexSummary) -> Mapping[str, tuple[str, ...]]:
    return forms_by_name(session.open_index(summary).report.aliases)


def names_to_mark(summary: IndexSummary, names: Sequence[str]) -> list[str]:
    """Return the names with their other forms in the documents."""
    return with_forms(names, _forms(summary))


def strength_of(relation: Relation) -> str:
    """Return lambda of an aggregated relation, or the weight of a base one."""
    return f"{relation.strength:,}" if relation.layer else f"{relation.weight:g}"


def made_words(relation: Relation) -> str:
    """Return in a few words how a relation was made."""
    if relation.layer:
        known = relation.kind in ("summarised", "concatenated")
        return say(f"explore.inspect.made.{relation.kind}", n=len(relation.members)) if known else relation.kind
    return say("explore.inspect.kind_and_chunks", kind=kind_title(relation.kind), n=len(relation.chunks))


def said_by(relation: Relation) -> str:
    """Return a relation's text in one line, or how it was made if it has no text."""
    return shortened(relation.description, _LINE) if relation.description else made_words(relation)


def relation_rows(index: Index, related: Sequence[browse.Neighbour]) -> list[Values]:
    """Return relations of an entity as rows with bars; each unfolds to its text and its members."""
    strongest = max((_number(neighbour.relation) for neighbour in related), default=0.0) or 1.0
    listed = []
    for place, neighbour in enumerate(related):
        relation = neighbour.relation
        unfolds = [text(shortened(relation.description, DESCRIPTION))] if relation.description else []
        unfolds += [text(made_words(relation), muted=True)] if relation.description else []
        if relation.layer and place < _ROWS_THAT_UNFOLD:
            members = browse.unfold(index, relation, _UNFOLDED)
            unfolds.append(rows(member_rows(members)))
        listed.append(
            row(
                neighbour.name,
                Target("relation", relation.id),
                sub=said_by(relation),
                value=strength_of(relation),
                bar=_number(relation) / strongest,
                unfolds=unfolds,
            )
        )
    return listed


def member_rows(members: Sequence[browse.MemberRelation]) -> list[Values]:
    """Return relations as rows with both ends."""
    return [
        row(
            say("explore.inspect.ends", source=isolated(member.source), target=isolated(member.target)),
            Target("relation", member.relation.id, member.relation.layer),
            sub=shortened(member.relation.description, _LINE),
            value=strength_of(member.relation),
        )
        for member in members
    ]


def chunk_blocks(
    index: Index, summary: IndexSummary, chunks: Sequence[int], names: Sequence[str], *, shown: int
) -> list[Values]:
    """Return the first `shown` chunks with marked names, and a button for more."""
    if not chunks:
        return [text(say("explore.inspect.no_chunk"), muted=True)]
    marked = names_to_mark(summary, names)
    blocks = []
    for number in list(chunks)[:shown]:
        chunk = index.chunk(number)
        document = index.document_cells.value("title", index.chunk_cells.value("document", number))
        parts = passages.excerpt(chunk.text, marked, longest=_EXCERPT)
        sub = say("passage.chunk", n=number + 1)
        blocks.append(passage(document, sub, parts, id_=chunk.id, row_number=number))
    left = len(chunks) - shown
    if left > 0:
        more = say("explore.inspect.more", n=min(CHUNKS, left), rest=left)
        blocks.append(rows([], more=more, more_id="chunks"))
    return blocks


def _number(relation: Relation) -> float:
    return float(relation.strength if relation.layer else relation.weight)


_CALLS_OFFERED = 200
_TEXT_HEIGHT = 300  # px


@dataclass(frozen=True)
class Asked:
    """A request to show the prompts and replies of the calls that made the item with that id."""

    id: str


def made_values(made: MadeBy, id_: str, by_hand: Sequence[str] = ()) -> Values:
    """Return what the component draws about an item's origin. id_: of the item. by_hand: its manual edits, in
    sentences."""
    sentence, lines = words(made_sentence(made)), list[str]()
    if len(made.calls) == 1:
        call = made.calls[0]
        record = session.workbench().calls.get(call.key)
        lines.append(words(call_sentence(call, record)))
        if made.how == "by_model":  # the line of the call names the model as well
            sentence, lines = lines[0], []
    elif made.calls:
        first, last = made.calls[0], made.calls[-1]
        chunk = "" if first.chunk is None else say("explore.inspect.first_chunk", chunk=first.chunk + 1)
        span = say("explore.inspect.calls", n=len(made.calls), first=first.number, last=last.number, of=first.total)
        lines.append(span + chunk)
    link = say("explore.inspect.prompts", n=len(made.calls)) if made.calls else ""
    return {
        "title": say("explore.inspect.made_by"),
        "said": sentence,
        "lines": [*lines, *by_hand],
        "link": link,
        "id": id_,
    }


def drawer(index: Index) -> None:
    """Open prompts and replies if they were requested."""
    requested = reveal.take_drawer(PAGE, Asked)
    made = made_by(index, requested.id) if requested is not None else None
    if requested is not None and made is not None and made.calls:
        dialog = st.dialog(say("explore.inspect.calls_title"), width="large", icon=":material/receipt_long:")
        dialog(_calls)(made.calls[:_CALLS_OFFERED])


def _calls(calls: tuple[RecordedCall, ...]) -> None:
    """Draw one call at a time, since hundreds may have extracted a hub of a large index."""
    call = calls[0]
    if len(calls) > 1:
        call = st.selectbox(
            say("explore.inspect.which_call"), calls, format_func=_title, key=f"call_of_{calls[0].number}"
        )
    record = session.workbench().calls.get(call.key)
    draw(markup.muted(words(call_sentence(call, record))))
    if record is None:
        message(say("explore.inspect.not_stored"))
        return
    prompt = "\n\n".join(f"[{each.role}]\n{each.content}" for each in record.messages)
    draw(markup.label(say("explore.inspect.prompt"), record.task.split(":")[0]))
    if prompt:
        markup.code(prompt, height=_TEXT_HEIGHT, key="call_prompt")
    else:
        draw(markup.muted(say("explore.inspect.prompt_not_stored")))
    draw(markup.label(say("explore.inspect.reply")))
    markup.code(record.text or "", height=_TEXT_HEIGHT, key="call_reply")


def _title(call: RecordedCall) -> str:
    chunk = "" if call.chunk is None else say("explore.inspect.first_chunk", chunk=call.chunk + 1)
    return say("explore.inspect.call_number", kind=say(f"explore.inspect.call.{call.kind}"), n=call.number) + chunk
