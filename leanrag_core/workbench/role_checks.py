"""Checks of roles: one or two small calls to the role's own server, and a verdict on it, number first."""

import os
import time
from dataclasses import dataclass

import numpy as np

from leanrag_core.errors import EndpointError, LeanRAGError, ReplyError
from leanrag_core.evaluation.extraction import GivenGraph
from leanrag_core.figures import numbers
from leanrag_core.indexing.model_check import check_model
from leanrag_core.messages.message import Message, message
from leanrag_core.models.endpoint import with_text
from leanrag_core.models.registry import Models, backends
from leanrag_core.models.remote import RemoteLanguageModel
from leanrag_core.models.remote_embedding import unit_rows
from leanrag_core.models.reranking import reranker
from leanrag_core.types.config import OPENAI, IndexConfig, is_file, is_remote, model_title
from leanrag_core.types.roles import EMBEDDINGS, EXTRACTION, RERANKING, ROLES
from leanrag_core.types.settings import Settings
from leanrag_core.workbench.models import ModelAccess
from leanrag_core.workbench.references import References

_QUESTION = "Which insect makes honey? Answer with one word."
_RIGHT, _WRONG = "Bees make honey from the nectar of flowers.", "Iron rusts in water."
# Read where no passage of a sample corpus is at hand; its entities are not known.
_PASSAGE = (
    "In 1851 Lorenzo Langstroth of Philadelphia found the bee space and built the movable-frame hive. Johannes Mehring "
    "pressed the first wax foundation in 1857, and Franz von Hruschka of Legnago made the honey extractor in 1865."
)
_GOOD, _THIN = 8 / 12, 4 / 12  # shares of a passage's entities: can build, builds a thin graph
GOOD, THIN, BAD, UNTRIED = "good", "thin", "bad", "untried"


@dataclass(frozen=True)
class RoleCheck:
    """The verdict on a role. state: GOOD, THIN, BAD or UNTRIED."""

    role: str
    state: str
    said: Message
    seconds: float = 0.0
    tokens_per_second: float = 0.0


class RoleChecks:
    """Tries roles. Nothing is stored: a check asks anew each time."""

    def __init__(self, models: ModelAccess, references: References) -> None:
        self._models, self._references = models, references

    def check(self, role: str, passage: str = "") -> RoleCheck:
        """Return what the role's model does with a small task. passage: for extraction, one of a sample corpus, whose
        entities are known; else a short one."""
        settings = self._models.settings.read()
        untried = why_untried(settings, role)
        if untried is not None:
            return RoleCheck(role, UNTRIED, untried)
        models, started, name = self._models.make(), time.perf_counter(), role_model(settings, role)
        model = model_title(name)
        try:
            if role == EXTRACTION:
                return self._extraction(models, name if is_file(name) else model, passage)
            if role == EMBEDDINGS:
                return _embedding(models, model)
            return _reranking(models) if role == RERANKING else _writing(models, role, name)
        except LeanRAGError as error:
            return RoleCheck(role, BAD, error.message, time.perf_counter() - started)

    def _extraction(self, models: Models, model: str, passage: str) -> RoleCheck:
        checked = check_model(models, model, passage or _PASSAGE, IndexConfig())
        extracted = GivenGraph(checked.entities, tuple((source, target, "") for source, target, _ in checked.relations))
        scores = self._references.passage_scores(passage, extracted, embedded=False)
        speed = checked.tokens_per_second
        if scores is None:
            note = message("role.check.entities", n=len(checked.entities))
            return RoleCheck(EXTRACTION, GOOD if checked.verdict == "good" else THIN, note, checked.seconds, speed)
        entities = scores.model.entities
        share = entities.hit / max(1, entities.wanted)
        state = GOOD if share >= _GOOD else THIN if share >= _THIN else BAD
        note = message("role.check.entities_of", hit=entities.hit, wanted=entities.wanted)
        return RoleCheck(EXTRACTION, state, note, checked.seconds, speed)


def role_model(settings: Settings, role: str) -> str:
    """Return the model that the role is asked with: its own, or that of the role whose model it takes; "" for the
    built-in engine."""
    return settings.role_model(settings.asked_with(role))


