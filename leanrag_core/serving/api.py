"""The HTTP API: its routes, which OpenAPI describes; what may reach it; and the tools of MCP beside it."""

import hmac
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from typing import Annotated, Any, TypeVar

from fastapi import Depends, FastAPI, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from fastapi.security import HTTPBearer
from openai.types import Model
from openai.types.chat import ChatCompletion
from pydantic_core import to_jsonable_python
from starlette.exceptions import HTTPException

import leanrag_core
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
from leanrag_core.retrieval.base import require_question
from leanrag_core.serving import chat
from leanrag_core.serving.asking import (
    AskBody,
    AskedValues,
    CompareBody,
    DocumentValues,
    IndexValues,
    RetrieveBody,
    RetrievedValues,
    Served,
    StrategyValues,
    index_values,
    retrieved_values,
    strategy_values,
)
from leanrag_core.serving.entities import (
    EntityValues,
    NeighbourValues,
    Ways,
    entity_values,
    neighbour_values,
    ways_between,
)
from leanrag_core.serving.mcp_tools import mcp_server
from leanrag_core.serving.request_check import AllowedNames, Refused, RequestCheck
from leanrag_core.serving.start import VARIABLE
from leanrag_core.serving.workers import EventStream, Look, Workers, Write, event, while_connected

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


_T = TypeVar("_T")
_ABOUT = """Ask the indexes of a LeanRAG workbench. Every request carries the token of the server:
`Authorization: Bearer TOKEN`. Every error has the body `{"error": {"message", "type", "code", "param"}}`. The routes
below `/v1` speak OpenAI's protocol; at `/mcp` the server speaks the Model Context Protocol."""
_REMEDIES = {
    Refused.HOST: "This server answers under the names of this machine alone (127.0.0.1, localhost).\n",
    Refused.ORIGIN: "This server answers no page of another origin: ask it from a program.\n",
}
_FAILURES: dict[int | str, dict[str, Any]] = {
    401: {"model": FailureBody, "description": "The token is missing or wrong."},
    404: {"model": FailureBody, "description": "There is no such index."},
    422: {"model": FailureBody, "description": "The request or its options cannot be."},
}
_EVENTS: dict[str, Any] = {"text/event-stream": {"schema": {"type": "string"}}}
Entity = Annotated[str, Query(description="An entity's id, or its name in any case; of several the topmost.")]


def create_app(served: Served, token: str) -> FastAPI:
    """Return the API. token: that every request has to bring."""
    workers = Workers()
    mcp = mcp_server(served, workers)
    tools = mcp.streamable_http_app()

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with mcp.session_manager.run():
            yield

    app = FastAPI(
        title="LeanRAG",
        version=leanrag_core.__version__,
        description=_ABOUT,
        docs_url=None,  # these pages would fetch scripts from another machine
        redoc_url=None,
        lifespan=lifespan,
        dependencies=[Depends(HTTPBearer(auto_error=False))],  # as a description; BearerCheck does it
        responses=_FAILURES,
    )
    answer_errors(app)
    in_thread = _InThread(workers)
    _add_indexes(app, served, in_thread)
    _add_questions(app, served, in_thread)
    _add_entities(app, served, in_thread)
    _add_chat(app, served, in_thread)
    app.router.routes.extend(tools.routes)
    app.add_middleware(BearerCheck, token=token)
    app.add_middleware(RequestCheck, allowed=AllowedNames, remedies=_REMEDIES.__getitem__)  # the outermost
    return app


class _InThread:
    """Does work of a request in a thread of the workers, as long as its client is there."""

    def __init__(self, workers: Workers) -> None:
        self.workers = workers

    async def __call__(self, request: Request, work: Callable[[Look], _T]) -> _T:
        return await while_connected(request.receive, self.workers.run(work))


def _add_indexes(app: FastAPI, served: Served, in_thread: _InThread) -> None:
    @app.get("/api/indexes")
    async def list_indexes(request: Request) -> list[IndexValues]:
        """Return the indexes that can be asked, the newest first."""
        return await in_thread(request, lambda look: [index_values(summary) for summary in served.bench.indexes.all()])

    @app.get("/api/strategies")
    async def list_strategies(request: Request) -> list[StrategyValues]:
        """Return the strategies and their options."""
        return await in_thread(request, lambda look: strategy_values())

    @app.get("/api/indexes/{index}/documents")
    async def list_documents(request: Request, index: str) -> list[DocumentValues]:
        """Return the documents of an index, with the folders, tags and dates that a scope may name."""
        return await in_thread(request, lambda look: served.documents(index))


