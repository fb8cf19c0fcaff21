"""A server that answers every chat call with one reply after a pause: it costs so little that its client is measured.

python -m benchmarks.canned_server LATENCY_SECONDS < reply.txt

The first line on standard output is the base URL; it serves until it is ended.
"""

import asyncio
import json
import sys


async def _serve(latency_seconds: float, reply: str) -> None:
    message = {"role": "assistant", "content": reply}
    usage = {"prompt_tokens": 1300, "completion_tokens": 700, "total_tokens": 2000}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    cells = {"id": "canned", "object": "chat.completion", "created": 0, "model": "canned", "choices": [choice]}
    body = json.dumps({**cells, "usage": usage}).encode()
    head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n".encode()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                asked = (await reader.readuntil(b"\r\n\r\n")).lower()
                length = next((line for line in asked.split(b"\r\n") if line.startswith(b"content-length:")), b":0")
                await reader.readexactly(int(length.split(b":")[1]))
                await asyncio.sleep(latency_seconds)
                writer.write(head + body)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):  # the client has gone
            writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0, backlog=256)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(_serve(float(sys.argv[1]), sys.stdin.read()))
