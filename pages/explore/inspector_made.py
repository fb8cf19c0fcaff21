"""The line of the inspector that says what made a thing, and the drawer with prompts and replies of its calls."""

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from leanrag_core.figures.lines import call_sentence, made_sentence
from leanrag_core.queries.made_by import made_by
from leanrag_core.types.calls import MadeBy, RecordedCall
from leanrag_core.types.index import Index
from pages.common import drawers, markup, session
from pages.common.html import draw
from pages.common.messages import message, say, words
from pages.common.scope import PAGE
from pages.explore.inspected import Values

_CALLS_OFFERED = 200
_TEXT_HEIGHT = 300  # px


@dataclass(frozen=True)
class Asked:
    """The drawer shows prompts and replies of the calls that made the thing of that id."""

    id: str


def values(made: MadeBy, id_: str, by_hand: Sequence[str] = ()) -> Values:
    """What the component draws of it. id_: of the thing. by_hand: what was edited of it, in sentences."""
    said, lines = words(made_sentence(made)), list[str]()
    if len(made.calls) == 1:
        call = made.calls[0]
        record = session.workbench().calls.get(call.key)
        lines.append(words(call_sentence(call, record)))
        if made.how == "by_model":  # the line of the call names the model, too
            said, lines = lines[0], []
    elif made.calls:
        first, last = made.calls[0], made.calls[-1]
        chunk = "" if first.chunk is None else say("explore.inspect.first_chunk", chunk=first.chunk + 1)
        span = say("explore.inspect.calls", n=len(made.calls), first=first.number, last=last.number, of=first.total)
        lines.append(span + chunk)
    link = say("explore.inspect.prompts", n=len(made.calls)) if made.calls else ""
    return {"title": say("explore.inspect.made_by"), "said": said, "lines": [*lines, *by_hand], "link": link, "id": id_}


def drawer(index: Index) -> None:
    """Opens prompts and replies where they were asked for."""
    asked = drawers.take(PAGE, Asked)
    made = made_by(index, asked.id) if asked is not None else None
    if asked is not None and made is not None and made.calls:
        dialog = st.dialog(say("explore.inspect.calls_title"), width="large", icon=":material/receipt_long:")
        dialog(_calls)(made.calls[:_CALLS_OFFERED])


def _calls(calls: tuple[RecordedCall, ...]) -> None:
    """One call at a time, since a hub of a large index was extracted by hundreds."""
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
    asked = "\n\n".join(f"[{each.role}]\n{each.content}" for each in record.messages)
    draw(markup.label(say("explore.inspect.prompt"), record.task.split(":")[0]))
    if asked:
        markup.code(asked, height=_TEXT_HEIGHT, key="call_prompt")
    else:
        draw(markup.muted(say("explore.inspect.prompt_not_stored")))
    draw(markup.label(say("explore.inspect.reply")))
    markup.code(record.text or "", height=_TEXT_HEIGHT, key="call_reply")


def _title(call: RecordedCall) -> str:
    chunk = "" if call.chunk is None else say("explore.inspect.first_chunk", chunk=call.chunk + 1)
    return say("explore.inspect.call_number", kind=say(f"explore.inspect.call.{call.kind}"), n=call.number) + chunk
