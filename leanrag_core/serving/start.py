"""What a start of the app or the API needs before any library of it is loaded: its token, its port and its home."""

import errno
import os
import secrets
import socket
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile

from leanrag_core.errors import InvalidConfig, StorageFailed
from leanrag_core.system.environment import default_home

HOST = "127.0.0.1"
VARIABLE = "LEANRAG_API_TOKEN"
_SHORTEST = 16  # characters of a token that a person chose
_FULL = (errno.ENOSPC, errno.EDQUOT)  # a start helps then: what is not needed is deleted in the app


@dataclass(frozen=True)
class Token:
    """The token of a server. made: at its start, so that it has to be told."""

    text: str
    made: bool


def chosen_token() -> Token:
    """Return the token of the environment, else one that is made now. Raises InvalidConfig for one that is easily
    guessed or that a header cannot hold."""
    token_text = os.environ.get(VARIABLE, "")
    if not token_text:
        return Token(secrets.token_urlsafe(32), made=True)
    if len(token_text) < _SHORTEST or not (token_text.isascii() and token_text.isprintable()) or " " in token_text:
        raise InvalidConfig("serving.token_unfit", variable=VARIABLE, n=_SHORTEST)
    return Token(token_text, made=False)


def listening_at(port: int) -> socket.socket:
    """Take the port of the loopback, 0 for a free one. Raises InvalidConfig for one that is taken."""
    # With its protocol named, asyncio sends small pieces at once; else each waits 40 ms for the client's receipt.
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((HOST, port))
        listening.listen()
    except (OSError, OverflowError) as error:
        listening.close()
        raise InvalidConfig("serving.port_taken", port=port) from error
    return listening


def require_startable(port: int) -> None:
    """Raise InvalidConfig where a start would; for callers that start the API in another process."""
    chosen_token()
    listening_at(port).close()


def require_home(home: Path | None) -> None:
    """Make the folder of corpora and indexes, by default the person's own. Raises StorageFailed where it cannot be made
    or written."""
    folder = Path(home or os.environ.get("LEANRAG_HOME") or default_home()).resolve()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        TemporaryFile(dir=folder).close()
    except OSError as error:
        if error.errno in _FULL:
            return
        raise StorageFailed("serving.home_unfit", folder=str(folder), reason=error.strerror or str(error)) from error
