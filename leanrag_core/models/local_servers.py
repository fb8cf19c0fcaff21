"""Model servers that run on this machine, found at their usual ports: the kinds of servers as a table, and how each is
read.

Only 127.0.0.1 is asked, no redirect is followed, and a server gets two seconds and two megabytes for an answer: what
listens at such a port need not be a model server.
"""

import asyncio
import json
import os
import re
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from leanrag_core.models.listing import embeds
from leanrag_core.system.threads import in_own_loop
from leanrag_core.types.config import endpoint_model, model_title
from leanrag_core.types.settings import Price, Settings
from leanrag_core.types.visible import visible

PORTS_VARIABLE = "LEANRAG_LOCAL_PORTS"
"""Environment variable with other ports, such as "ollama=11500,vllm=0"; a server at port 0 is not looked for."""

_HOST = "127.0.0.1"
_SECONDS = 2.0  # for one answer, from the connection to the last byte
_MOST_BYTES = 2_000_000  # of an answer
_MOST_MODELS = 40  # of a server that are shown
_LONGEST_NAME = 200


@dataclass(frozen=True)
class FoundModel:
    """A model of a server. embeds: it makes vectors instead of text. loaded: it is in memory. window: tokens that it
    reads, None where the server does not tell; n_bytes: of its file, 0 where the server does not tell."""

    name: str
    embeds: bool = False
    loaded: bool = False
    window: int | None = None
    n_bytes: int = 0


@dataclass(frozen=True)
class _Answer:
    """What a reader found out. n_slots: calls that the server answers in parallel, 0 where it does not tell."""

    models: tuple[FoundModel, ...] = ()
    n_slots: int = 0


class _KeyWanted(Exception):
    """The server answers nobody without a key."""


Ask = Callable[..., Awaitable[Any]]  # (path, body or None) -> the JSON of the server's answer, None for any other
_Read = Callable[[Ask], Awaitable[_Answer | None]]  # None: another program answers at the port


@dataclass(frozen=True)
class ServerKind:
    """A kind of model server. name: in links and messages; title: a proper name. n_calls: calls in flight that suit it
    where it does not tell its slots."""

    name: str
    title: str
    port: int
    n_calls: int
    read: _Read

    @property
    def address(self) -> str:
        """The address of its OpenAI-compatible protocol at the usual port."""
        return f"http://localhost:{self.port}/v1"


@dataclass(frozen=True)
class FoundServer:
    """A server that answered. needs_key: it answers nobody without a key."""

    kind: ServerKind
    port: int
    models: tuple[FoundModel, ...] = ()
    n_slots: int = 0
    needs_key: bool = False

    @property
    def address(self) -> str:
        """The address for the settings."""
        return replace(self.kind, port=self.port).address

    @property
    def writing(self) -> tuple[FoundModel, ...]:
        """Its models that write, those in memory first."""
        return tuple(sorted((m for m in self.models if not m.embeds), key=lambda model: not model.loaded))

    @property
    def embedding(self) -> tuple[FoundModel, ...]:
        """Its models that embed, those in memory first."""
        return tuple(sorted((m for m in self.models if m.embeds), key=lambda model: not model.loaded))


@dataclass(frozen=True)
class Found:
    """What answers on this machine. at: seconds since 1970; free_bytes: memory that was free then."""

    servers: tuple[FoundServer, ...]
    at: float
    free_bytes: int


