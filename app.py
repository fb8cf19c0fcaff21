"""Entry of the Streamlit app: `streamlit run app.py`.

The inner script calls st.navigation. An entry that did so itself, with pages/ beside it, would be passed over
when the first request to a fresh server is a deep link.
"""

import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import streamlit as st

sys.path.insert(0, str(Path(__file__).resolve().parent))

import leanrag_core.workbench  # noqa: F401 - loaded before the first visitor comes, who would wait a second for it
from leanrag_core.system.environment import API_PORT_VARIABLE
from pages.common import server, session


@asynccontextmanager
async def lifespan(app: st.App) -> AsyncIterator[dict[str, Any]]:
    """Serve the API for programs beside the app where `serve --api PORT` asked for it: with the same workbench, whose
    models are loaded once, and the same open indexes."""
    if port := os.environ.get(API_PORT_VARIABLE):
        from leanrag_core.serving.asking import Served
        from leanrag_core.serving.running import announced

        announced(Served(session.workbench(), session.open_indexes()), int(port)).begin()
    yield {}


server.keep_for_fragments()
app = st.App("pages/common/main.py", lifespan=lifespan, routes=server.routes(), middleware=[server.request_check()])
