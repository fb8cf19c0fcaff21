"""How a model's requests are put: which options its server takes, learnt from what it refuses."""

import re
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from leanrag_core.errors import EndpointRefusal

_JSON_STEPS = {"schema": "object", "object": "plain"}
_LIMIT_STEPS = {"max_tokens": "max_completion_tokens", "max_completion_tokens": ""}
_UNSUPPORTED = re.compile(
    r"unsupported|not (?:be )?support|n't support|unrecogni[sz]ed|unknown|unexpected|unavailable|not available|"
    r"not (?:permitted|allowed|implemented|enabled)|extra (?:inputs?|fields?)|extra_forbidden|deprecated|"
    r"only the default|instead|invalid (?:parameter|value|type)|is not (?:a )?valid|must be (?:one of|')",
    re.IGNORECASE,
)
_ABOUT_JSON = re.compile(
    r"response.?format|json.?schema|json.?object|json.?mode|structured.?output|guided|grammar|contain the word .?json",
    re.IGNORECASE,
)
_ABOUT_LIMIT = re.compile(r"max_tokens|max_completion_tokens", re.IGNORECASE)
_ABOUT_TEMPERATURE = re.compile(r"\btemperature\b", re.IGNORECASE)
_ABOUT_USAGE = re.compile(r"stream_options|include_usage", re.IGNORECASE)
NO_STREAM = "no_stream"  # the option that a refusal names where a server sent no piece of a stream
_ABOUT_STREAMING = re.compile(r"\bstream(?:ing|ed)?\b(?!_options)", re.IGNORECASE)
# What the passage itself is refused for; no other way of asking helps.
_OF_THE_CONTENT = re.compile(
    r"context.?(?:length|window|size)|maximum context|too (?:long|large|many)|exceed|"
    r"content.?(?:filter|policy|management)|moderation|safety|harmful|responsible ai",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Form:
    """How a request is put. json: schema, object or plain. limit: the option that bounds the reply, "" for none.

    temperature, usage: whether they are sent (usage: stream_options of a streamed reply).
    """

    json: str = "schema"
    limit: str = "max_tokens"
    temperature: bool = True
    usage: bool = True

    def without(self, refusal: EndpointRefusal, *, as_json: bool) -> "Form | None":
        """Return the form without what the refusal names; None when it names nothing of it."""
        text = f"{refusal.option} {refusal.server_text}"
        blamed = bool(_UNSUPPORTED.search(text)) and not _OF_THE_CONTENT.search(text)
        if blamed and self.usage and _ABOUT_USAGE.search(text):
            return replace(self, usage=False)
        if blamed and self.limit and _ABOUT_LIMIT.search(text):
            return replace(self, limit=_LIMIT_STEPS[self.limit])
        if blamed and self.temperature and _ABOUT_TEMPERATURE.search(text):
            return replace(self, temperature=False)
        # Of a format servers say all sorts of things ("failed to parse grammar"), but they name it.
        if as_json and self.json != "plain" and _ABOUT_JSON.search(text):
            return replace(self, json=_JSON_STEPS[self.json])
        return None


def is_about_streaming(refusal: EndpointRefusal) -> bool:
    """Tell whether the server refuses to stream."""
    text = f"{refusal.option} {refusal.server_text}"
    return refusal.option == NO_STREAM or bool(_ABOUT_STREAMING.search(text) and _UNSUPPORTED.search(text))


_TOO_LONG = re.compile(
    r"context.?(?:length|window|size)|maximum context|prompt (?:is )?too long|too many (?:input )?tokens", re.IGNORECASE
)
_WINDOW_NAMED = re.compile(
    r"(?:maximum context length is|(?:context (?:length|window|size)|n_ctx)(?: of)?(?: only)?[ :=(]*)\s*(\d[\d,]*)",
    re.IGNORECASE,
)


def is_too_long(refusal: EndpointRefusal) -> bool:
    """Tell whether the prompt is refused because it does not fit the model's window."""
    return bool(_TOO_LONG.search(f"{refusal.option} {refusal.server_text}"))


def named_window(refusal: EndpointRefusal) -> int | None:
    """Return the tokens of the window that a refusal names; None where it names none."""
    match = _WINDOW_NAMED.search(refusal.server_text)
    tokens = int(match[1].replace(",", "")) if match else 0
    return tokens if tokens >= _LEAST_WINDOW else None


_LEAST_WINDOW = 128  # tokens; a smaller number in a refusal is of something else
_WINDOW_SECONDS = 300.0  # after which a server is asked for its window again


class LearntForms:
    """The forms of one server's models, shared by all threads. reasons_unopened: models whose streams begin inside
    their reasoning. unstreamed: models that answer in one piece alone. n_slots: calls that the server
    answers in parallel, None where it does not tell."""

    def __init__(self) -> None:
        self.reasons_unopened: set[str] = set()
        self.unstreamed: set[str] = set()
        self._streamed_nothing: set[str] = set()
        self.n_slots: int | None = None
        self._forms: dict[str, Form] = {}
        self._answered: set[tuple[str, Form, bool]] = set()
        self._lock = threading.Lock()
        self._windows: dict[str, tuple[float, int | None]] = {}  # when the server was asked, and what it said
        self._asking = threading.Lock()
        self._others: dict[str, LearntForms] = {}

    def streams(self, model: str) -> None:
        """Record that a stream of the model came whole."""
        self._streamed_nothing.discard(model)

    def does_not_stream(self, model: str, refusal: EndpointRefusal) -> None:
        """Record that a stream was refused: from now on the model answers in one piece. A stream without pieces may be
        one bad reply; the next one is tried."""
        if refusal.option != NO_STREAM or model in self._streamed_nothing:
            self.unstreamed.add(model)
        self._streamed_nothing.add(model)

    def at(self, address: str) -> "LearntForms":
        """Return the forms of the models of another server."""
        with self._lock:
            return self._others.setdefault(address, LearntForms())

    def window(self, model: str, ask: Callable[[], int | None]) -> int | None:
        """Return the tokens of the model's window as the server said them last, or by `ask`, one caller at a time."""
        with self._asking:
            at, tokens = self._windows.get(model, (0.0, None))
            if not at or time.monotonic() - at > _WINDOW_SECONDS:
                tokens = ask()
                self._windows[model] = time.monotonic(), tokens
            return tokens

    def learn_window(self, model: str, tokens: int) -> None:
        """Keep the window that a refusal has named."""
        with self._asking:
            self._windows[model] = time.monotonic(), tokens

    def of(self, model: str) -> Form:
        """Return the form of that model's next request."""
        with self._lock:
            return self._forms.get(model, Form())

    def answered(self, model: str, form: Form, *, as_json: bool, after_refusal: bool) -> None:
        """Record that a request of that form was answered, so that no refusal is blamed on it any more.
        after_refusal: other forms were refused, so the next requests are put like this."""
        with self._lock:
            self._answered.add((model, form, as_json))
            if after_refusal:
                self._forms[model] = form

    def is_proven(self, model: str, *, as_json: bool) -> bool:
        """Return whether a request of the form that is used now was answered."""
        with self._lock:
            return (model, self._forms.get(model, Form()), as_json) in self._answered

    def another(self, model: str, tried: list[Form], refusal: EndpointRefusal, *, as_json: bool) -> Form | None:
        """Choose how to ask once more after the last of the tried forms was refused; None when no other way is left.

        What the server names is learnt at once, for all threads. A refusal that names nothing is tried in weaker forms
        of JSON, unless some request of the form has been answered or the passage is what is refused; that is learnt
        when such a try is answered.
        """
        form = tried[-1]
        with self._lock:
            known = self._forms.get(model, Form())
            if known not in tried:
                return known  # learnt by another thread meanwhile
            form_without = form.without(refusal, as_json=as_json)
            if form_without is not None:
                self._forms[model] = form_without
                return form_without
            proven = (model, form, as_json) in self._answered
        if (
            proven
            or not as_json
            or form.json == "plain"
            or _OF_THE_CONTENT.search(f"{refusal.option} {refusal.server_text}")
        ):
            return None
        return replace(form, json=_JSON_STEPS[form.json])
