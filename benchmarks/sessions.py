"""Many sessions on one server: each asks, explores, compares, moves sliders, and reads what it gets, as a person does.

A session is a websocket that says what a browser says. What a browser then draws is not in the seconds: they go from
the message to the server's word that the run has ended. One session more does heavy work in the second half: it moves
the board of Compare over a whole question set, again and again.
"""

import asyncio
import os
import random
import resource
import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

if TYPE_CHECKING:
    from websockets.asyncio.client import ClientConnection

TITLE = "Sessions on one server (sample index, built-in models; seconds from a message to the end of its run)"
SIZES = (1, 10, 50)

_SAMPLE = "sample-agriculture"
_SECONDS = 60.0  # of each half
_PAUSE = (3.0, 12.0)  # seconds that a person reads
_SLIDER_MOVES = (1, 3)  # of one question, one after the other
_LONGEST = 120.0  # seconds that a run is waited for
_SEED = 7


def measure(size: int) -> dict[str, float | int | str]:
    """Return latency by what was done, the spread over sessions, and the server's memory, with that many sessions."""
    from benchmarks.pages import _memory, server
    from leanrag_core import Workbench

    with tempfile.TemporaryDirectory() as folder:
        bench = Workbench.default(Path(folder))
        bench.corpora.all()
        bench.builds.start_first_sample()
        questions = [question.question for question in bench.corpora.samples.questions(_SAMPLE)]
        with server(Path(folder)) as (url, pid):
            quiet, busy = asyncio.run(_both_halves(url, size, questions, pid))
            memory = _memory(pid)
    figures: dict[str, float | int | str] = {"runs": sum(map(len, quiet.seconds.values()))}
    for kind, seconds in sorted(quiet.seconds.items()):
        figures |= {f"{kind}_s": _median(seconds), f"{kind}_p95_s": _quantile(seconds)}
    figures |= {
        "server_processor_ms_a_run": round(1000 * quiet.processor_s / max(1, sum(map(len, quiet.seconds.values())))),
        "slider_beside_board_s": _median(busy.seconds["slider"]),
        "slider_beside_board_p95_s": _quantile(busy.seconds["slider"]),
        "slowest_session_to_median": round(_slowest_to_median(quiet), 2),
        "errors": quiet.errors + busy.errors,
        "server_memory_mb": round(memory),
        "own_processor_s": round(resource.getrusage(resource.RUSAGE_SELF).ru_utime, 1),
    }
    return figures


@dataclass
class Half:
    """What the sessions of one half saw: seconds by kind, of the slider also by session; errors that a page showed; and
    the server's processor seconds."""

    seconds: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    of_session: dict[int, list[float]] = field(default_factory=lambda: defaultdict(list))
    errors: int = 0
    processor_s: float = 0.0


async def _both_halves(url: str, size: int, questions: list[str], pid: int) -> tuple[Half, Half]:
    quiet, busy = Half(), Half()
    async with _Session.opened(url) as first:  # who loads libraries and models for all
        for kind in ("explore", "compare", "ask"):
            await first.page(kind, {} if kind == "explore" else {"q": questions[0]})
    for half, heavy in ((quiet, False), (busy, True)):
        until, before = time.monotonic() + _SECONDS, _processor_s(pid)
        people = [_person(url, number, questions, half, until) for number in range(size)]
        if heavy:
            people.append(_board(url, until))
        await asyncio.gather(*people)
        half.processor_s = _processor_s(pid) - before
    return quiet, busy


async def _person(url: str, number: int, questions: list[str], half: Half, until: float) -> None:
    """Ask, move a slider, look at Explore, compare, and read in between, until the time is over."""
    chance = random.Random(_SEED + number)
    await asyncio.sleep(chance.uniform(0, _PAUSE[1]))
    async with _Session.opened(url) as session:
        while time.monotonic() < until:
            kind = chance.choices(("ask", "explore", "compare"), (4, 3, 2))[0]
            asked = {} if kind == "explore" else {"q": chance.choice(questions)}
            half.seconds[kind].append(await session.page(kind, asked))
            await asyncio.sleep(chance.uniform(*_PAUSE))
            for _ in range(chance.randint(*_SLIDER_MOVES) if kind == "ask" else 0):
                seconds = await session.slider(chance.randint(3, 20))
                half.seconds["slider"].append(seconds)
                half.of_session[number].append(seconds)
                await asyncio.sleep(chance.uniform(0.5, 2))
        half.errors += session.errors


