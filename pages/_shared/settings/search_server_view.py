"""Where search indexes are kept: in files of each index, or on a Chroma server, which is asked on a click alone."""

from leanrag_core.figures import numbers
from leanrag_core.storage.chroma_address import ChromaSeen
from leanrag_core.types.settings import Settings
from pages._shared.common import addresses, session
from pages._shared.common.frame import message
from pages._shared.common.html import draw, html
from pages._shared.settings import settings_form


def panel(settings: Settings) -> None:
    """The server's address, and a test of it."""
    settings_form.address_field(
        "Chroma server",
        "chroma_url",
        settings.chroma_url,
        addresses.CHROMA,
        lambda wanted: settings_form.keep("chroma_url", wanted),
        example="files of each index",
        hint="An address such as http://127.0.0.1:8000. Empty keeps the search index in files of each index.",
    )
    draw(
        html(
            '<div class="lr-small lr-muted">An index gets a search index when a layer has more than 50,000 entities, '
            "or when it is made on Build (Index parts). A server lets several processes search at a time. It has no "
            "passwords: keep it on this machine or a private network.</div>"
        )
    )
    seen = settings_form.look_button(
        "server", "chroma_url", settings.chroma_url, session.workbench().look_at_chroma, key="test_chroma"
    )
    if seen is not None:
        show_server(seen)


def show_server(seen: ChromaSeen | str) -> None:
    """How fast it answered and what it holds; a text says why nothing was found."""
    if isinstance(seen, str):
        message(seen, kind="error", title="Not reached.")
        return
    contents = f"with {numbers.counted(seen.collections, 'collection')}" if seen.collections else "still empty"
    message(f"{seen.url} answers in {numbers.duration(seen.seconds)}: Chroma {seen.version}, {contents}.", kind="good")
    if seen.in_python:
        message(
            "This is the server in Python, which lets strangers run code (CVE-2026-45829). Start 'chroma run' in its "
            "place.",
            kind="error",
        )