async def _read_ollama(ask: Ask) -> _Answer | None:
    version, listed = await ask("/api/version"), await ask("/api/tags")
    # llama.cpp lists its models at /api/tags, too, but has no version there.
    if not (isinstance(version, dict) and "version" in version and isinstance(listed, dict)):
        return None
    entries = _entries(_part(listed, "models"))
    running = await ask("/api/ps") if entries else None
    in_memory = {_name(entry): entry for entry in _entries(_part(running, "models"))}
    shown = await asyncio.gather(*(ask("/api/show", {"model": _name(entry)}) for entry in entries))
    models = []
    for entry, about in zip(entries, shown, strict=True):
        name, about = _name(entry), about if isinstance(about, dict) else {}
        abilities = about.get("capabilities")
        is_embedding = "embedding" in abilities if isinstance(abilities, list) else embeds(name)
        window = _count(in_memory.get(name, {}).get("context_length")) or _ollama_window(about)
        models.append(FoundModel(name, is_embedding, name in in_memory, window, _count(entry.get("size")) or 0))
    return _Answer(tuple(models))


async def _read_lm_studio(ask: Ask) -> _Answer | None:
    listed = await ask("/api/v0/models")
    if not isinstance(_part(listed, "data"), list):
        return None
    models = []
    for entry in _entries(_part(listed, "data"), "id"):
        name, is_embedding = str(entry["id"]), entry.get("type") == "embeddings"
        # What it loads by itself at the first call gets a window of LM Studio's choosing, not the longest.
        window = _count(entry.get("loaded_context_length")) if entry.get("state") == "loaded" else None
        models.append(FoundModel(name, is_embedding, entry.get("state") == "loaded", window))
    return _Answer(tuple(model for model in models if model.loaded))


async def _read_llama_cpp(ask: Ask) -> _Answer | None:
    about = await ask("/props")
    if not isinstance(about, dict) or not {"default_generation_settings", "role"} & about.keys():
        return None
    listed = await ask("/v1/models")
    entries = _entries(_part(listed, "data"), "id")
    window = _count(_part(about.get("default_generation_settings"), "n_ctx"))  # of one slot
    models = []
    for entry in entries:
        loaded = _part(entry.get("status"), "value") in (None, "loaded")
        # Without an alias its name is the path of the file; the server takes any name.
        name = str(entry["id"]).replace("\\", "/").rpartition("/")[2] if len(entries) == 1 else str(entry["id"])
        models.append(FoundModel(name, embeds(name), loaded, window, _count(_part(entry.get("meta"), "size")) or 0))
    return _Answer(tuple(models), _count(about.get("total_slots")) or 0)


async def _read_vllm(ask: Ask) -> _Answer | None:
    listed = await ask("/v1/models")
    entries = _entries(_part(listed, "data"), "id")
    if not any(entry.get("owned_by") == "vllm" for entry in entries):
        return None
    return _Answer(
        tuple(
            FoundModel(str(entry["id"]), embeds(str(entry["id"])), True, _count(entry.get("max_model_len")))
            for entry in entries
        )
    )


KINDS = (
    ServerKind("ollama", "Ollama", 11434, 2, _read_ollama),
    ServerKind("lmstudio", "LM Studio", 1234, 2, _read_lm_studio),
    ServerKind("llamacpp", "llama.cpp", 8080, 1, _read_llama_cpp),
    ServerKind("vllm", "vLLM", 8000, 32, _read_vllm),
)


def usual_ports() -> dict[str, int]:
    """Return the port of each kind of server, other ones as the environment says; 0: it is not looked for."""
    ports = {kind.name: kind.port for kind in KINDS}
    for pair in os.environ.get(PORTS_VARIABLE, "").split(","):
        name, _, port = pair.strip().partition("=")
        if name in ports and port.strip().isdecimal() and int(port) < 65536:
            ports[name] = int(port)
    return ports


def find_servers(ports: Mapping[str, int] | None = None) -> Found:
    """Look for model servers on this machine, all at the same time; other servers are left out.

    ports: of each kind of server that is looked for, by its name; usual_ports() where None. Takes some milliseconds
    where nothing listens, and a few seconds at most.
    """
    ports = usual_ports() if ports is None else ports
    wanted = [(kind, ports[kind.name]) for kind in KINDS if ports.get(kind.name)]
    servers = in_own_loop(_find(wanted)) if wanted else []
    return Found(tuple(server for server in servers if server), time.time(), free_bytes())


