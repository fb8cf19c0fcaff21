"""An OpenAI-compatible server: the only file that knows the openai package. One call each, no retries here."""

import json
import os
import re
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from leanrag_core.errors import EndpointBusy, EndpointError, EndpointRefusal
from leanrag_core.types.settings import Settings

_LOADING = threading.Lock()
_NO_KEY = "no-key-needed"  # the package insists on one; local servers ask for none
_STATUS_SAYS = {
    401: "refuses the key",
    403: "does not allow this",
    404: "does not know the model or the address",
}


@dataclass(frozen=True)
class Reply:
    """What came back from one chat call. mode: how JSON was asked for (schema, object, plain)."""

    text: str
    finish_reason: str
    prompt_tokens: int
    completion_tokens: int
    mode: str = "plain"


@dataclass(frozen=True)
class Vectors:
    """What came back from one embedding call, in the order of the texts; not yet checked."""

    rows: list[list[float]]
    prompt_tokens: int


def _openai() -> Any:
    """The openai package. httpx is loaded with it, by one thread: the package looks at whatever of httpx another
    thread has loaded so far, and its call would fail."""
    with _LOADING:
        import httpx  # noqa: F401 - loaded for the package
        import openai
    return openai


class Endpoint:
    """A server at an address, with the key that the environment holds. Safe to share between threads."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._modes: dict[str, str] = {}
        self._lock = threading.Lock()

    @property
    def address(self) -> str:
        """Where it is, for messages."""
        return self.settings.base_url or "https://api.openai.com/v1"

    @property
    def _key(self) -> str:
        return os.environ.get(self.settings.key_variable, "").strip()

    @cached_property
    def _client(self) -> Any:
        openai = _openai()
        if not self._key and not self.settings.base_url:
            raise EndpointError(
                f"no key: put your OpenAI key into the environment variable {self.settings.key_variable}, or name "
                "another server in Settings"
            )
        return openai.OpenAI(
            api_key=self._key or _NO_KEY,
            base_url=self.settings.base_url or None,
            timeout=self.settings.timeout_seconds,
            max_retries=0,
            http_client=openai.DefaultHttpxClient(event_hooks={"response": [self._require_same_server]}),
        )

    def _require_same_server(self, response: Any) -> None:
        """A redirect is followed on the same server only: the request carries passages and the key.

        The client calls this before it follows. Raises EndpointError.
        """
        if not response.has_redirect_location:
            return
        old, new = response.request.url, response.request.url.join(response.headers["location"])
        upgraded = (old.scheme, new.scheme) == ("http", "https") and old.port is None and new.port is None
        if old.host != new.host or (not upgraded and (old.scheme, old.port) != (new.scheme, new.port)):
            target = f"{new.scheme}://{new.host}{f':{new.port}' if new.port else ''}"
            raise EndpointError(
                f"{self.address} sends requests on to {target}, which was not asked: enter that address in Settings if "
                "you trust it"
            )

    def chat(
        self,
        model: str,
        messages: Sequence[dict[str, str]],
        *,
        schema: dict[str, Any] | None = None,
        max_tokens: int | None = None,
    ) -> Reply:
        """One reply. schema is asked for by JSON schema, else by JSON mode, else not at all, whatever the server has.

        Raises EndpointBusy when another try may help, EndpointRefusal when this request never will, EndpointError when
        no request will.
        """
        while True:
            mode = self._modes.get(model, "schema") if schema else "plain"
            try:
                return self._chat_once(model, messages, schema, mode, max_tokens)
            except EndpointRefusal:
                if mode == "plain":
                    raise
                with self._lock:  # learnt once for all threads
                    if self._modes.get(model, "schema") == mode:
                        self._modes[model] = "object" if mode == "schema" else "plain"

    def _chat_once(
        self,
        model: str,
        messages: Sequence[dict[str, str]],
        schema: dict[str, Any] | None,
        mode: str,
        max_tokens: int | None,
    ) -> Reply:
        with self._plain_errors():
            completion = self._client.chat.completions.create(
                **self._request(model, messages, max_tokens), **_response_format(mode, schema)
            )
            choices = getattr(completion, "choices", None)
            if not choices or choices[0].message is None:
                raise EndpointBusy(f"{self.address} sent no reply, but something else (a proxy's page?)")
            usage = getattr(completion, "usage", None)
            return Reply(
                choices[0].message.content or "",
                choices[0].finish_reason or "stop",
                getattr(usage, "prompt_tokens", 0) or 0,
                getattr(usage, "completion_tokens", 0) or 0,
                mode,
            )

    def stream(
        self,
        model: str,
        messages: Sequence[dict[str, str]],
        on_text: Callable[[str], None],
        *,
        max_tokens: int | None = None,
    ) -> Reply:
        """One reply, told piece by piece as it comes. Raises as chat()."""
        pieces: list[str] = []
        finish, prompt_tokens, completion_tokens = "", 0, 0
        with self._plain_errors():
            events = self._client.chat.completions.create(
                **self._request(model, messages, max_tokens), stream=True, stream_options={"include_usage": True}
            )
            for event in events:
                usage = getattr(event, "usage", None)
                if usage is not None:
                    prompt_tokens, completion_tokens = usage.prompt_tokens or 0, usage.completion_tokens or 0
                for choice in getattr(event, "choices", None) or []:
                    finish = choice.finish_reason or finish
                    if choice.delta is not None and choice.delta.content:
                        pieces.append(choice.delta.content)
                        on_text(choice.delta.content)
        if not finish:
            raise EndpointBusy(f"{self.address} broke off in the middle of its reply")
        return Reply("".join(pieces), finish, prompt_tokens, completion_tokens)

    def _request(self, model: str, messages: Sequence[dict[str, str]], max_tokens: int | None) -> dict[str, Any]:
        return {
            "model": model,
            "messages": list(messages),
            "temperature": self.settings.temperature,
            "max_tokens": max_tokens or self.settings.max_reply_tokens,
        }

    def embed(self, model: str, texts: Sequence[str]) -> Vectors:
        """One row a text, in their order. Raises as chat(); EndpointBusy also when rows are missing."""
        with self._plain_errors():
            reply = self._client.embeddings.create(model=model, input=list(texts), encoding_format="float")
            items = getattr(reply, "data", None)
            if items is None:
                raise EndpointBusy(f"{self.address} sent no vectors, but something else (a proxy's page?)")
            by_place = {item.index: item.embedding for item in items}
            if sorted(by_place) != list(range(len(texts))):
                raise EndpointBusy(f"{self.address} sent {len(by_place)} vectors for {len(texts)} texts")
            usage = getattr(reply, "usage", None)
            rows = [by_place[place] for place in range(len(texts))]
            return Vectors(rows, getattr(usage, "prompt_tokens", 0) or 0)

    def models(self) -> list[str]:
        """Names of the models that the server offers, sorted."""
        with self._plain_errors():
            return sorted(model.id for model in self._client.models.list().data)

    def context_window(self, model: str) -> int | None:
        """Tokens that the server reads of a prompt, where it tells: Ollama's num_ctx, vLLM's max_model_len."""
        with self._plain_errors():
            listed = {one.id: one for one in self._client.models.list().data}
        told = getattr(listed.get(model), "max_model_len", None)
        if isinstance(told, int):
            return told
        return self._ollama_window(model)

    def _ollama_window(self, model: str) -> int | None:
        """Ollama cuts prompts at num_ctx without a word; its own protocol tells the figure."""
        if not self.settings.local:
            return None
        import httpx

        root = self.address.removesuffix("/").removesuffix("/v1")
        try:
            shown = httpx.post(f"{root}/api/show", json={"model": model}, timeout=5.0)
            cells = shown.json() if shown.status_code == 200 else {}
        except (httpx.HTTPError, ValueError):
            return None
        found = re.search(r"num_ctx\s+(\d+)", str(cells.get("parameters", ""))) if isinstance(cells, dict) else None
        if found:
            return int(found[1])
        return 2048 if isinstance(cells, dict) and cells.get("model_info") else None

    @contextmanager
    def _plain_errors(self) -> Iterator[None]:
        """The package's errors become ours; the key is in none of them."""
        openai = _openai()
        try:
            yield
        except EndpointError:
            raise
        except openai.APITimeoutError:
            problem: EndpointError = EndpointBusy(
                f"{self.address} did not answer within {self.settings.timeout_seconds:.0f} s"
            )
        except openai.APIConnectionError as error:
            if isinstance(error.__cause__, EndpointError):  # raised by our own hook
                raise EndpointError(self._masked(str(error.__cause__))) from None
            problem = EndpointBusy(f"{self.address} does not answer: is it running? ({_root(error)})")
        except openai.APIStatusError as error:
            problem = self._of_status(error)
        except (openai.OpenAIError, ValueError, TypeError, AttributeError, KeyError) as error:
            problem = EndpointBusy(f"{self.address} sent something that is no reply ({_root(error)})")
        except OSError as error:
            problem = EndpointBusy(f"the connection to {self.address} broke ({_root(error)})")
        except Exception as error:
            if not type(error).__module__.startswith(("httpx", "httpcore", "h11", "anyio")):
                raise
            problem = EndpointBusy(f"the connection to {self.address} broke ({_root(error)})")
        else:
            return
        masked = self._masked(str(problem))
        if isinstance(problem, EndpointBusy):
            raise EndpointBusy(masked, problem.retry_after)
        raise type(problem)(masked)

    def _of_status(self, error: Any) -> EndpointError:
        status, said = error.status_code, _told(error)
        if status in (408, 409, 425, 429) or status >= 500:
            if status == 429 and "insufficient_quota" in str(said):
                return EndpointError(f"{self.address} says that the account has no credit left: {said}")
            words = "asks to slow down" if status == 429 else f"fails with status {status}"
            return EndpointBusy(f"{self.address} {words}: {said}", _retry_after(error.response.headers))
        if status in _STATUS_SAYS:
            hint = (
                f"check the environment variable {self.settings.key_variable}"
                if status in (401, 403)
                else "see the list of models in Settings"
            )
            return EndpointError(f"{self.address} {_STATUS_SAYS[status]} (status {status}: {said}): {hint}")
        return EndpointRefusal(f"{self.address} refuses the request (status {status}: {said})")

    def _masked(self, text: str) -> str:
        key = self._key
        return text.replace(key, "•••") if len(key) > 5 else text


