"""The calls that an OpenAI-compatible server is asked for: replies, also as a stream, and vectors. No retries here."""

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from leanrag_core.errors import EndpointBusy, EndpointError, EndpointRefusal
from leanrag_core.models.connection import STATUS_SECONDS, Connection, openai_package
from leanrag_core.models.endpoint_errors import ErrorAnswer, error_of
from leanrag_core.models.loops import LOOPED, LoopWatch
from leanrag_core.models.reasoning import ReasoningFilter, content_text, has_reasoning, reply_text
from leanrag_core.models.request_form import NO_STREAM, Form, LearntForms, is_about_streaming
from leanrag_core.models.speeds import Speed, Speeds
from leanrag_core.models.window import Window, context_window, count_of
from leanrag_core.text.tokens import count_tokens
from leanrag_core.types.calls import JsonSchema
from leanrag_core.types.roles import Role
from leanrag_core.types.settings import OPENAI_HOST, Settings

_CHARACTERS_A_TOKEN = 4  # roughly, for times alone
_MARGIN = 2.5  # of the time that a reply should take, after which it is given up
_LONGEST_CALL = 7200.0  # seconds
# Where servers say how many tokens of a prompt came from their cache: OpenAI, Azure, Groq, xAI, vLLM and llama.cpp in
# the first place, DeepSeek in the second, Moonshot and Together in the third, gateways to Anthropic in the last.
_CACHED = (
    ("prompt_tokens_details", "cached_tokens"),
    ("prompt_cache_hit_tokens",),
    ("cached_tokens",),
    ("cache_read_input_tokens",),
)


@dataclass(frozen=True)
class TokenCounts:
    """Tokens of one call. cached: of the prompt, those that the server had read before, at a price of their own."""

    prompt: int = 0
    completion: int = 0
    cached: int = 0


@dataclass(frozen=True)
class Reply:
    """What came back from one chat call, without the model's reasoning. mode: how JSON was asked for (schema, object,
    plain). has_reasoning: the model reasoned before it replied."""

    text: str
    finish_reason: str
    prompt_tokens: int
    completion_tokens: int
    mode: str = "plain"
    has_reasoning: bool = False
    cached_tokens: int = 0


def with_text(reply: Reply, model: str) -> Reply:
    """Return the reply. Raises EndpointBusy for one without a text, which another try may have."""
    if not reply.text.strip() and reply.finish_reason != "length":
        raise EndpointBusy("reply.reasoning_alone" if reply.has_reasoning else "reply.empty_from", model=model)
    return reply


@dataclass(frozen=True)
class ChatRequest:
    """What a model is asked, as chat() describes it."""

    model: str
    messages: Sequence[dict[str, str]]
    schema: JsonSchema | None = None
    max_tokens: int | None = None
    temperature: float | None = None
    watch: bool = False

    def mode(self, form: Form) -> str:
        """Return how JSON is asked for in that form."""
        return form.json if self.schema else "plain"


@dataclass(frozen=True)
class Vectors:
    """What came back from one embedding call, in the order of the texts; not yet checked."""

    rows: list[list[float]]
    prompt_tokens: int


