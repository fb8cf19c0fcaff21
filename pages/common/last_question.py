"""The retrieval of the last question to each index, which other pages of the session show too."""

import streamlit as st

from leanrag_core.types.trace import Trace

_KEPT = "lr_last_question"


def keep(index_id: str, trace: Trace) -> None:
    """That retrieval is the last one on the index."""
    st.session_state.setdefault(_KEPT, {})[index_id] = trace


def trace_of(index_id: str) -> Trace | None:
    """The last retrieval on that index in this session, None before the first."""
    trace: Trace | None = st.session_state.get(_KEPT, {}).get(index_id)
    return trace
