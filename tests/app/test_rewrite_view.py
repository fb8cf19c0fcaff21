"""Rewriting upper layers on the Build page: what it takes, the job, what it changed."""

from collections.abc import Callable
from pathlib import Path

from streamlit.testing.v1 import AppTest

from leanrag_core import Workbench
from leanrag_core.jobs import runner
from leanrag_core.jobs.events import read_spec
from leanrag_core.types.settings import Settings
from tests.app import drawn
from tests.endpoint.server import EndpointServer

Visit = Callable[..., AppTest]


def opened(home: Workbench, visit: Visit, **url: str) -> AppTest:
    """Open the Build page with the fold open."""
    app = visit("build", home, **url)
    app.session_state["index_rewrite"] = True
    app.run()
    assert not app.exception
    return app


def test_without_an_endpoint_the_fold_leads_to_settings(home: Workbench, visit: Visit) -> None:
    app = opened(home, visit)
    assert "No model is set up." in drawn.text(app)
    assert app.button("open_settings")


def test_layers_are_chosen_forecast_and_written_by_a_job(
    home: Workbench, visit: Visit, launched: list[Path], endpoint: EndpointServer
) -> None:
    home.settings.save(Settings(base_url=endpoint.url))
    app = opened(home, visit, rw_model="scripted-chat")
    whole = home.rewrites.forecast(home.indexes.open(home.indexes.all()[0].id), "openai:scripted-chat")
    assert f"{whole.calls:,} calls, about" in drawn.text(app)
    app.selectbox("rewrite_layers").select(1).run()
    assert "1 call, about" in drawn.text(app)
    app.number_input("rewrite_calls").set_value(20).run()
    endpoint.clear()
    app.button("primary_rewrite").click().run()
    assert not app.exception
    assert endpoint.answered("aggregate_entity") == []
    [folder] = launched
    index_id, top = home.indexes.all()[0].id, len(home.indexes.all()[0].layers) - 1
    arguments = read_spec(folder).arguments
    assert (arguments["index"], arguments["from_layer"], arguments["budget"]["calls"]) == (index_id, top, 20)

    assert runner.run(folder, home.works()) == 0
    done = visit("build", home, job=folder.name)
    assert not done.exception
    text = drawn.text(done)
    assert "upper layers" in text
    assert f"Layer {top} was written again" in text
    assert "The model wrote all of them." in text
