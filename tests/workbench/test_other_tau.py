"""What another tau is said to change, against a build that has it: relations, islands, calls that are kept."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from leanrag_core import IndexConfig, Workbench
from leanrag_core.indexing.forecasting.relation_calls import relation_calls
from leanrag_core.queries.islands import components, tau_curve
from leanrag_core.types.index import Index
from leanrag_core.types.settings import Price, Settings
from tests.endpoint.coast import CONFIG, story
from tests.endpoint.server import EndpointServer

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def endpoint() -> Iterator[EndpointServer]:
    with EndpointServer() as server:
        yield server


@pytest.fixture(scope="module")
def bench(endpoint: EndpointServer, tmp_path_factory: pytest.TempPathFactory) -> Workbench:
    opened = Workbench.default(tmp_path_factory.mktemp("home"))
    opened.settings.save(Settings(base_url=endpoint.url, prices={"m": Price(1.0, 2.0)}))
    opened.add_documents("Coast", [(f"s{n}.txt", story(n)) for n in range(6)])
    return opened


def built(bench: Workbench, tau: str) -> Index:
    (corpus,) = [corpus.id for corpus in bench.corpora.all() if corpus.name == "Coast"]
    return bench.build(corpus, replace(CONFIG, tau=tau))


def test_the_curve_says_what_another_tau_gives_and_which_calls_are_kept(
    bench: Workbench, endpoint: EndpointServer
) -> None:
    before = built(bench, "2")
    layer, strength = before.layers[1], before.layers[1].relations["strength"].to_numpy()
    calls = relation_calls(before, 1, bench.models.make(), bench.calls)
    assert calls is not None
    assert calls.n_counted == len(strength)
    assert (calls.stored == (strength > 2)).all()  # those above tau were asked, and no others
    assert calls.stored.any()
    assert not calls.stored.all()
    assert (calls.dollars > 0).all()
    expected = tau_curve(layer).at(1)

    after = built(bench, "1,2")
    assert after.id != before.id
    kinds = after.layers[1].relations["kind"].to_pylist()
    assert (kinds.count("summarised"), kinds.count("concatenated")) == (expected.summarised, expected.joined)
    parts, parts_before = (components(len(index.layers[1]), index.layers[1].ends) for index in (after, before))
    assert parts.sizes.tolist() == parts_before.sizes.tolist()  # tau moves nothing off an island
    assert np.array_equal(after.layers[1].relations["strength"].to_numpy(), strength)
    again = relation_calls(after, 1, bench.models.make(), bench.calls)
    assert again is not None
    assert (again.stored == (strength > 1)).all()


def test_the_builtin_engine_makes_no_calls(bench: Workbench) -> None:
    (corpus,) = [corpus.id for corpus in bench.corpora.all() if corpus.name == "Coast"]
    index = bench.build(corpus, IndexConfig(cluster_size=5))
    assert relation_calls(index, 1, bench.models.make(), bench.calls) is None
    assert 0 < bench.builds.seconds_with_other_tau(index).expected < 60