class Endpoint(Connection):
    """A server that writes and embeds. Safe to share between threads.

    forms: what has been learnt of the server's models; shared by all callers of the same server. role: how its
    requests differ from those of all. speeds: how fast its models were. key: in the
    place of the environment's.
    """

    def __init__(
        self,
        settings: Settings,
        forms: LearntForms | None = None,
        role: Role | None = None,
        speeds: Speeds | None = None,
        *,
        key: str = "",
    ) -> None:
        super().__init__(settings, key=key)
        self.forms = forms or LearntForms()
        self.role = role or Role()
        self._speeds = speeds or Speeds()
        self._counting = threading.Lock()
        self._in_flight = 0

    def chat(
        self,
        model: str,
        messages: Sequence[dict[str, str]],
        *,
        schema: JsonSchema | None = None,
        max_tokens: int | None = None,
        temperature: float | None = None,
        watch: bool = False,
    ) -> Reply:
        """Make one chat call. schema is asked for by JSON schema, else by JSON mode, else not at all, as the server
        supports. temperature: None for that of the settings. watch: the reply is streamed, and ended when it begins to
        repeat itself; its finish reason is LOOPED then.

        Raises EndpointBusy when another try may help, EndpointRefusal when this request never will, EndpointError when
        no request will.
        """
        return self.answer(ChatRequest(model, messages, schema, max_tokens, temperature, watch))

    def answer(self, request: ChatRequest) -> Reply:
        """Make one chat call, as chat() does."""
        return self._streamed(request) if request.watch else self._in_its_form(request, self._chat_once)

    def speed(self, model: str) -> Speed | None:
        """Return how fast the model was; None where nothing was measured."""
        return self._speeds.of(self.address, model)

    def timeout_seconds(self, model: str, messages: Sequence[dict[str, str]], max_tokens: int | None) -> float:
        """Return how long a call may take: that of the settings, or longer where the whole reply at the model's
        measured speed takes longer."""
        speed = self.speed(model)
        if speed is None:
            return self.settings.timeout_seconds
        read = sum(len(message["content"]) for message in messages) / _CHARACTERS_A_TOKEN
        needed = _MARGIN * speed.seconds_of(read, max_tokens or self.settings.max_reply_tokens)
        return max(self.settings.timeout_seconds, min(needed, _LONGEST_CALL))

    @contextmanager
    def _measured(self, model: str) -> Iterator[list[Reply]]:
        """Measure the call of the block, which puts its reply into the list."""
        _ = self._client  # so that what the first call loads is not measured as the model's time
        with self._counting:
            self._in_flight += 1
            in_flight = float(self._in_flight)
        replies: list[Reply] = []
        started = time.perf_counter()
        try:
            yield replies
        finally:
            seconds = time.perf_counter() - started
            with self._counting:
                in_flight = (in_flight + self._in_flight) / 2
                self._in_flight -= 1
        for reply in replies:
            written_tokens = reply.completion_tokens or len(reply.text) / _CHARACTERS_A_TOKEN
            self._speeds.add(self.address, model, Speed(1.0, reply.prompt_tokens, written_tokens, seconds, in_flight))

    def _in_its_form(self, request: ChatRequest, call: Callable[[ChatRequest, Form], Reply]) -> Reply:
        """Make the call, again in other forms while the server refuses an option of it."""
        model, as_json = request.model, request.schema is not None
        tried, refused = [self.forms.of(model)], None
        while True:
            try:
                with self._measured(model) as replies:
                    reply = _counted(call(request, tried[-1]), request)
                    replies.append(reply)
            except EndpointRefusal as refusal:
                refused = refused or refusal
                form = self.forms.another(model, tried, refusal, as_json=as_json)
                if form is None:
                    raise refused from None
                tried.append(form)
            else:
                self.forms.answered(model, tried[-1], as_json=as_json, after_refusal=len(tried) > 1)
                return reply

    def _chat_once(self, request: ChatRequest, form: Form) -> Reply:
        timeout = self.timeout_seconds(request.model, request.messages, request.max_tokens)
        with self._plain_errors(timeout):
            completion = self._client.chat.completions.create(
                **self._request(request, form), extra_body=self._more(request, form), timeout=timeout
            )
            as_json = request.schema is not None
            return self._read_reply(request.model, completion, request.mode(form), as_json=as_json)

    def _read_reply(self, model: str, completion: Any, mode: str, *, as_json: bool) -> Reply:
        """Return the reply of a completion, as the package has it. Raises as chat()."""
        choices = getattr(completion, "choices", None)
        if not choices or choices[0].message is None:
            problem = self._in_reply(getattr(completion, "error", None))
            raise problem or EndpointBusy("endpoint.no_reply_page", address=self.address)
        content, reasoning = choices[0].message.content, _reasoning_of(choices[0].message)
        text, finish = reply_text(content, reasoning, as_json=as_json), choices[0].finish_reason or "stop"
        if finish == "content_filter" and not text.strip():
            raise EndpointRefusal("endpoint.content_filter", "content_filter", address=self.address)
        refusal = getattr(choices[0].message, "refusal", None)
        if refusal and not text.strip():
            raise EndpointRefusal("endpoint.model_refuses", "content_filter", model=model, reason=str(refusal)[:200])
        counts = token_counts(getattr(completion, "usage", None))
        reasoned = has_reasoning(content, reasoning)
        return Reply(text, finish, counts.prompt, counts.completion, mode, reasoned, counts.cached)

    def written_request(self, request: ChatRequest) -> dict[str, Any]:
        """Return the body of the request that chat() would make, for a file of requests."""
        form = self.forms.of(request.model)
        return {**self._request(request, form), **self._more(request, form)}

    def read_answer(self, model: str, status: int, body: Any, *, as_json: bool) -> Reply:
        """Return the reply in an answer from a file of answers. Raises as chat() does for such an answer."""
        try:
            if status < 400 and not isinstance(body, dict):
                raise EndpointBusy("endpoint.no_reply_page", address=self.address)
            if status >= 400:
                raise error_of(ErrorAnswer(status, body, {}), self.address, self.settings.key_variable)
            with self._plain_errors():
                completion = openai_package().types.chat.ChatCompletion.construct(**body)
                return self._read_reply(model, completion, "plain", as_json=as_json)
        except EndpointError as error:
            raise self._masked(error) from None

    def stream(
        self,
        model: str,
        messages: Sequence[dict[str, str]],
        on_text: Callable[[str], None],
        *,
        max_tokens: int | None = None,
    ) -> Reply:
        """Make one chat call and pass the reply on piece by piece as it comes, reasoning left out; in one piece where
        the server does not stream. Raises as chat()."""
        return self._streamed(ChatRequest(model, messages, max_tokens=max_tokens), on_text)

    def _streamed(self, request: ChatRequest, on_text: Callable[[str], None] = lambda text: None) -> Reply:
        """Return the reply, which is passed on as it comes; in one piece where the server does not stream."""
        refused = None
        if request.model not in self.forms.unstreamed:
            try:
                return self._in_its_form(request, partial(self._stream_once, on_text=on_text))
            except EndpointRefusal as refusal:
                if not is_about_streaming(refusal):
                    raise
                refused = refusal
        reply = self._in_its_form(request, self._chat_once)
        if refused is not None:  # not before: a proxy's page, which has no pieces either, tells nothing
            self.forms.does_not_stream(request.model, refused)
        on_text(reply.text)
        return reply

    def _stream_once(self, request: ChatRequest, form: Form, on_text: Callable[[str], None]) -> Reply:
        model = request.model
        watch = LoopWatch() if request.watch else None
        pieces: list[str] = []
        reasoning: list[str] = []
        passed_on: list[str] = []
        finish, n_events, counts = "", 0, TokenCounts()

        def pass_on(text: str) -> None:
            passed_on.append(text)
            on_text(text)

        shown = ReasoningFilter(pass_on, opened=model in self.forms.reasons_unopened)
        timeout = self.timeout_seconds(model, request.messages, request.max_tokens)
        with self._plain_errors(timeout, is_begun=lambda: n_events > 0):
            options = {"stream_options": {"include_usage": True}} if form.usage else {}
            events = self._client.chat.completions.create(
                **self._request(request, form),
                stream=True,
                extra_body=self._more(request, form),
                timeout=timeout,
                **options,
            )
            for event in events:
                n_events += 1
                if finish == LOOPED:
                    events.close()  # the server stops writing
                    break
                usage = getattr(event, "usage", None)
                if usage is not None:
                    counts = token_counts(usage)
                for choice in getattr(event, "choices", None) or []:
                    finish = choice.finish_reason or finish
                    if choice.delta is not None and choice.delta.content:
                        pieces.append(content_text(choice.delta.content))
                        shown.feed(pieces[-1])
                        if watch is not None and watch.loops(pieces[-1]):
                            finish = LOOPED
                    elif choice.delta is not None:
                        reasoning.append(_reasoning_of(choice.delta))
        if not n_events:
            raise EndpointRefusal("endpoint.streams_nothing", NO_STREAM, address=self.address)
        if not finish:
            raise EndpointBusy("endpoint.broke_off", address=self.address)
        shown.close()
        self.forms.streams(model)
        streamed_text = "".join(pieces)
        text = reply_text(streamed_text, "".join(reasoning), as_json=request.schema is not None)
        if text.strip() and not passed_on:
            pass_on(text.lstrip())
        elif len(text.strip()) < len("".join(passed_on).strip()):  # reasoning was shown: its opening tag never came
            self.forms.reasons_unopened.add(model)
        reasoned = has_reasoning(streamed_text, "".join(reasoning))
        if finish == LOOPED:  # the server's count would have come at the end
            counts = TokenCounts(
                sum(count_tokens(each["content"]) for each in request.messages), count_tokens(streamed_text)
            )
        mode = request.mode(form)
        return Reply(text, finish, counts.prompt, counts.completion, mode, reasoned, counts.cached)

    def _request(self, request: ChatRequest, form: Form) -> dict[str, Any]:
        body: dict[str, Any] = {"model": request.model, "messages": list(request.messages)}
        if form.temperature:
            body["temperature"] = self.settings.temperature if request.temperature is None else request.temperature
        if form.limit:
            body[form.limit] = request.max_tokens or self.settings.max_reply_tokens
        return body

    def _more(self, request: ChatRequest, form: Form) -> dict[str, Any]:
        """Return the fields that the package does not know: those of the role, and the form of a reply in JSON."""
        return {**self.role.body_fields, **_response_format(request.mode(form), request.schema)}

    def embed(self, model: str, texts: Sequence[str], more: Mapping[str, Any] | None = None) -> Vectors:
        """Embed the texts: one row a text, in their order. more: fields of the request beside them. Raises as chat();
        EndpointBusy also when rows are missing."""
        with self._plain_errors():
            reply = self._client.embeddings.create(
                model=model, input=list(texts), encoding_format="float", extra_body=dict(more or {})
            )
            items = getattr(reply, "data", None)
            if items is None:
                raise EndpointBusy("endpoint.no_vectors_page", address=self.address)
            by_place = {item.index: item.embedding for item in items}
            if sorted(by_place) != list(range(len(texts))):
                raise EndpointBusy(
                    "endpoint.wrong_number_of_vectors", address=self.address, sent=len(by_place), asked=len(texts)
                )
            rows = [by_place[place] for place in range(len(texts))]
            told = count_at(reply, ("usage", "prompt_tokens"))
            return Vectors(rows, told or sum(map(count_tokens, texts)))

    def post(self, path: str, body: Mapping[str, Any]) -> Any:
        """Return the JSON of the reply to a request of another protocol, below the address. Raises as chat()."""
        with self._plain_errors():
            options = {"timeout": self.settings.timeout_seconds}
            return self._client.post(
                self.address.rstrip("/") + path, cast_to=object, body={**self.role.body_fields, **body}, options=options
            )

    def models(self) -> list[str]:
        """Return the names of the models that the server offers, sorted; a model without a name cannot be asked for."""
        with self._plain_errors():
            return sorted(model.id for model in self._client.models.list().data if model.id and model.id.strip())

    def context_window(self, model: str, *, load: bool = False) -> int | None:
        """Return the number of tokens that the server reads of a prompt, where it says so. load: see
        context_window()."""
        with self._plain_errors():
            models = {listed.id: listed for listed in self._client.models.list(timeout=STATUS_SECONDS).data}
        return context_window(model, models.get(model), self._beside, local=self.settings.local, load=load)

    def window(self, model: str) -> Window | None:
        """Return the window of a model that is about to be asked: what the server says, or a person, the smaller of
        both; None where nobody does. The server is asked once in some minutes."""
        by_hand = self.settings.windows.get(model)
        server_tokens = self.forms.window(model, lambda: self._said_window(model))
        tokens = min(filter(None, (by_hand, server_tokens)), default=None)
        return None if tokens is None else Window(tokens, self.settings.max_reply_tokens)

    def _said_window(self, model: str) -> int | None:
        if self.settings.host == OPENAI_HOST:
            return None  # its list of models does not tell
        try:
            tokens = self.context_window(model, load=True)
        except EndpointError:
            return None  # the call itself says what is wrong
        if self.settings.local:
            about = self._beside("/props", None)
            self.forms.n_slots = count_of(about.get("total_slots")) if isinstance(about, dict) else None
        return tokens


