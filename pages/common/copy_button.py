"""A button that copies a text of the page, or the page's link, in the browser."""

from pathlib import Path

from pages.common.component import component
from pages.common.messages import say

_SCRIPT = Path(__file__).with_name("copy_button.js")
# Hidden, since it has no name before the script writes its label.
_FRAME = '<button type="button" class="lr-copy" style="visibility:hidden"></button>'


def copy_text(label: str, *, source_key: str, key: str) -> None:
    """Draw a button that copies the text of the container with source_key; the page's address if that is empty."""
    labels = {"label": label, "done": say("ask.copied"), "failed": say("ask.copy_failed")}
    component(_SCRIPT, _FRAME)(data={**labels, "of": source_key}, key=key)


def copy_link(*, key: str) -> None:
    """Draw a button that copies the page's address, which holds its state."""
    copy_text(say("ask.copy_link"), source_key="", key=key)
