"""Where search indexes are kept: in files of each index, or on a Chroma server, which is asked on a click alone."""

from leanrag_core.figures import numbers
from leanrag_core.storage.chroma_server import ChromaSeen
from leanrag_core.types.settings import Settings
from pages.common import addresses, session
from pages.common.frame import message
from pages.common.html import draw, html
from pages.common.messages import say
from pages.settings import settings_form


def panel(settings: Settings) -> None:
    """The server's address, and a test of it."""
    settings_form.address_field(
        say("settings.search.server"),
        "chroma_url",
        settings.chroma_url,
        addresses.CHROMA,
        lambda wanted: settings_form.keep("chroma_url", wanted),
        example=say("settings.search.files"),
        hint=say("settings.search.hint"),
    )
    draw(html('<div class="lr-small lr-muted">{}</div>', say("settings.search.what")))
    seen = settings_form.look_button(
        "server", "chroma_url", settings.chroma_url, session.workbench().searches.servers.look_at, key="test_chroma"
    )
    if seen is not None:
        show_server(seen)


def show_server(seen: ChromaSeen | str) -> None:
    """How fast it answered and what it holds; a text says why nothing was found."""
    if isinstance(seen, str):
        message(seen, kind="error", title=say("settings.search.not_reached"))
        return
    holds = "settings.search.collections" if seen.collections else "settings.search.empty"
    contents, taken = say(holds, n=seen.collections), numbers.duration(seen.seconds)
    said = say("settings.search.answers", url=seen.url, time=taken, version=seen.version, contents=contents)
    message(said, kind="good")
    if seen.in_python:
        message(say("settings.search.in_python"), kind="error")
