"""Names of any writing direction within a line of ours."""

import unicodedata

_FIRST_STRONG, _POP = "\u2068", "\u2069"


def isolated(name: str) -> str:
    """Return the name as it is written in plain text: one written from the right cannot reorder the figures around it.

    Names from left to right stay as they are. In HTML `<bdi>` does the same.
    """
    if any(unicodedata.bidirectional(sign) in ("R", "AL", "AN") for sign in name):
        return f"{_FIRST_STRONG}{name}{_POP}"
    return name
