"""Takes the reasoning ("thinking") out of a model's replies, also while they are streamed."""

import re
from collections.abc import Callable
from typing import Any

from leanrag_core.text.plain_words import whole_characters

# Tags as models and chat templates write them: <think>, <thinking>, <seed:think>, [THINK], ◁think▷, <|START_THINKING|>.
_WORD = r"(?:seed:)?(?:think(?:ing)?|thoughts?|reasoning)"
_OPENING = re.compile(
    rf"<{_WORD}>|\[THINK\]|◁think▷|<\|START_THINKING\|>|<\|begin_of_thought\|>", re.IGNORECASE
)  # fmt: skip
_CLOSING = re.compile(rf"</{_WORD}>|\[/THINK\]|◁/think▷|<\|END_THINKING\|>|<\|end_of_thought\|>", re.IGNORECASE)
_LONGEST_TAG = 24  # characters
# OpenAI's harmony form: <|channel|>analysis<|message|>...<|end|><|start|>assistant<|channel|>final<|message|>...
_HARMONY = "<|channel|>"
_FINAL = re.compile(r"<\|channel\|>\s*final\b[^<]*(?:<\|constrain\|>[^<]*)?<\|message\|>")
_HARMONY_END = re.compile(r"<\|(?:return|end|start|call)\|>")


def without_reasoning(text: str) -> str:
    """Return the reply alone. Empty when the model never ended its reasoning.

    Reasoning comes before the reply, between tags, or before a closing tag whose opening tag the chat template has
    removed. Tags in the middle of a sentence or in a code block belong to the reply, and are kept.
    """
    if _HARMONY in text:
        return _last_channel(text)
    text = text.removeprefix("\ufeff")
    while opening := _OPENING.match(text.lstrip()):
        begun = text.lstrip()
        closing = _CLOSING.search(begun, opening.end())
        if closing is None:
            return ""
        text = begun[closing.end() :]
    text = _without_blocks(text)
    closings = [closing for closing in _CLOSING.finditer(text) if _ends_reasoning(text, closing)]
    return text[closings[-1].end() :] if closings else text


def _without_blocks(text: str) -> str:
    """Remove reasoning that begins on a line of its own, after a remark or between two."""
    place = 0
    while opening := _OPENING.search(text, place):
        place = opening.end()
        if _begins_line(text, opening.start()):
            ends = (closing for closing in _CLOSING.finditer(text, place) if _ends_reasoning(text, closing))
            closing = next(ends, None)
            if closing is not None:
                text, place = text[: opening.start()] + text[closing.end() :].lstrip(), opening.start()
    return text


def _last_channel(text: str) -> str:
    """Return the final channel of a reply in harmony's form."""
    finals = list(_FINAL.finditer(text))
    if not finals:
        return "" if text.lstrip().startswith(("<|channel|>", "<|start|>")) else text
    final = text[finals[-1].end() :]
    end = _HARMONY_END.search(final)
    return final[: end.start()] if end else final


def _begins_line(text: str, place: int) -> bool:
    """Return whether only white space comes before the place in its line, and the line is in no code block."""
    before = text[:place]
    return not before.rpartition("\n")[2].strip() and before.count("```") % 2 == 0


def _ends_reasoning(text: str, closing: re.Match[str]) -> bool:
    """Return whether a closing tag ends reasoning: it begins or ends its line, or JSON follows; and neither is it in
    a code block nor named beside its opening tag."""
    before, after = text[: closing.start()], text[closing.end() :]
    line = before.rpartition("\n")[2]
    if before.count("```") % 2 or any(not _begins_line(line, tag.start()) for tag in _OPENING.finditer(line)):
        return False
    json_follows = after.lstrip()[:1] in ("{", "[") or after.startswith("```")
    return not line.strip() or not after.partition("\n")[0].strip() or json_follows


def reply_text(content: Any, reasoning: Any, *, as_json: bool) -> str:
    """Return the text of a message: its content without reasoning. content: a text, or a list of parts.

    reasoning: the message's reasoning_content or reasoning, where there is one. A server that takes a
    whole reply for reasoning leaves the content empty: then the text after the reasoning counts, or JSON where JSON was
    asked for.
    """
    text = without_reasoning(content_text(content))
    if text.strip() or not isinstance(reasoning, str):
        return text
    reasoning = whole_characters(reasoning)
    if _CLOSING.search(reasoning):
        return without_reasoning(reasoning)
    return reasoning if as_json and reasoning.lstrip().startswith(("{", "```json")) else ""


def has_reasoning(content: Any, reasoning: Any) -> bool:
    """Return whether a message holds reasoning."""
    return bool(reasoning) or without_reasoning(content_text(content)).strip() != content_text(content).strip()


def content_text(content: Any) -> str:
    """Return a message's content as a text, with reasoning in tags still in it."""
    if isinstance(content, list):  # parts, as Mistral sends them
        parts = [part if isinstance(part, dict) else vars(part) for part in content]
        content = "".join(str(part.get("text") or "") for part in parts if part.get("type", "text") == "text")
    return whole_characters(content) if isinstance(content, str) else ""


class ReasoningFilter:
    """Passes a streamed reply on without the reasoning before it, however the stream cuts the tags.

    opened: the chat template has removed the opening tag, so that the stream begins inside the reasoning.
    """

    def __init__(self, on_text: Callable[[str], None], *, opened: bool = False) -> None:
        self._on_text = on_text
        self._held = ""
        self._in_reasoning = opened
        self._begun = False  # text of the reply itself has been passed on

    def feed(self, piece: str) -> None:
        """Take the next piece of the stream, and pass on what is no reasoning."""
        if self._begun:
            self._on_text(piece)
            return
        self._held += piece
        while True:
            if self._in_reasoning:
                closing = _CLOSING.search(self._held)
                if closing is None:
                    self._held = self._held[-_LONGEST_TAG:]
                    return
                self._held, self._in_reasoning = self._held[closing.end() :], False
            shown = self._held.lstrip()
            opening = _OPENING.match(shown)
            if opening:
                self._held, self._in_reasoning = shown[opening.end() :], True
                continue
            if not shown or (shown[0] in "<[◁" and len(shown) < _LONGEST_TAG and not _is_no_tag(shown)):
                return  # it may become a tag yet
            if shown.startswith(("<|channel|>", "<|start|>")):
                return  # passed on in one piece at the end
            self._begun, self._held = True, ""
            self._on_text(shown)
            return

    def close(self) -> None:
        """End the stream: pass on the text that waited and is no reasoning."""
        rest = "" if self._begun or self._in_reasoning else without_reasoning(self._held)
        self._held = ""
        if rest.strip():
            self._on_text(rest.lstrip())


_TAGS = (
    *(f"<{word}>" for word in ("think", "thinking", "thought", "thoughts", "reasoning", "seed:think")),
    *("[think]", "◁think▷", "<|start_thinking|>", "<|begin_of_thought|>", "<|channel|>", "<|start|>assistant"),
)


def _is_no_tag(text: str) -> bool:
    """Return whether a beginning can no longer become a tag of reasoning."""
    begun = text.lower()
    return not any(tag.startswith(begun) or begun.startswith(tag) for tag in _TAGS)