def _response_format(mode: str, schema: dict[str, Any] | None) -> dict[str, Any]:
    if mode == "schema":
        form = {"name": "reply", "schema": schema, "strict": True}
        return {"response_format": {"type": "json_schema", "json_schema": form}}
    return {"response_format": {"type": "json_object"}} if mode == "object" else {}


def _told(error: Any) -> str:
    """What the server says of an error, in a line."""
    body = error.body
    if isinstance(body, dict):
        inner = body.get("error", body)
        told = inner.get("message", inner) if isinstance(inner, dict) else inner
    else:
        told = body or error.message
    text = told if isinstance(told, str) else json.dumps(told, default=str)
    return " ".join(re.sub(r"<[^>]*>", " ", text).split())[:200]


def _root(error: BaseException) -> str:
    """The innermost cause, in a line."""
    while error.__cause__ is not None:
        error = error.__cause__
    return " ".join(f"{type(error).__name__}: {error}".split())[:160]


def _retry_after(headers: Any) -> float | None:
    """Seconds that the server asks to wait: Retry-After, or the reset of the limit that is used up."""
    for name, scale in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            return max(0.0, float(headers[name]) * scale)
        except (KeyError, ValueError):
            continue
    if "retry-after" in headers:
        from email.utils import parsedate_to_datetime

        try:
            until = parsedate_to_datetime(headers["retry-after"]).timestamp()
        except ValueError:
            return None
        import time

        return max(0.0, until - time.time())
    for kind in ("requests", "tokens"):
        if headers.get(f"x-ratelimit-remaining-{kind}") == "0":
            return _seconds(headers.get(f"x-ratelimit-reset-{kind}", ""))
    return None


def _seconds(text: str) -> float | None:
    """ "1m30s", "250ms", "2.5" as seconds."""
    parts = re.findall(r"([\d.]+)(ms|s|m|h|)", text)
    scale = {"ms": 0.001, "s": 1.0, "": 1.0, "m": 60.0, "h": 3600.0}
    return sum(float(number) * scale[unit] for number, unit in parts) if parts else None
