"""Errors as programs get them: a status, a code and a sentence, in OpenAI's form on every route."""

from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse

from leanrag_core.errors import (
    BudgetSpent,
    CallFailed,
    Cancelled,
    EndpointBusy,
    EndpointError,
    EndpointTimeout,
    IndexNotFound,
    InvalidConfig,
    LeanRAGError,
    ModelMismatch,
    ModelUnavailable,
    PartMissing,
    PromptTooLong,
    ReplyError,
)
from leanrag_core.messages.catalog import sentence
from leanrag_core.messages.message import Message, message

_GONE = 499  # by custom: the client closed the connection
# The first that fits; what is not here is a failure of this program or its files.
_STATUS_OF: tuple[tuple[type[LeanRAGError], int], ...] = (
    (IndexNotFound, 404),
    (InvalidConfig, 422),
    (PartMissing, 422),
    (ModelMismatch, 422),
    (PromptTooLong, 422),
    (BudgetSpent, 402),
    (EndpointTimeout, 504),
    (EndpointBusy, 503),
    (EndpointError, 502),
    (CallFailed, 502),
    (ReplyError, 502),
    (ModelUnavailable, 503),
    (Cancelled, _GONE),
)


@dataclass(frozen=True)
class Failure:
    """What went wrong. message: a sentence that says which thing, what is wrong, and what to do. type: whose mistake
    it is. code: stays the same whatever the sentence says. param: the field of the request, where it is one."""

    message: str
    type: str
    code: str
    param: str | None = None


@dataclass(frozen=True)
class FailureBody:
    """The body of every answer that is an error."""

    error: Failure


def failure_values(error_message: Message, status: int, param: str | None = None) -> dict[str, Any]:
    """Return the body of an error as JSON values."""
    kind = "authentication_error" if status == 401 else "server_error" if status >= 500 else "invalid_request_error"
    return {"error": {"message": sentence(error_message), "type": kind, "code": error_message.code, "param": param}}


def failure_response(status: int, error_message: Message, param: str | None = None) -> JSONResponse:
    """Return the answer of an error."""
    return JSONResponse(failure_values(error_message, status, param), status_code=status)


def values_of_error(error: Exception) -> tuple[dict[str, Any], int]:
    """Return the body and the status of an error that some work raised."""
    if not isinstance(error, LeanRAGError):
        return failure_values(message("serving.internal"), 500), 500
    status = next((status for kind, status in _STATUS_OF if isinstance(error, kind)), 500)
    return failure_values(error.message, status), status


def answer_errors(app: FastAPI) -> None:
    """Let the app answer every error in this form."""

    async def of_work(request: Request, error: Exception) -> JSONResponse:
        values, status = values_of_error(error)
        return JSONResponse(values, status_code=status)

    async def of_request(request: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, RequestValidationError)
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"] if part != "body")
        error_message = message("serving.request_wrong", field=place or "body", reason=str(first["msg"]))
        return failure_response(422, error_message, place or None)

    async def of_route(request: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, HTTPException)
        reason = HTTPStatus(error.status_code).phrase
        error_message = message("serving.no_route", path=request.url.path, method=request.method, reason=reason)
        return failure_response(error.status_code, error_message)

    app.add_exception_handler(LeanRAGError, of_work)
    app.add_exception_handler(RequestValidationError, of_request)
    app.add_exception_handler(HTTPException, of_route)
    app.add_exception_handler(Exception, of_work)