def is_asked(settings: Settings, role: str) -> bool:
    """Return whether a server is asked in that role."""
    role_settings = settings.roles.get(role)
    if role == RERANKING:
        return role_settings is not None and bool(role_settings.base_url or role_settings.model)
    return is_remote(role_model(settings, role))


def served_by(settings: Settings, role: str) -> Message | None:
    """Return the title of the back-end that serves the role's model without the endpoint's address, such as a model
    file's or one of another package; None where the endpoint, or the built-in engine, does."""
    model = role_model(settings, role)
    backend = model.partition(":")[0]
    if not is_remote(model) or backend == OPENAI:
        return None
    return next((each.title for each in backends() if each.name == backend), message("plain", text=backend))


def writers_at_common_server(settings: Settings) -> tuple[str, ...]:
    """Return the language models, by the server's names, that the address and key of all roles are asked for."""
    models = []
    for role in ROLES:
        server, model = settings.of_role(role), role_model(settings, role)
        is_common = (server.base_url, server.key_variable) == (settings.base_url, settings.key_variable)
        if role not in (EMBEDDINGS, RERANKING) and is_asked(settings, role) and is_common and not is_file(model):
            models.append(model_title(model))
    return tuple(dict.fromkeys(models))


def leaves(settings: Settings) -> tuple[str, ...]:
    """Return the roles whose texts leave this machine."""
    return tuple(role for role in ROLES if is_asked(settings, role) and not runs_here(settings, role))


def runs_here(settings: Settings, role: str) -> bool:
    """Return whether the role's model runs on this machine."""
    return is_file(role_model(settings, role)) or settings.of_role(role).local


def why_untried(settings: Settings, role: str) -> Message | None:
    """Return why the role cannot be tried; None where it can."""
    if not is_asked(settings, role):
        return message("role.check.not_needed" if role == RERANKING else "role.check.builtin")
    role_settings = settings.of_role(role)
    if not runs_here(settings, role) and not os.environ.get(role_settings.key_variable, "").strip():
        return message("role.check.no_key", variable=role_settings.key_variable)
    return None


def _writing(models: Models, role: str, name: str) -> RoleCheck:
    language, started = models.language(name, role), time.perf_counter()
    assert isinstance(language, RemoteLanguageModel)  # why_untried() rules out the built-in engine
    reply = with_text(language.endpoint.chat(language.model, [{"role": "user", "content": _QUESTION}]), language.model)
    if not reply.text.strip():
        raise ReplyError("reply.cut_in_reasoning")
    seconds = time.perf_counter() - started
    code, state = ("role.check.answers", GOOD) if "bee" in reply.text.lower() else ("role.check.beside", THIN)
    speed = reply.completion_tokens / max(seconds, 1e-9)
    return RoleCheck(role, state, message(code, time=numbers.duration(seconds)), seconds, speed)


def _embedding(models: Models, model: str) -> RoleCheck:
    endpoint, started = models.in_role(EMBEDDINGS).endpoint, time.perf_counter()
    role = models.settings.own_role(EMBEDDINGS)
    body_fields = {**role.body_fields, **({"dimensions": role.dimensions} if role.dimensions else {})}
    first, second = (unit_rows(endpoint.embed(model, [_RIGHT, _WRONG], body_fields).rows, model) for _ in range(2))
    seconds = time.perf_counter() - started
    if first.shape != second.shape:
        raise EndpointError("embedding.changing_length", model=model, lengths=str([first.shape[1], second.shape[1]]))
    same = np.array_equal(first, second)
    code = "role.check.same_vector" if same else "role.check.other_vector"
    return RoleCheck(EMBEDDINGS, GOOD if same else THIN, message(code, n=first.shape[1]), seconds)


def _reranking(models: Models) -> RoleCheck:
    started = time.perf_counter()
    passage_reranker = reranker(models)
    assert passage_reranker is not None  # why_untried() rules out a missing reranker
    wrong, right = passage_reranker.scores(_QUESTION, [_WRONG, _RIGHT], keep=False).values
    code, state = ("role.check.right_order", GOOD) if right > wrong else ("role.check.wrong_order", BAD)
    return RoleCheck(RERANKING, state, message(code), time.perf_counter() - started)
