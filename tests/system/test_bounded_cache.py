from leanrag_core.system.threads import BoundedCache
from tests.sharing import SlowKey, errors_at_once


def test_the_values_used_last_are_kept() -> None:
    cache: BoundedCache[str, int | None] = BoundedCache(2)
    assert cache.get_or_make("a", lambda: 1) == 1
    assert cache.get_or_make("b", lambda: None) is None
    assert cache.get_or_make("a", lambda: 5) == 1
    assert cache.keep("c", 3) == 3
    assert ("a" in cache, "b" in cache, "c" in cache) == (True, False, True)
    assert (cache.get("a", 0), cache.get("b", 0)) == (1, 0)
    assert cache.get_or_make("b", lambda: 2) == 2


def test_threads_that_keep_and_read_at_once_each_get_the_value_of_their_key() -> None:
    cache: BoundedCache[SlowKey, int] = BoundedCache(2)

    def step(n: int) -> None:
        key = SlowKey(n % 4)
        assert cache.get_or_make(key, lambda: n % 4) == n % 4
        assert cache.get(key, n % 4) == n % 4

    assert errors_at_once(step, steps=200) == []
