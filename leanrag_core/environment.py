"""The environment of this process without what other processes of the program need not know."""

import os
import re

_SECRET = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL", re.I)


def holds_secrets() -> bool:
    """Return whether a variable is named like a key or password."""
    return any(_SECRET.search(name) for name in os.environ)


def without_secrets() -> dict[str, str]:
    """Return all variables except those that are named like a key or password."""
    return {name: value for name, value in os.environ.items() if not _SECRET.search(name)}
