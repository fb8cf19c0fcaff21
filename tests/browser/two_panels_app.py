"""The page of two panels as an app: with the scripts that the app of the workbench serves."""

from pathlib import Path

import streamlit as st

from pages.common import server

app = st.App(Path(__file__).parents[1] / "app" / "two_panels.py", routes=server.routes())
