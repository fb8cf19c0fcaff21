"""Faster replacements, with the same effect, for parts of Streamlit 1.67 that cost a run much processor time; and
turns.

A page has a hundred elements and sixty widgets, and all sessions of the server wait while one of them is processed. The
replacements are tested against Streamlit's own code (tests/app/test_quicker_runs.py), so that a changed version of
Streamlit is noticed.
"""

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from typing import Any

from streamlit.delta_generator import DeltaGenerator
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.scriptrunner import ScriptRunner
from streamlit.runtime.scriptrunner_utils.script_requests import RerunData
from streamlit.runtime.state import SafeSessionState
from streamlit.runtime.state.common import is_element_id
from streamlit.runtime.state.session_state import _is_internal_key

from leanrag_core.system.turns import Turns

TURNS = Turns(2, head_start_seconds=10, hold_seconds=0.5)
"""Of the runs of all sessions. A slider moves a fragment, which is quick; another page is not."""
_WAITING, _WOKEN = "_lr_waiting", "_lr_woken"


def install() -> None:
    """Replace Streamlit's own functions in this process."""
    for owner, name, instead in (
        (SafeSessionState, "filtered_state", property(FilteredState)),
        (DeltaGenerator, "__deepcopy__", copied),
        (AppSession, "_call_soon_on_event_loop", call_soon),
        (ScriptRunner, "_run_script", in_turn(ScriptRunner._run_script)),
    ):
        setattr(owner, name, instead)  # mypy forbids assigning to a method


class FilteredState(Mapping[str, Any]):
    """The user's keys of a session's state, each looked up on demand.

    Streamlit builds a dictionary of all of them for each select box, number and text input, to look up a single one.
    """

    def __init__(self, state: SafeSessionState) -> None:
        self._state = state

    def __getitem__(self, key: str) -> Any:
        state = self._state
        with state._lock:
            if is_element_id(key) or _is_internal_key(key):
                raise KeyError(key)
            return state._state[key]

    def __iter__(self) -> Iterator[str]:
        state = self._state
        with state._lock:
            return iter(state._state.filtered_state)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __str__(self) -> str:
        return str(dict(self))


def copied(self: DeltaGenerator, memo: dict[int, Any]) -> DeltaGenerator:
    """Copy a DeltaGenerator; everything copied with the same memo shares one copy of its parents.

    A fragment copies the stack of its containers, and Streamlit copies all parents of each again.
    """
    place = DeltaGenerator(
        root_container=self._root_container,
        cursor=deepcopy(self._cursor, memo),
        parent=deepcopy(self._parent, memo),
        block_type=self._block_type,
    )
    place._form_data = deepcopy(self._form_data, memo)
    place._creating_fragment_id = self._creating_fragment_id
    return place


def call_soon(self: AppSession, callback: Callable[[], None]) -> None:
    """Queue the callback for the server's event loop, in order, and wake the loop once for all waiting callbacks.

    A run sends some two hundred messages, and waking the loop for each takes longer than handling it.
    """
    attributes = self.__dict__
    waiting: deque[Callable[[], None]] = attributes.setdefault(_WAITING, deque())
    waiting.append(callback)
    if attributes.get(_WOKEN):  # call_all() clears this mark before it takes the first callback
        return
    attributes[_WOKEN] = True
    loop = self._event_loop

    def call_all() -> None:
        attributes[_WOKEN] = False
        for _ in range(len(waiting)):  # callbacks added meanwhile wake the loop again
            try:
                waiting.popleft()()
            except Exception as error:  # as the loop does with its own callbacks
                loop.call_exception_handler({"message": "Exception in a message of a session", "exception": error})

    try:
        loop.call_soon_threadsafe(call_all)
    except RuntimeError:
        if not loop.is_closed():
            raise
        waiting.clear()


def in_turn(run_script: Callable[[ScriptRunner, RerunData], None]) -> Callable[[ScriptRunner, RerunData], None]:
    """Return a function that runs a script when its turn has come. Requests of the session meanwhile replace the
    waiting run."""

    def run(self: ScriptRunner, rerun_data: RerunData) -> None:
        with TURNS.taken(quick=bool(rerun_data.fragment_id_queue)):
            run_script(self, rerun_data)

    return run
