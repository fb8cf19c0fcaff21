"""The official client of the Model Context Protocol uses the tools, over stdio and over HTTP."""

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable
from typing import Any

import httpx2
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from leanrag_core import Workbench
from tests.serving.served import INDEX, QUESTION, TOKEN

pytestmark = pytest.mark.slow
TOOLS = ["ask", "entity", "indexes", "neighbours", "path", "search"]


def over_stdio(bench: Workbench, use: Callable[[Client], Awaitable[None]]) -> None:
    command = ["-m", "leanrag_core", "mcp", "--home", str(bench.root)]
    server = StdioServerParameters(command=sys.executable, args=command, env=dict(os.environ))

    async def run() -> None:
        async with Client(server, read_timeout_seconds=120) as client:
            await use(client)

    asyncio.run(run())


async def called(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    values: dict[str, Any] = result.structured_content
    return values


def test_an_assistant_uses_every_tool_over_stdio(bench: Workbench) -> None:
    async def use(client: Client) -> None:
        listed = await client.list_tools()
        assert sorted(tool.name for tool in listed.tools) == TOOLS
        assert all(tool.description and tool.output_schema for tool in listed.tools)
        [index] = (await called(client, "indexes"))["indexes"]
        assert index["id"] == INDEX
        own = bench.ask(INDEX, QUESTION)
        for _ in range(2):
            answered = await called(client, "ask", index=INDEX, question=QUESTION)
            assert (answered["answer"], answered["grounded"]) == (own.text, True)
            assert {source["mark"] for source in answered["sources"]} == set(own.citations)
        found = await called(client, "search", index=INDEX, question=QUESTION, documents=["season-calendar.html"])
        passages = [source["name"] for source in found["sources"] if source["kind"] == "passage"]
        assert set(passages) == {"season-calendar.html"}
        entity = await called(client, "entity", index=INDEX, name="queen bee")
        near = (await called(client, "neighbours", index=INDEX, name=entity["id"], limit=1))["neighbours"]
        ways = await called(client, "path", index=INDEX, first=entity["id"], second=near[0]["entity"]["name"])
        assert [hop["entity"] for hop in ways["by_relations"]][-1] == near[0]["entity"]
        for wrong, code in (
            ({"index": "none", "name": "queen bee"}, "index.not_found"),
            ({"index": INDEX, "name": "queen"}, "serving.no_entity_but"),
        ):
            refused = await client.call_tool("entity", wrong)
            assert refused.is_error
            assert code in refused.content[0].text

    over_stdio(bench, use)


def test_the_same_tools_answer_over_http_with_the_token(url: str) -> None:
    async def run() -> None:
        headers = {"Authorization": f"Bearer {TOKEN}"}
        async with (
            httpx2.AsyncClient(headers=headers, trust_env=False) as http,
            Client(streamable_http_client(f"{url}/mcp", http_client=http)) as client,
        ):
            assert sorted(tool.name for tool in (await client.list_tools()).tools) == TOOLS
            assert (await called(client, "indexes"))["indexes"][0]["id"] == INDEX

    asyncio.run(run())
