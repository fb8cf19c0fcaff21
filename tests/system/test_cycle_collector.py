"""The collector is off while anybody holds it paused, and as before afterwards."""

import gc

import pytest

from leanrag_core.system.threads import collector_paused


def test_off_inside_and_on_again_after_the_last_user() -> None:
    assert gc.isenabled()
    with collector_paused():
        with collector_paused():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()


def test_on_again_after_an_error() -> None:
    with pytest.raises(ValueError, match="broken row"), collector_paused():
        raise ValueError("broken row")
    assert gc.isenabled()


def test_a_collector_that_was_off_stays_off() -> None:
    gc.disable()
    try:
        with collector_paused():
            assert not gc.isenabled()
        assert not gc.isenabled()
    finally:
        gc.enable()