def _counted(reply: Reply, request: ChatRequest) -> Reply:
    """Return the reply with its tokens by our own count where the server told none: a budget must see them."""
    if reply.prompt_tokens or reply.completion_tokens:
        return reply
    prompt_tokens = sum(count_tokens(message["content"]) for message in request.messages)
    return replace(reply, prompt_tokens=prompt_tokens, completion_tokens=count_tokens(reply.text))


def token_counts(usage: Any) -> TokenCounts:
    """Return what the `usage` of a reply says, an object or its JSON; what it does not say is 0."""
    prompt = count_at(usage, ("prompt_tokens",))
    cached = next((n for place in _CACHED if (n := count_at(usage, place))), 0)
    return TokenCounts(prompt, count_at(usage, ("completion_tokens",)), min(cached, prompt))


def count_at(value: Any, place: tuple[str, ...]) -> int:
    """Return the number at that place of a reply, an object or its JSON, where it is a count; else 0."""
    for name in place:
        value = value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def _response_format(mode: str, schema: JsonSchema | None) -> dict[str, Any]:
    """Return the part of a request that asks for JSON. It is sent past the package, which would walk through the
    schema at every call (a fifth of our own time)."""
    if mode == "schema":
        form = {"name": "reply", "schema": schema, "strict": True}
        return {"response_format": {"type": "json_schema", "json_schema": form}}
    return {"response_format": {"type": "json_object"}} if mode == "object" else {}


def _reasoning_of(message: Any) -> str:
    """Return the model's reasoning, where a server sends it beside the content."""
    reasoning = getattr(message, "reasoning_content", None) or getattr(message, "reasoning", None)
    return reasoning if isinstance(reasoning, str) else ""
