"""Serves the API in a thread of the tests, and reads what it streams."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx

from leanrag_core.serving.asking import Served
from leanrag_core.serving.running import ApiServer
from leanrag_core.serving.start import Token

INDEX = "sample-agriculture-064950b2"
TOKEN = "a-token-of-the-tests"
QUESTION = "What do bees do in winter?"


@dataclass(frozen=True)
class Event:
    """An event of a stream."""

    name: str
    values: Any


def client_of(url: str, token: str = TOKEN) -> httpx.Client:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    return httpx.Client(base_url=url, headers=headers, timeout=60, trust_env=False)


@contextmanager
def running(served: Served) -> Iterator[str]:
    """Serve until the block ends; yield the address."""
    server = ApiServer.bound(served, Token(TOKEN, made=False), 0)
    thread = server.begin()
    try:
        yield server.url
    finally:
        server.end()
        thread.join(20)
        assert not thread.is_alive()


def events_of(lines: Iterator[str]) -> Iterator[Event]:
    name = ""
    for line in lines:
        field, _, value = line.partition(": ")
        if field == "event":
            name = value
        elif field == "data":
            yield Event(name, json.loads(value))
