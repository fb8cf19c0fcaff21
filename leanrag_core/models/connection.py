"""The way to an OpenAI-compatible server: the only file that imports the openai package."""

import json
import os
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property, lru_cache
from typing import Any, TypeVar

from leanrag_core.errors import EndpointBusy, EndpointError, EndpointRefusal, EndpointTimeout
from leanrag_core.messages.message import with_text_replaced
from leanrag_core.models.endpoint_errors import ErrorAnswer, error_in_reply, error_of, proxy_variable, root_cause
from leanrag_core.system.addresses import parts_of
from leanrag_core.types.settings import Settings

T = TypeVar("T")
_LOADING = threading.Lock()
STATUS_SECONDS = 5.0  # for a question about the server itself
_AZURE_HOSTS = (".openai.azure.com", ".cognitiveservices.azure.com")
_AZURE_VERSION = "2024-10-21"  # the last one of the classic protocol that is generally available
_NO_KEY = "no-key-needed"  # the package insists on one; local servers ask for none


def openai_package() -> Any:
    """Import the openai package, and httpx2 with it by one thread: the package uses as much of httpx2 as another
    thread has loaded so far, and its call would fail."""
    with _LOADING:
        import httpx2  # noqa: F401 - loaded for the package
        import openai
    return openai


def tls_context(*, trust_env: bool) -> ssl.SSLContext:
    """Return what connections by TLS share: to read the certificates takes fifty times as long as the rest of a client.
    It is made anew when their files change. trust_env: variables may name the files."""
    paths = ssl.get_default_verify_paths()
    changed = tuple((path, os.stat(path).st_mtime_ns) for path in (paths.cafile, paths.capath) if path)
    return _tls_context(trust_env, changed)


@lru_cache(maxsize=4)
def _tls_context(trust_env: bool, changed: tuple[tuple[str, int], ...]) -> ssl.SSLContext:
    import httpx2

    return httpx2.create_ssl_context(trust_env=trust_env)


def azure_address(base_url: str) -> dict[str, str] | None:
    """Return where a classic Azure resource is asked, as the client wants it: azure_endpoint, api_version and, where
    the address names one, azure_deployment; the model's name is that of a deployment otherwise. None for any other
    address: classic Azure is known by its host, or by an api-version."""
    address, _, version = base_url.partition("?api-version=")
    parts = parts_of(address)
    if not version and not (parts.host.endswith(_AZURE_HOSTS) and not parts.path.rstrip("/").endswith("/v1")):
        return None
    root, _, deployment = address.rstrip("/").partition("/openai")
    named = {"azure_endpoint": root, "api_version": version or _AZURE_VERSION}
    name = deployment.partition("/deployments/")[2].partition("/")[0]
    return named | ({"azure_deployment": name} if name else {})


