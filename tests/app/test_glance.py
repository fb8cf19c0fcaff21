"""A page reads what its session remembers without the way through Streamlit's state, and never another session's."""

import pytest
from streamlit.testing.v1 import AppTest

from pages.common import state


def sentences() -> None:
    import streamlit as st

    from pages.common import messages, state

    messages.begin(str(st.query_params.get("setting", "en")))
    state.remember("index", st.query_params.get("index"))
    said = [messages.say("page.ask") for _ in range(50)]
    st.text(" ".join([*dict.fromkeys(said), state.recall("index")]))


def test_fifty_sentences_of_a_run_ask_streamlit_for_the_memory_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    memory = state.memory

    def counted() -> state.Memory:
        asked.append("memory")
        return memory()

    monkeypatch.setattr(state, "memory", counted)
    app = AppTest.from_function(sentences).run()
    assert not app.exception
    assert len(asked) <= 5


def test_each_session_has_its_own_language_and_its_own_values() -> None:
    first, second = AppTest.from_function(sentences), AppTest.from_function(sentences)
    first.query_params = {"setting": "en", "index": "one"}
    second.query_params = {"setting": "zh", "index": "two"}
    for _ in range(2):
        first.run()
        second.run()
    assert first.text[0].value == "Ask one"
    assert second.text[0].value.endswith(" two")
    assert "Ask" not in second.text[0].value
