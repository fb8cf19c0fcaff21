"""What takes the place of Streamlit's own does the same, in less of a run's time."""

import asyncio
import threading
from copy import deepcopy
from types import SimpleNamespace
from typing import Any, cast

import pytest
from streamlit.cursor import RunningCursor
from streamlit.delta_generator import DeltaGenerator
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.scriptrunner import ScriptRunner
from streamlit.runtime.scriptrunner_utils.script_requests import RerunData
from streamlit.runtime.state import SafeSessionState, SessionState

from pages.common import quicker_runs


def test_what_a_session_holds_reads_as_streamlits_own_dictionary_of_it() -> None:
    state = SessionState()
    state["question"], state["none"], state["$$STREAMLIT_INTERNAL_KEY_X"] = "Who?", None, 1
    safe = SafeSessionState(state, lambda: None)
    filtered, own = quicker_runs.FilteredState(safe), safe.filtered_state
    assert own == {"question": "Who?", "none": None}
    assert dict(filtered) == own
    assert (len(filtered), list(filtered), str(filtered)) == (len(own), list(own), str(own))
    keys = ("question", "none", "missing", "$$STREAMLIT_INTERNAL_KEY_X", "$$ID-abc-None")
    assert [key in filtered for key in keys] == [key in own for key in keys]


def test_to_look_one_key_up_reads_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    state = SessionState()
    for number in range(50):
        state[f"key {number}"] = number
    asked: list[str] = []
    own = SessionState.__getitem__

    def counted(self: SessionState, key: str) -> Any:
        asked.append(key)
        return own(self, key)

    monkeypatch.setattr(SessionState, "__getitem__", counted)
    filtered = quicker_runs.FilteredState(SafeSessionState(state, lambda: None))
    assert filtered["key 7"] == 7
    assert asked == ["key 7"]


def test_places_that_are_copied_together_keep_what_they_stand_in_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(DeltaGenerator, "__deepcopy__", quicker_runs.copied)
    page = DeltaGenerator(root_container=0, cursor=RunningCursor(0), block_type="vertical")
    column = DeltaGenerator(root_container=0, cursor=RunningCursor(0, (1,)), parent=page, block_type="column")
    page_copy, column_copy = deepcopy((page, column))
    assert column_copy._parent is page_copy
    assert page_copy is not page
    assert column_copy._cursor is not column._cursor
    assert column_copy._get_delta_path_str() == column._get_delta_path_str()
    assert (column_copy._block_type, column_copy._root_container) == ("column", 0)


class Loop:
    """An event loop that is woken and told of errors."""

    def __init__(self) -> None:
        self.woken: list[Any] = []
        self.errors: list[dict[str, Any]] = []

    def call_soon_threadsafe(self, callback: Any) -> None:
        self.woken.append(callback)

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        self.errors.append(context)

    def is_closed(self) -> bool:
        return False

    def turn(self) -> None:
        woken, self.woken = self.woken, []
        for callback in woken:
            callback()


def test_the_loop_is_woken_once_for_all_messages_that_wait_and_takes_them_in_order() -> None:
    loop, taken = Loop(), list[int]()
    session = cast(AppSession, SimpleNamespace(_event_loop=loop))
    for number in range(5):
        quicker_runs.call_soon(session, lambda number=number: taken.append(number))  # type: ignore[misc]
    assert len(loop.woken) == 1
    loop.turn()
    assert taken == [0, 1, 2, 3, 4]


def test_a_message_that_fails_stops_none_behind_it_and_one_that_comes_meanwhile_has_its_turn() -> None:
    loop, taken = Loop(), list[str]()
    session = cast(AppSession, SimpleNamespace(_event_loop=loop))

    def fails() -> None:
        quicker_runs.call_soon(session, lambda: taken.append("meanwhile"))
        raise ValueError("broken")

    quicker_runs.call_soon(session, fails)
    quicker_runs.call_soon(session, lambda: taken.append("behind"))
    loop.turn()
    assert taken == ["behind"]
    assert [str(context["exception"]) for context in loop.errors] == ["broken"]
    loop.turn()
    assert taken == ["behind", "meanwhile"]


def test_no_message_is_lost_between_two_threads_and_the_loop() -> None:
    taken: list[int] = []

    async def listen() -> None:
        session = cast(AppSession, SimpleNamespace(_event_loop=asyncio.get_running_loop()))

        def send() -> None:
            for _ in range(2000):
                quicker_runs.call_soon(session, lambda: taken.append(1))

        threads = [threading.Thread(target=send) for _ in range(2)]
        for thread in threads:
            thread.start()
        for _ in range(2000):
            await asyncio.sleep(0.005)
            if len(taken) == 4000:
                break
        for thread in threads:
            thread.join()

    asyncio.run(listen())
    assert len(taken) == 4000


def test_a_run_of_a_fragment_asks_for_a_quick_turn() -> None:
    asked: list[bool] = []

    def ran(self: ScriptRunner, data: RerunData) -> None:
        asked.append(quicker_runs.TURNS.is_idle)

    run = quicker_runs.in_turn(ran)
    run(cast(ScriptRunner, None), RerunData(fragment_id_queue=["f"]))
    assert asked == [False]  # it holds its turn while it runs
    assert quicker_runs.TURNS.is_idle