class Connection:
    """A server at an address, with the key that the environment holds; the package's errors are turned into ours.

    key: in the place of the environment's.
    """

    def __init__(self, settings: Settings, *, key: str = "") -> None:
        self.settings = settings
        self._given_key = key

    @property
    def address(self) -> str:
        """The server's address, for messages."""
        return self.settings.base_url.partition("?")[0] or "https://api.openai.com/v1"

    @property
    def _key(self) -> str:
        return self._given_key or os.environ.get(self.settings.key_variable, "").strip()

    @cached_property
    def _client(self) -> Any:
        openai = openai_package()
        if not self._key and not self.settings.base_url:
            raise EndpointError("endpoint.no_key", variable=self.settings.key_variable)
        trust_env = not self.settings.local  # a server on this machine is never behind a proxy
        common = {
            "api_key": self._key or _NO_KEY,
            "timeout": self.settings.timeout_seconds,
            "max_retries": 0,
            "http_client": openai.DefaultHttpxClient(
                event_hooks={"response": [self._require_same_server]},
                trust_env=trust_env,
                verify=tls_context(trust_env=trust_env),
            ),
        }
        azure = azure_address(self.settings.base_url)
        if azure is not None:
            return openai.AzureOpenAI(**azure, **common)
        return openai.OpenAI(base_url=self.settings.base_url or None, **common)

    def _require_same_server(self, response: Any) -> None:
        """Refuse a redirect to another server: the request carries passages and the key.

        The client calls this before it follows. Raises EndpointError.
        """
        if not response.has_redirect_location:
            return
        old, new = response.request.url, response.request.url.join(response.headers["location"])
        upgraded = (old.scheme, new.scheme) == ("http", "https") and old.port is None and new.port is None
        if old.host != new.host or (not upgraded and (old.scheme, old.port) != (new.scheme, new.port)):
            target = f"{new.scheme}://{new.host}{f':{new.port}' if new.port else ''}"
            raise EndpointError("endpoint.redirects_elsewhere", address=self.address, target=target)

    def using(self, call: Callable[[Any], T]) -> T:
        """Return what the call gets from the package's client. Raises as chat()."""
        with self._plain_errors():
            return call(self._client)

    def about(self, path: str) -> Any:
        """Return the JSON that the server gives of itself at a path of its root; None where it does not."""
        return self._beside(path, None)

    def _beside(self, path: str, body: dict[str, Any] | None, timeout_seconds: float | None = STATUS_SECONDS) -> Any:
        """Fetch JSON that a server gives beside OpenAI's protocol; None when it does not. timeout_seconds: None for
        that of the settings."""
        address = self.address.removesuffix("/").removesuffix("/v1") + path
        options = {"timeout": timeout_seconds or self.settings.timeout_seconds}
        try:
            with self._plain_errors():
                if body is None:
                    return self._client.get(address, cast_to=object, options=options)
                return self._client.post(address, cast_to=object, body=body, options=options)
        except EndpointError:
            return None

    @contextmanager
    def _plain_errors(
        self, timeout_seconds: float = 0.0, *, is_begun: Callable[[], bool] = lambda: False
    ) -> Iterator[None]:
        """Convert the package's errors into those of this project, without the key. timeout_seconds: of the call, 0 for
        that of the settings. is_begun: tells whether a part of the reply has come."""
        openai = openai_package()
        try:
            yield
        except EndpointError as error:
            self._masked(error)
            raise
        except openai.APITimeoutError as error:
            seconds = timeout_seconds or self.settings.timeout_seconds
            waited = type(error.__cause__).__name__ == "ReadTimeout"  # else no connection came about
            kind = EndpointTimeout if waited else EndpointBusy
            problem: EndpointError = kind("endpoint.timeout", address=self.address, seconds=seconds)
        except openai.APIConnectionError as error:
            if isinstance(error.__cause__, EndpointError):  # raised by our own hook
                raise self._masked(error.__cause__) from None
            if is_begun():
                problem = EndpointBusy("endpoint.broke_off", address=self.address)
            else:
                problem = self._no_answer(root_cause(error))
        except openai.APIStatusError as error:
            answer = ErrorAnswer(error.status_code, error.body, error.response.headers, error.message)
            problem = error_of(answer, self.address, self.settings.key_variable)
        except openai.APIError as error:  # of a stream that ends in an error
            problem = self._in_reply(error.body) or EndpointBusy(
                "endpoint.no_reply", address=self.address, reason=root_cause(error)
            )
        except (json.JSONDecodeError, TypeError, AttributeError, KeyError):  # their words are about our own code
            problem = EndpointBusy("endpoint.no_reply_page", address=self.address)
        except (openai.OpenAIError, ValueError) as error:
            problem = EndpointBusy("endpoint.no_reply", address=self.address, reason=root_cause(error))
        except Exception as error:
            of_the_connection = type(error).__module__.startswith(("httpx", "httpcore", "h11", "anyio"))
            if not (of_the_connection or isinstance(error, OSError)):
                raise
            problem = EndpointBusy("endpoint.connection_broke", address=self.address, reason=root_cause(error))
        else:
            return
        raise self._masked(problem) from None  # the package's error may repeat the key, and a traceback shows it

    def _no_answer(self, reason: str) -> EndpointError:
        """Return our error for a server that cannot be reached, naming the proxy where one stands before it."""
        proxy = "" if self.settings.local else proxy_variable(self.address)
        if proxy:
            return EndpointBusy("endpoint.no_answer_by_proxy", address=self.address, reason=reason, variable=proxy)
        return EndpointBusy("endpoint.no_answer", address=self.address, reason=reason)

    def _in_reply(self, body: Any) -> EndpointError | None:
        return error_in_reply(body, self.address, self.settings.key_variable)

    def _masked(self, problem: EndpointError) -> EndpointError:
        """Replace the key in everything that the server said."""
        key = self._key
        if len(key) > 5:
            problem.message = with_text_replaced(problem.message, key, "•••")
            if isinstance(problem, EndpointRefusal):
                problem.server_text = problem.server_text.replace(key, "•••")
        return problem
