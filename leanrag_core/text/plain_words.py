"""Text that comes from elsewhere, as it can be shown and stored: errors in words, characters whole."""

import re

_MARKS = re.compile(r"\[(?:Errno|SSL|X509|WinError)[^\]]*\]\s*|\s*\(_ssl\.c:\d+\)")


def in_words(error: BaseException) -> str:
    """Return the error's own message in a line, without the name of its class, its number or its place in a library."""
    if isinstance(error, OSError) and error.strerror:
        text = f"{error.strerror}: {error.filename}" if error.filename else error.strerror
    elif isinstance(error, KeyError):
        text = f"{error} is missing"
    else:
        text = str(error)
    return " ".join(_MARKS.sub("", text).split()) or "no reason was given"


def whole_characters(text: str) -> str:
    """Make the text storable: two halves of a surrogate pair make their character, a lone one becomes U+FFFD.

    JSON can say half a pair ("\\ud83d"), as models do that stop in the middle of a sign; UTF-8 cannot.
    """
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
