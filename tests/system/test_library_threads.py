"""Threads of libraries that are held to one."""

import json
import subprocess
import sys
import threading

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from leanrag_core.system.library_threads import one_blas_thread, one_thread_in_scikit_learn

_IN_A_NEW_PROCESS = """
import json
from threadpoolctl import threadpool_info
from leanrag_core.system.library_threads import one_thread_in_scikit_learn
with one_thread_in_scikit_learn():
    from scipy.linalg import solve_triangular
    from sklearn.mixture import GaussianMixture
    GaussianMixture(2, random_state=0).fit([[0.0, 1], [1, 0], [5, 5], [5, 6]])
    print(json.dumps([library["num_threads"] for library in threadpool_info()]))
"""


def test_libraries_that_a_process_has_not_loaded_before_run_on_one_thread_too() -> None:
    done = subprocess.run([sys.executable, "-c", _IN_A_NEW_PROCESS], capture_output=True, text=True, check=True)
    held = json.loads(done.stdout)
    assert set(held) == {1}
    assert len(held) > 1, "numpy's BLAS and OpenMP at least"


def threads_of_blas() -> set[int]:
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}


@pytest.mark.parametrize("is_blas_first", [False, True])
def test_threads_of_blas_are_set_back_when_the_last_of_several_users_ends(is_blas_first: bool) -> None:
    contexts = [one_blas_thread, one_thread_in_scikit_learn]
    first, second = contexts if is_blas_first else reversed(contexts)
    entered, may_end = threading.Event(), threading.Event()

    def work_beside() -> None:
        with second():
            entered.set()
            may_end.wait(30)

    with one_thread_in_scikit_learn():
        pass  # all that the two limit is loaded
    with threadpool_limits(limits=2, user_api="blas"):
        beside = threading.Thread(target=work_beside)
        with first():
            beside.start()
            assert entered.wait(30)
            assert threads_of_blas() == {1}
        assert threads_of_blas() == {1}, "the other one still works"
        may_end.set()
        beside.join()
        assert threads_of_blas() == {2}


def test_a_thread_that_is_not_the_first_to_ask_is_held_to_one_too() -> None:
    seen: list[set[int]] = []

    def work_beside() -> None:
        with one_blas_thread():
            seen.append(threads_of_blas())
        seen.append(threads_of_blas())

    with threadpool_limits(limits=2, user_api="blas"):
        with one_blas_thread():
            pass
        beside = threading.Thread(target=work_beside)
        beside.start()
        beside.join()
        assert seen == [{1}, {2}]
