"""What an endpoint's refusals mean: no credit, a wrong key, a wait that it asks for, a request that it cannot take.

Providers say the same thing in different places: in the status, in `type`, `code` or `status` of the body, in words.
"""

import json
import os
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any

from leanrag_core.errors import EndpointBusy, EndpointError, EndpointPaused, EndpointRefusal
from leanrag_core.text.plain_words import in_words

LONGEST_WAIT = 900.0  # seconds; a server that asks for more is not waited for, the work stops resumably
_CODE_OF_STATUS = {401: "endpoint.refuses_key", 403: "endpoint.not_allowed", 404: "endpoint.not_found"}
_NO_CREDIT = frozenset(
    ("insufficient_quota", "billing_hard_limit_reached", "billing_not_active", "insufficient_balance")
)
# "Exceeded your current quota" is not here: Gemini says it of a limit a minute, too, and then names a wait.
_NO_CREDIT_TEXT = re.compile(
    r"credit balance|insufficient (?:balance|credit|fund)|requires? (?:more )?credits", re.IGNORECASE
)
_WRONG_KEY = re.compile(r"api[_ ]key[_ ](?:not valid|invalid)|(?:invalid|incorrect) api[_ ]key", re.IGNORECASE)
_SPAN = r"\d+(?:\.\d+)?\s*(?:ms|(?:milli)?sec(?:ond)?s?|s|min(?:ute)?s?|m|h(?:our)?s?)\s*"
_WAIT = re.compile(rf"(?:retry|try again) (?:after|in) ((?:{_SPAN})+)", re.IGNORECASE)
_SECONDS_OF = {"ms": 0.001, "mi": 60.0, "m": 60.0, "s": 1.0, "h": 3600.0}


@dataclass(frozen=True)
class ErrorAnswer:
    """An answer with an error. body: its JSON, or its text. otherwise: what the client says of it."""

    status: int
    body: Any
    headers: Mapping[str, str]
    otherwise: str = ""

    @property
    def cells(self) -> dict[str, Any]:
        """The object that describes the error, empty where the body is not an object."""
        body = self.body[0] if isinstance(self.body, list) and self.body else self.body  # Gemini sends a list
        inner = body.get("error", body) if isinstance(body, dict) else {}
        return inner if isinstance(inner, dict) else {"message": inner}

    @property
    def text(self) -> str:
        """What the server says of the error, in a line, without a full stop at its end: our sentence goes on."""
        text = self.cells.get("message", self.cells) or self.body or self.otherwise
        text = text if isinstance(text, str) else json.dumps(text, default=str)
        return re.sub(r"(?<!\.)\.$", "", " ".join(re.sub(r"<[^>]*>", " ", text).split())[:200])

    @property
    def codes(self) -> frozenset[str]:
        """The words by which the server classifies the error, in lower case."""
        cells = self.cells
        details = cells.get("details")
        reasons = (
            [each.get("reason") for each in details if isinstance(each, dict)] if isinstance(details, list) else []
        )
        labels = [cells.get(name) for name in ("type", "code", "status")] + reasons
        return frozenset(str(each).lower() for each in labels if isinstance(each, str))

    @property
    def option(self) -> str:
        """The option of the request that the refusal is about, and its code, where the server names them."""
        return " ".join(str(self.cells.get(name) or "") for name in ("param", "code"))

    @property
    def wait_seconds(self) -> float | None:
        """The seconds that the server asks to wait: by a header, else in its words."""
        header_seconds = _retry_after(self.headers)
        if header_seconds is not None:
            return header_seconds
        details = self.cells.get("details")
        for each in details if isinstance(details, list) else ():
            if isinstance(each, dict) and isinstance(each.get("retryDelay"), str):
                return _seconds(each["retryDelay"])
        named = _WAIT.search(self.text)
        return _seconds(named[1]) if named else None


def error_of(answer: ErrorAnswer, address: str, key_variable: str) -> EndpointError:
    """Return our error for an answer with an error: EndpointBusy where another try may help, EndpointRefusal where this
    request never will, EndpointPaused where none will for now, else EndpointError."""
    status, text, codes = answer.status, answer.text, answer.codes
    values: dict[str, Any] = {"address": address, "status": status, "reason": text}
    if status == 402 or (status in (400, 403, 429) and (codes & _NO_CREDIT or _NO_CREDIT_TEXT.search(text))):
        return EndpointPaused("endpoint.no_credit", address=address, reason=text)
    if status == 407:
        return EndpointError("endpoint.proxy_refuses", **values, variable=proxy_variable(address) or "HTTPS_PROXY")
    if status in (408, 409, 425, 429) or status >= 500:
        code, wait = "endpoint.asks_to_slow_down" if status == 429 else "endpoint.fails", answer.wait_seconds
        if wait is not None and wait > LONGEST_WAIT:
            return EndpointPaused("endpoint.asks_to_come_back", minutes=round(wait / 60), **values)
        return EndpointBusy(code, wait, overloaded=status in (429, 503) or wait is not None, **values)
    if status == 400 and ("api_key_invalid" in codes or _WRONG_KEY.search(text)):
        return EndpointError("endpoint.refuses_key", **values, variable=key_variable)
    if status in _CODE_OF_STATUS:
        return EndpointError(_CODE_OF_STATUS[status], **values, variable=key_variable)
    return EndpointRefusal("endpoint.refuses_request", answer.option, text, **values)


def error_in_reply(body: Any, address: str, key_variable: str) -> EndpointError | None:
    """Return our error for a reply with status 200 that holds an error in the place of an answer; None without one."""
    if not isinstance(body, dict) or not body:
        return None
    code = str(body.get("code"))
    status = int(code) if code.isdigit() and 400 <= int(code) < 600 else 500
    return error_of(ErrorAnswer(status, {"error": body}, {}), address, key_variable)


def proxy_variable(address: str) -> str:
    """Return the environment variable that sends requests to the address through a proxy; empty without one."""
    scheme = address.partition(":")[0].upper()
    names = (f"{scheme}_PROXY", "ALL_PROXY")
    return next((name for each in names for name in (each, each.lower()) if os.environ.get(name)), "")


def root_cause(error: BaseException) -> str:
    """Describe the innermost cause, in a line."""
    while error.__cause__ is not None:
        error = error.__cause__
    return in_words(error)[:160]


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that headers ask to wait: Retry-After, or the reset of the limit that is used up."""
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
    """Parse "1m30s", "250ms", "41 seconds" or "2.5" as seconds."""
    parts = re.findall(r"(\d+(?:\.\d+)?)\s*([a-z]*)", text.lower())
    if not parts:
        return None
    return sum(float(number) * (_SECONDS_OF.get(unit[:2]) or _SECONDS_OF.get(unit[:1], 1.0)) for number, unit in parts)
