"""A button that copies a text of the page, or the page's link, in the browser."""

from pathlib import Path

from pages.common.component import component
from pages.common.messages import say

_SCRIPT = Path(__file__).with_name("copy_button.js")
# Without a name until the script writes its label: it is not there for anybody before.
_FRAME = '<button type="button" class="lr-copy" style="visibility:hidden"></button>'


def copy_text(label: str, *, of: str, key: str) -> None:
    """Copy the text of the container of that key, as it is on the page; the page's address where it names none."""
    labels = {"label": label, "done": say("ask.copied"), "failed": say("ask.copy_failed")}
    component(_SCRIPT, _FRAME)(data={**labels, "of": of}, key=key)


def copy_link(*, key: str) -> None:
    """Copy the page's address, which holds its state."""
    copy_text(say("ask.copy_link"), of="", key=key)
