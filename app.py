"""Entry of the Streamlit app: `streamlit run app.py`.

The inner script calls st.navigation. If this file called it itself, with pages/ beside it, Streamlit would ignore it
when the first request to a fresh server is a deep link.
"""

import gc
import os
import sys
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import streamlit as st

sys.path.insert(0, str(Path(__file__).resolve().parent))

from leanrag_core.system.environment import API_PORT_VARIABLE
from leanrag_core.system.threads import collector_paused
from pages.common import quicker_runs, server

with collector_paused():  # what is loaded stays: the search for reference cycles, which stops all pages, passes it over
    import leanrag_core.workbench  # noqa: F401 - loaded before the first visitor comes, who would wait a second for it

    gc.freeze()


def serve_api(port: int) -> None:
    """Serve the API for programs, with the app's workbench, whose models are loaded once, and its open indexes."""
    from leanrag_core.serving.asking import Served
    from leanrag_core.serving.running import announced
    from pages.common import session

    announced(Served(session.workbench(), session.open_indexes()), port).run()


def load_ahead() -> None:
    """Load in the background what the first comparison would otherwise wait a second for."""
    import scipy.sparse  # noqa: F401


@asynccontextmanager
async def lifespan(app: st.App) -> AsyncIterator[dict[str, Any]]:
    """Start the API beside the app if `serve --api PORT` requested it; the app does not wait for its libraries."""
    threading.Thread(target=load_ahead, daemon=True, name="load ahead").start()
    if port := os.environ.get(API_PORT_VARIABLE):
        threading.Thread(target=serve_api, args=(int(port),), daemon=True, name="api").start()
    yield {}


server.keep_for_fragments()
quicker_runs.install()
app = st.App("pages/common/main.py", lifespan=lifespan, routes=server.routes(), middleware=[server.request_check()])
