"""An answered model call, as the store of calls keeps it."""

from dataclasses import dataclass

from leanrag_core.files.records import absent_at_default


@dataclass(frozen=True)
class ChatMessage:
    """A message of a chat, as it was sent."""

    role: str
    content: str


@dataclass(frozen=True)
class CallRecord:
    """A reply (text, with its finish reason, tokens and seconds) or an embedding (vector, in base64).

    index: the one it was first made for. asked_again: the reply is to a complaint about an earlier one. messages: what
    was asked, of the calls that write an index; other calls keep none. at: seconds since 1970, UTC, set by the store.
    """

    model: str = ""
    task: str = ""
    index: str = ""
    text: str | None = absent_at_default()
    finish_reason: str | None = absent_at_default()
    prompt_tokens: int | None = absent_at_default()
    completion_tokens: int | None = absent_at_default()
    seconds: float | None = absent_at_default()
    asked_again: bool | None = absent_at_default()
    vector: str | None = absent_at_default()
    messages: tuple[ChatMessage, ...] = absent_at_default(())
    at: float = 0.0
