"""Texts as XML 1.0 can hold them."""

import re

REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")  # of valid Unicode, what XML 1.0 cannot hold


class XmlCharacters:
    """Replaces what XML cannot hold, and counts it. replaced: so far."""

    def __init__(self) -> None:
        self.replaced = 0

    def __call__(self, text: str) -> str:
        """The text with U+FFFD for each character that XML cannot hold."""
        cleaned, n = NOT_XML.subn(REPLACEMENT, text)
        self.replaced += n
        return cleaned
