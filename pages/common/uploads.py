"""Upload fields with translated texts, since Streamlit has English ones only."""

import json
import re
from typing import Any

import streamlit as st
from markupsafe import Markup

from leanrag_core.messages.catalog import ENGLISH
from pages.common.html import draw, html
from pages.common.messages import language, say

_FIELD = '[data-testid="stFileUploaderDropzone"]'
_FOLDER = f"{_FIELD}:has(> input[webkitdirectory])"
# The parents of what has the words: behind a hidden element a parent's own text is seen, and read out as its name.
_BUTTON = '> span > button [data-testid="stMarkdownContainer"]:has(> p)'
_LIMIT = '> [data-testid="stFileUploaderDropzoneInstructions"] > div:has(> span)'
_DROP = "> input + div:not([data-testid]):has(> span:only-child)"  # while uploaded files are listed above the field
_FAINT = "font-size:.875rem;color:var(--lr-mute);"
_STRONG = "font-size:.875rem;font-weight:700;color:var(--lr-prim);"


def field(label: str, key: str, *, megabytes: int | None = None, **more: Any) -> Any:
    """Draw an upload field, its texts translated by a style sheet; return its files. megabytes: the largest file, if
    the field has a limit of its own. more: arguments of st.file_uploader."""
    if language() != ENGLISH:
        limit = megabytes or int(st.get_option("server.maxUploadSize"))
        draw(html("<style>{}</style>", Markup(_style_sheet(re.sub(r"[^a-zA-Z0-9_-]", "-", key), limit))))
    return st.file_uploader(label, key=key, max_upload_size=megabytes, **more)


def _style_sheet(key: str, limit: int) -> str:
    """Return the style rules that translate the field with that key."""
    field = f".st-key-{key}"
    rules = [
        _rule(f"{field} {_FIELD} {_BUTTON}", say("upload.browse")),
        _rule(f"{field} {_FOLDER} {_BUTTON}", say("upload.browse_folder")),
        _rule(f"{field} {_FIELD} {_LIMIT}", say("upload.limit", megabytes=limit), _FAINT),
        _rule(f"{field} {_FIELD} {_DROP}", say("upload.drop"), _STRONG),
        _rule(f"{field} {_FOLDER} {_DROP}", say("upload.drop_folder"), _STRONG),
    ]
    return "".join(rules)


def _rule(parent: str, text: str, look: str = "") -> str:
    """Return a style rule that shows the text instead of the element's content."""
    content = json.dumps(text, ensure_ascii=False).replace("<", r"\3c ")  # no text may end the style sheet
    return f"{parent}>*{{display:none}}{parent}::after{{{look}content:{content}}}"
