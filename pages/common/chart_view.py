"""A chart with its table and a download beside it."""

import streamlit as st

from leanrag_core.figures.chart import CONFIG, Chart, as_csv
from pages.common import markup
from pages.common.html import draw
from pages.common.messages import say


def show(chart: Chart, *, title: str, key: str, note: str = "") -> None:
    """The chart under its title, and a fold with the same numbers as a table and as CSV. key: unique on the page."""
    draw(markup.label(title, note))
    # Streamlit's own theme would replace the colours of the palette.
    st.plotly_chart(chart.figure, theme=None, config=dict(CONFIG), key=key, alt=chart.label)
    with st.popover(say("chart.table"), type="tertiary", icon=":material/table_rows:", key=f"table_{key}"):
        draw(markup.muted(f"{chart.label}."), markup.facts_table(chart.head, chart.rows, caption=title))
        st.download_button(
            say("chart.csv"),
            as_csv(chart.head, chart.rows),
            file_name=f"{key}.csv",
            mime="text/csv",
            type="tertiary",
            icon=":material/download:",
            key=f"csv_{key}",
            on_click="ignore",
        )