async def _board(url: str, until: float) -> None:
    """Open the board of Compare at one setting after the other; each is scored over the whole question set."""
    async with _Session.opened(url) as session:
        step = 0
        while time.monotonic() < until:
            await session.page("compare", {"cview": "board", "bset": f"top_n={3 + step % 25};top_c={1 + step % 9}"})
            step += 1


class _Session:
    """One websocket of the app, after its first run."""

    def __init__(self, socket: "ClientConnection") -> None:
        self._socket = socket
        self._address = ""
        self._slider: Any = None  # the first slider of the page, and the fragment that it stands in
        self._fragment = ""
        self.errors = 0

    @classmethod
    @asynccontextmanager
    async def opened(cls, url: str) -> AsyncIterator["_Session"]:
        """Yield a session of the app at that address, which ends with the block."""
        from websockets.asyncio.client import connect
        from websockets.typing import Origin, Subprotocol

        address, subprotocols = url.replace("http", "ws", 1) + "/_stcore/stream", [Subprotocol("streamlit")]
        async with connect(
            address, origin=Origin(url), subprotocols=subprotocols, max_size=None, proxy=None, open_timeout=_LONGEST
        ) as socket:
            yield cls(socket)

    async def page(self, name: str, query: Mapping[str, str]) -> float:
        """Open the page at that address; seconds until its run has ended."""
        self._address, self._slider, self._fragment = urlencode(query), None, ""
        return await self._run(page_name=name)

    async def slider(self, value: int) -> float:
        """Move the first slider of the page there; seconds until the run has ended."""
        return await self._run(value=float(value))

    async def _run(self, *, page_name: str = "", value: float | None = None) -> float:
        from streamlit.proto.BackMsg_pb2 import BackMsg

        message = BackMsg()
        asked = message.rerun_script
        asked.query_string, asked.page_name = self._address, page_name
        if value is not None:
            assert self._slider is not None, "the page has no slider"
            asked.fragment_id = self._fragment
            moved = asked.widget_states.widgets.add(id=self._slider.id)
            moved.double_array_value.data.append(value)
        began = time.perf_counter()
        await self._socket.send(message.SerializeToString())
        await asyncio.wait_for(self._end_of_run(), _LONGEST)
        return time.perf_counter() - began

    async def _end_of_run(self) -> None:
        """Read messages until the script says that it has ended, and note the first slider and what went wrong."""
        from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

        begun = False
        async for content in self._socket:
            assert isinstance(content, bytes)
            message = ForwardMsg.FromString(content)
            kind = message.WhichOneof("type")
            if kind == "new_session":
                begun = True
            elif kind == "delta" and message.delta.WhichOneof("type") == "new_element":
                element = message.delta.new_element
                self.errors += element.WhichOneof("type") == "exception"
                if element.WhichOneof("type") == "slider" and self._slider is None:
                    self._slider, self._fragment = element.slider, message.delta.fragment_id
            elif kind == "script_finished" and begun:
                if message.script_finished == ForwardMsg.FINISHED_EARLY_FOR_RERUN:
                    begun = False
                else:
                    return
        raise RuntimeError("the server closed the session")


def _processor_s(pid: int) -> float:
    """Return the seconds of a processor that the process has had."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _median(seconds: list[float]) -> float:
    return round(statistics.median(seconds), 3) if seconds else float("nan")


def _quantile(seconds: list[float]) -> float:
    return round(sorted(seconds)[min(len(seconds) - 1, int(0.95 * len(seconds)))], 3) if seconds else float("nan")


def _slowest_to_median(half: Half) -> float:
    """Return the slowest session's median slider over the median of all sessions; 1 where there is one."""
    medians = [statistics.median(seconds) for seconds in half.of_session.values()]
    return max(medians) / statistics.median(medians) if medians else float("nan")
