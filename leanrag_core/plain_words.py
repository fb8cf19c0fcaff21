"""What an exception of a library or of the system says, in words for a reader."""

import re

_MARKS = re.compile(r"\[(?:Errno|SSL|X509|WinError)[^\]]*\]\s*|\s*\(_ssl\.c:\d+\)")


def in_words(error: BaseException) -> str:
    """The error's own message in a line, without the name of its class, its number or its place in a library."""
    if isinstance(error, OSError) and error.strerror:
        text = f"{error.strerror}: {error.filename}" if error.filename else error.strerror
    elif isinstance(error, KeyError):
        text = f"{error} is missing"
    else:
        text = str(error)
    return " ".join(_MARKS.sub("", text).split()) or "no reason was given"
