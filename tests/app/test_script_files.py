"""Scripts and style sheets of components as files: an address has one content for ever, and nothing else is served."""

import tracemalloc
from collections import Counter
from itertools import permutations
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from leanrag_core.figures.scripts import script_path
from pages.common import server

PAGES = Path(server.__file__).resolve().parents[1]
SVG, LAYERS = script_path("svg"), script_path("layers")


def test_an_address_holds_its_files_one_after_the_other_and_is_kept_by_browsers() -> None:
    client = TestClient(Starlette(routes=server.routes()))
    answer = client.get("/" + server.address([SVG, LAYERS]))
    assert answer.text == f"{SVG.read_text(encoding='utf-8')}\n{LAYERS.read_text(encoding='utf-8')}"
    assert answer.headers["content-type"].startswith("text/javascript")
    assert "immutable" in answer.headers["cache-control"]


def test_nothing_else_is_served() -> None:
    client = TestClient(Starlette(routes=server.routes()))
    known = server.address([SVG])
    digest = known.split(".")[-2]
    others = ["lr/session.py", f"lr/..%2f..%2fapp.{digest}.js", f"lr/svg.layers.{digest}.js", f"lr/svg.{digest}.css"]
    others += [f"lr/.{digest}.js", f"lr/svg.{'0' * 16}.js", "lr/svg.js", f"lr/..%2fframe.{digest}.py"]
    assert [client.get(f"/{path}").status_code for path in others] == [404] * len(others)
    assert client.get(f"/{known}").status_code == 200


def test_an_address_with_a_repeated_name_is_refused_and_nothing_is_kept_of_it() -> None:
    client = TestClient(Starlette(routes=server.routes()))
    twice = server.address([SVG, SVG])  # with its right digest
    tracemalloc.start()
    try:
        answers = [client.get(f"/{twice}"), client.get(f"/lr/{'svg.' * 8000}{'0' * 16}.js")]
        before, _ = tracemalloc.get_traced_memory()
        answers += [client.get(f"/lr/{'svg.' * (8000 + n)}{'0' * 16}.js") for n in range(6)]
        after, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert [answer.status_code for answer in answers] == [404] * 8
    assert max(after, peak) - before < 5_000_000  # joined, the 8,000 scripts of one address would be 100 MB


def test_any_order_of_names_is_made_of_files_that_are_kept_once(monkeypatch: pytest.MonkeyPatch) -> None:
    joined: list[object] = []
    monkeypatch.setattr(server, "_content", lambda *given: joined.append(given))
    paths = [script_path(name) for name in ("svg", "layers", "play_map")]
    for order in permutations(path.stem for path in paths):
        assert server.content_at(f"{'.'.join(order)}.{'0' * 16}.js") is None
    assert joined == []
    assert server._text.cache_info().currsize <= len(server._paths())


def test_every_script_and_style_sheet_has_a_name_of_its_own() -> None:
    folders = (PAGES, SVG.parent)
    names = Counter(path.name for folder in folders for kind in ("js", "css") for path in folder.rglob(f"*.{kind}"))
    assert [name for name, n in names.items() if n > 1 or name.count(".") > 1] == []
