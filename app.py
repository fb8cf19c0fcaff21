"""Entry of the Streamlit app: `streamlit run app.py`.

The inner script calls st.navigation. An entry that did so itself, with pages/ beside it, would be passed over
when the first request to a fresh server is a deep link.
"""

import sys
from pathlib import Path

import streamlit as st
from starlette.middleware import Middleware

sys.path.insert(0, str(Path(__file__).resolve().parent))

import leanrag_core.workbench  # noqa: F401 - loaded before the first visitor comes, who would wait a second for it
from pages.common import server
from pages.common.server import RequestCheck

server.keep_for_fragments()
app = st.App("pages/common/main.py", routes=server.routes(), middleware=[Middleware(RequestCheck)])
