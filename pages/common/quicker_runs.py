"""Places of Streamlit 1.67 in which a run's processor time goes, done in less of it and to the same effect; and turns.

A page has a hundred elements and sixty widgets, and what each of them takes all sessions of the server wait for. What
is replaced here is tested against Streamlit's own (tests/app/test_quicker_runs.py), so that a new version that differs
is noticed.
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
    """Take the places of Streamlit's own, for this process."""
    for owner, name, instead in (
        (SafeSessionState, "filtered_state", property(FilteredState)),
        (DeltaGenerator, "__deepcopy__", copied),
        (AppSession, "_call_soon_on_event_loop", call_soon),
        (ScriptRunner, "_run_script", in_turn(ScriptRunner._run_script)),
    ):
        setattr(owner, name, instead)  # mypy lets no method be assigned


class FilteredState(Mapping[str, Any]):
    """What a session's state holds under the keys of its user, each looked up when it is asked for.

    Streamlit makes a dictionary of all of them for each select box, number and text input, to look one up.
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
    """Copy a place of the page, what it stands in once for all that is copied with it.

    A fragment copies the stack of the places that it stands in, and each of them all of its parents again.
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
    """Have the server's event loop call that, in order, and wake it once for all that it has not come to yet.

    A run sends some two hundred messages; to wake the loop for each takes longer than to handle it.
    """
    held = self.__dict__
    waiting: deque[Callable[[], None]] = held.setdefault(_WAITING, deque())
    waiting.append(callback)
    if held.get(_WOKEN):  # it takes that mark away before it takes the first of them
        return
    held[_WOKEN] = True
    loop = self._event_loop

    def call_all() -> None:
        held[_WOKEN] = False
        for _ in range(len(waiting)):  # what comes meanwhile has its own turn
            try:
                waiting.popleft()()
            except Exception as error:  # as the loop does with a callback of its own
                loop.call_exception_handler({"message": "Exception in a message of a session", "exception": error})

    try:
        loop.call_soon_threadsafe(call_all)
    except RuntimeError:
        if not loop.is_closed():
            raise
        waiting.clear()


def in_turn(run_script: Callable[[ScriptRunner, RerunData], None]) -> Callable[[ScriptRunner, RerunData], None]:
    """Return what runs a script when its turn has come. What its session asks meanwhile takes the run's place."""

    def run(self: ScriptRunner, rerun_data: RerunData) -> None:
        with TURNS.taken(quick=bool(rerun_data.fragment_id_queue)):
            run_script(self, rerun_data)

    return run
