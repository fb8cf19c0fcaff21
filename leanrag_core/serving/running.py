"""The API as a server of the loopback, alone in its process or in a thread beside the app; the tools over stdio."""

import asyncio
import json
import socket
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import uvicorn

from leanrag_core.serving.api import create_app
from leanrag_core.serving.asking import Served
from leanrag_core.serving.mcp_tools import mcp_server
from leanrag_core.serving.start import HOST, VARIABLE, Token, chosen_token, listening_at
from leanrag_core.serving.workers import Workers
from leanrag_core.workbench import Workbench

_END_SECONDS = 1  # that open answers have when the server is told to end


@dataclass(frozen=True, eq=False)
class ApiServer:
    """The API at a port of the loopback. listening: its socket, so that the port is known before it runs."""

    uvicorn: uvicorn.Server
    listening: socket.socket

    @classmethod
    def bound(cls, served: Served, token: Token, port: int) -> Self:
        """Take the port, 0 for a free one. Raises InvalidConfig for one that is taken."""
        config = uvicorn.Config(
            create_app(served, token.text),
            loop="asyncio",
            ws="none",
            log_level="warning",
            access_log=False,  # its lines would hold names of entities
            server_header=False,
            timeout_graceful_shutdown=_END_SECONDS,
        )
        return cls(uvicorn.Server(config), listening_at(port))

    @property
    def url(self) -> str:
        """The address, without a slash at the end."""
        return f"http://{HOST}:{self.listening.getsockname()[1]}"

    def run(self) -> None:
        """Answer until a signal or end() ends it."""
        self.uvicorn.run(sockets=[self.listening])

    def begin(self) -> threading.Thread:
        """Answer in a thread that ends with the process at the latest; return it."""
        thread = threading.Thread(target=self.run, daemon=True, name="api")
        thread.start()
        return thread

    def end(self) -> None:
        """Tell it to end, from any thread."""
        self.uvicorn.should_exit = True


def served_in(home: Path | None) -> Served:
    """Return what is served of the workbench in that folder, by default of the person's own; the very first start
    begins to build the sample index, as the app does."""
    bench = Workbench.default(home)
    bench.builds.start_first_sample()
    return Served(bench)


def announced(served: Served, port: int) -> ApiServer:
    """Return the API with the token that the environment chooses, and print where it is; a token that was made is
    printed, one of the environment is not. Raises InvalidConfig for a port that is taken or a token that is unfit."""
    token = chosen_token()
    server = ApiServer.bound(served, token, port)
    token_note = f"{token.text} (of this start; {VARIABLE} sets one)" if token.made else f"that of {VARIABLE}"
    print(f"API for programs: {server.url} (described at {server.url}/openapi.json), token: {token_note}", flush=True)
    return server


def serve_tools(served: Served) -> None:
    """Speak the Model Context Protocol over standard input and output, until the input ends."""

    async def speak() -> None:
        await mcp_server(served, Workers()).run_stdio_async()

    asyncio.run(speak())


def description() -> str:
    """Return the API's description by OpenAPI, as JSON; the same for every workbench."""
    described: dict[str, Any] = create_app(Served(Workbench.default()), "").openapi()
    return json.dumps(described, indent=2, ensure_ascii=False)
