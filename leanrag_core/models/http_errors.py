"""An HTTP error status as one of our errors, with the server's own text and the wait that it asks for."""

import json
import re
import time
from email.utils import parsedate_to_datetime
from typing import Any

from leanrag_core.errors import EndpointBusy, EndpointError, EndpointRefusal
from leanrag_core.text.plain_words import in_words

_CODE_OF_STATUS = {401: "endpoint.refuses_key", 403: "endpoint.not_allowed", 404: "endpoint.not_found"}


def error_of_status(error: Any, address: str, key_variable: str) -> EndpointError:
    """Return our error for an answer with an error status (the openai package's APIStatusError)."""
    status, text = error.status_code, _server_text(error)
    if status in (408, 409, 425, 429) or status >= 500:
        if status == 429 and "insufficient_quota" in text:
            return EndpointError("endpoint.no_credit", address=address, reason=text)
        code = "endpoint.asks_to_slow_down" if status == 429 else "endpoint.fails"
        wait = _retry_after(error.response.headers)
        return EndpointBusy(
            code, wait, overloaded=status in (429, 503) or wait is not None, address=address, status=status, reason=text
        )
    if status in _CODE_OF_STATUS:
        return EndpointError(
            _CODE_OF_STATUS[status], address=address, status=status, reason=text, variable=key_variable
        )
    return EndpointRefusal(
        "endpoint.refuses_request", _option(error.body), text, address=address, status=status, reason=text
    )


def _option(body: Any) -> str:
    """Return the option of the request that the refusal is about, and its code, where the server names them."""
    inner = body.get("error", body) if isinstance(body, dict) else {}
    return " ".join(str(inner.get(name) or "") for name in ("param", "code")) if isinstance(inner, dict) else ""


def _server_text(error: Any) -> str:
    """Return what the server says of an error, in a line."""
    body = error.body
    if isinstance(body, dict):
        inner = body.get("error", body)
        text = inner.get("message", inner) if isinstance(inner, dict) else inner
    else:
        text = body or error.message
    text = text if isinstance(text, str) else json.dumps(text, default=str)
    return " ".join(re.sub(r"<[^>]*>", " ", text).split())[:200]


def root_cause(error: BaseException) -> str:
    """Describe the innermost cause, in a line."""
    while error.__cause__ is not None:
        error = error.__cause__
    return in_words(error)[:160]


def _retry_after(headers: Any) -> float | None:
    """Return the seconds that the server asks to wait: Retry-After, or the reset of the limit that is used up."""
    for name, scale in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            return max(0.0, float(headers[name]) * scale)
        except (KeyError, ValueError):
            continue
    if "retry-after" in headers:
        try:
            until = parsedate_to_datetime(headers["retry-after"]).timestamp()
        except ValueError:
            return None
        return max(0.0, until - time.time())
    for kind in ("requests", "tokens"):
        if headers.get(f"x-ratelimit-remaining-{kind}") == "0":
            return _seconds(headers.get(f"x-ratelimit-reset-{kind}", ""))
    return None


def _seconds(text: str) -> float | None:
    """Parse "1m30s", "250ms" or "2.5" as seconds."""
    parts = re.findall(r"(\d+(?:\.\d+)?)(ms|s|m|h|)", text)
    scale = {"ms": 0.001, "s": 1.0, "": 1.0, "m": 60.0, "h": 3600.0}
    return sum(float(number) * scale[unit] for number, unit in parts) if parts else None