def _add_questions(app: FastAPI, served: Served, in_thread: _InThread) -> None:
    @app.post("/api/indexes/{index}/retrieve", responses={200: {"model": RetrievedValues}})
    async def retrieve(request: Request, index: str, body: RetrieveBody) -> Response:
        """Return what a strategy retrieves for a question: the fields of `ask --json`, without an answer."""

        def work(look: Look) -> RetrievedValues:
            return retrieved_values(served.retrieve(served.checked(index, body), body, look))

        return _json(await in_thread(request, work))

    @app.post("/api/indexes/{index}/ask", responses={200: {"model": AskedValues, "content": _EVENTS}})
    async def ask(request: Request, index: str, body: AskBody) -> Response:
        """Answer a question: the fields of `ask --json`, and what its marks stand for; streamed where the body says
        so."""
        opened = await in_thread(request, lambda look: served.checked(index, body))
        if not body.stream:
            answered = await in_thread(request, lambda look: served.ask(opened, body, look))
            return _json(answered.values())

        def work(write: Write, look: Look) -> None:
            answered = served.ask(
                opened,
                body,
                look,
                on_step=lambda step: write(event({"name": step.name, "said": sentence(step.caption)}, "step")),
                on_text=lambda text: write(event({"text": text}, "text")),
            )
            write(event(to_jsonable_python(answered.values()), "result"))

        return EventStream(in_thread.workers, partial(_writing_errors, work, "error"))

    @app.post("/api/indexes/{index}/compare")
    async def compare(request: Request, index: str, body: CompareBody) -> dict[str, Any]:
        """Compare strategies: the fields of `compare --json`. A column STRATEGY@INDEX asks another index."""

        def work(look: Look) -> dict[str, Any]:
            require_question(body.question)
            return served.compare(served.bench.scopes.index(served.index(index), body.scope), body, look)

        return await in_thread(request, work)


def _add_entities(app: FastAPI, served: Served, in_thread: _InThread) -> None:
    @app.get("/api/indexes/{index}/entity")
    async def entity(request: Request, index: str, name: Entity) -> EntityValues:
        """Return what the index says of an entity, where it stands in the hierarchy, and passages that mention it."""
        return await in_thread(request, lambda look: entity_values(served.index(index), name))

    @app.get("/api/indexes/{index}/neighbours")
    async def neighbours(
        request: Request, index: str, name: Entity, limit: Annotated[int, Query(ge=1, le=200)] = 20
    ) -> list[NeighbourValues]:
        """Return the relations of an entity in its layer, the strongest first."""
        return await in_thread(request, lambda look: neighbour_values(served.index(index), name, limit))

    @app.get("/api/indexes/{index}/path")
    async def path(request: Request, index: str, first: Entity, second: Entity) -> Ways:
        """Return the ways between two entities: by relations, and through their lowest common ancestor."""
        return await in_thread(request, lambda look: ways_between(served.index(index), first, second))


def _add_chat(app: FastAPI, served: Served, in_thread: _InThread) -> None:
    @app.get("/v1/models", response_model_exclude_unset=True)
    async def list_models(request: Request) -> chat.ModelList:
        """Return a model for each index and each strategy that can be asked of it, INDEX/STRATEGY."""
        return await in_thread(request, lambda look: chat.ModelList(chat.models(served), "list"))

    @app.get("/v1/models/{model:path}", response_model_exclude_unset=True)
    async def show_model(request: Request, model: str) -> Model:
        """Return one of the models."""
        return await in_thread(request, lambda look: chat.model_named(served, model))

    @app.post("/v1/chat/completions", responses={200: {"model": ChatCompletion, "content": _EVENTS}})
    async def complete(request: Request, body: chat.ChatBody) -> Response:
        """Answer the last message of the person, with its sources at the end; streamed where the body says so."""
        asked_for = chat.chat_of(body)
        opened = await in_thread(request, lambda look: served.checked(asked_for.index, asked_for.body))
        language = served.bench.settings.read().language
        if not body.stream:
            answered = await in_thread(request, lambda look: served.ask(opened, asked_for.body, look))
            return _json(chat.completion(body.model, answered, language).model_dump(mode="json", exclude_unset=True))

        def work(write: Write, look: Look) -> None:
            pieces = chat.Pieces(lambda values: write(event(values)), body.model)
            answered = served.ask(opened, asked_for.body, look, on_text=pieces.text)
            wants_usage = body.stream_options is not None and body.stream_options.include_usage
            pieces.end(answered, language, with_usage=wants_usage)
            write(chat.DONE)

        return EventStream(in_thread.workers, partial(_writing_errors, work, ""))


def _writing_errors(work: Callable[[Write, Look], None], name: str, write: Write, look: Look) -> None:
    """Do the work; write its error as an event of that name, since the head of the answer has been sent."""
    try:
        work(write, look)
    except Cancelled:
        raise
    except Exception as error:
        values, status = values_of_error(error)
        if status == 500:
            logging.getLogger(__name__).exception("a streamed answer failed")
        write(event(values, name))


def _json(values: Any) -> JSONResponse:
    return JSONResponse(to_jsonable_python(values))


class BearerCheck:
    """ASGI middleware: a request passes with the token in its Authorization header. The comparison takes as long for a
    wrong one as for the right one."""

    def __init__(self, app: Any, *, token: str) -> None:
        self._app, self._expected = app, f"Bearer {token}".encode()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """See ASGI."""
        if scope["type"] == "http":
            headers = [value for name, value in scope["headers"] if name.lower() == b"authorization"]
            scheme, _, token = (headers[0] if len(headers) == 1 else b"").partition(b" ")
            if not hmac.compare_digest(scheme.capitalize() + b" " + token, self._expected):
                response = failure_response(401, message("serving.no_token", variable=VARIABLE))
                response.headers["www-authenticate"] = "Bearer"
                await response(scope, receive, send)
                return
        await self._app(scope, receive, send)
