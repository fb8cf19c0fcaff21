"""The inner script of the app: it lists the pages and runs the requested one."""

from pathlib import Path

import streamlit as st

from leanrag_core.errors import LeanRAGError
from leanrag_core.messages.catalog import ENGLISH
from pages.common import dialogs, keys, messages, page_change, session, tour
from pages.common.frame import PAGES, mark_path, plain_errors
from pages.palette import view as palette

st.set_page_config(page_title="LeanRAG workbench", page_icon=mark_path(), layout="wide", initial_sidebar_state=236)
keys.provide()
try:
    messages.begin(session.workbench().settings.read().language)
except LeanRAGError:  # every page shows this error
    messages.begin(ENGLISH)
folder = Path(__file__).resolve().parents[1]
pages = [
    st.Page(folder / name / "page.py", title=messages.say(f"page.{name}"), icon=f":material/{icon}:", url_path=name)
    for name, icon in PAGES
]


def home() -> None:
    # A default page has no path of its own: if Library were it, /library would not be found. So this one redirects.
    if not st.query_params:
        tour.arrive()
    st.switch_page(pages[0], query_params=st.query_params)


chosen = st.navigation([*pages, st.Page(home, title="Home", default=True, visibility="hidden")], expanded=True)
page_change.resume(chosen.url_path)
dialogs.begin(chosen.url_path)
tour.show(chosen.url_path)
with st.sidebar:
    palette.show()
messages.show_toast()
with plain_errors():  # such as a full disk, which may occur on any page
    chosen.run()
dialogs.end()
page_change.end()