def free_bytes() -> int:
    """Return the memory of this machine that programs can still have."""
    import psutil

    return int(psutil.virtual_memory().available)


async def _find(wanted: Sequence[tuple[ServerKind, int]]) -> list[FoundServer | None]:
    import httpx

    # No proxy, no certificates, nothing of ~/.netrc: this is the loopback.
    async with httpx.AsyncClient(trust_env=False, verify=False, follow_redirects=False, timeout=_SECONDS) as client:
        return list(await asyncio.gather(*(_server(client, kind, port) for kind, port in wanted)))


async def _server(client: Any, kind: ServerKind, port: int) -> FoundServer | None:
    async def ask(path: str, body: Mapping[str, Any] | None = None) -> Any:
        return await _json(client, f"http://{_HOST}:{port}{path}", body)

    try:
        answer = await kind.read(ask)
    except _KeyWanted:
        return FoundServer(kind, port, needs_key=True)
    return None if answer is None else FoundServer(kind, port, answer.models, answer.n_slots)


async def _json(client: Any, url: str, body: Mapping[str, Any] | None) -> Any:
    """Return the JSON that the server answers with; None for anything else. Raises _KeyWanted."""
    import httpx

    content = bytearray()
    headers = {"accept-encoding": "identity", "accept": "application/json"}
    try:
        async with (
            asyncio.timeout(_SECONDS),
            client.stream("GET" if body is None else "POST", url, json=body, headers=headers) as response,
        ):
            if response.status_code in (401, 403):
                raise _KeyWanted
            if response.status_code != 200:
                return None
            async for piece in response.aiter_raw():
                content += piece
                if len(content) > _MOST_BYTES:
                    return None
        return json.loads(bytes(content))
    except (httpx.HTTPError, TimeoutError, OSError, ValueError, RecursionError):
        return None


def _part(answer: Any, name: str) -> Any:
    """Return that part of an answer, None where there is none."""
    return answer.get(name) if isinstance(answer, dict) else None


def _entries(listed: Any, name: str = "name") -> list[dict[str, Any]]:
    """Return those entries of a list of models that have a name that can be shown."""
    entries = [entry for entry in listed if isinstance(entry, dict)] if isinstance(listed, list) else []
    return [entry for entry in entries if _is_name(entry.get(name))][:_MOST_MODELS]


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and 0 < len(value.strip()) <= _LONGEST_NAME and visible(value) == value


def _ollama_window(about: Mapping[str, Any]) -> int | None:
    """Return the tokens that Ollama reads of a prompt as the model's own parameters say: it cuts the rest without a
    word."""
    tokens = re.search(r"num_ctx\s+(\d{1,9})\b", str(about.get("parameters", "")))
    return int(tokens[1]) if tokens else None


def _name(entry: Mapping[str, Any]) -> str:
    return str(entry["name"])


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value < 1 << 53 else None


def settings_with(settings: Settings, server: FoundServer, model: str = "", embedding: str = "") -> Settings:
    """Return the settings that use the server: its address, as many calls in flight as it answers in parallel, price 0,
    and no limits of a hosted service.

    model, embedding: what Build is to propose; empty: what it proposes of this server already, else the built-in one.
    """
    names = {each.name for each in server.models}

    def kept(chosen: str, name: str) -> str:
        return endpoint_model(chosen) if chosen else name if model_title(name) in names else ""

    return replace(
        settings,
        base_url=server.address,
        concurrency=server.n_slots or server.kind.n_calls,
        requests_per_minute=0,
        tokens_per_minute=0,
        prices={**settings.prices, **dict.fromkeys(sorted(names), Price())},
        build_model=kept(model, settings.build_model),
        build_embedding=kept(embedding, settings.build_embedding),
        answer_model=kept("", settings.answer_model),
    )
