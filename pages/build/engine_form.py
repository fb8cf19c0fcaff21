"""The choice of the engine: the built-in one, a reference graph if the corpus has one, or models of an endpoint with
entity types, gleaning rounds and prompts."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import streamlit as st

from leanrag_core.errors import LeanRAGError
from leanrag_core.messages.catalog import joined_sentences
from leanrag_core.models.model_server import is_installed
from leanrag_core.types.config import BUILTIN as BUILTIN_MODEL
from leanrag_core.types.config import (
    REFERENCE,
    IndexConfig,
    endpoint_model,
    file_model,
    is_file,
    is_remote,
    model_title,
)
from leanrag_core.types.roles import AGGREGATION, EMBEDDINGS, EXTRACTION
from leanrag_core.types.settings import OPENAI_HOST, Settings
from pages.build import embedding_view, prompts_form
from pages.common import buttons, choices, forms, keys, markup, session, state, widgets
from pages.common.frame import page_button, plain_errors
from pages.common.html import draw
from pages.common.messages import message, say
from pages.settings import endpoint_view, found_view, model_files_view

BUILTIN, BY_HAND, ENDPOINT, FILE = "Built-in", "Reference graph", "Endpoint", "Model file"  # as links name them
_CODES = {
    BUILTIN: "build.engine.builtin",
    BY_HAND: "build.engine.reference",
    ENDPOINT: "build.engine.endpoint",
    FILE: "build.engine.file",
}
READS_ALL, NAMES_ALONE = "all", "names"  # the role of a model file, as links name it
URL = (
    *("b_engine", embedding_view.NAME, "b_model", "b_aggregation", "b_embedding"),
    *("b_file", "b_file_does", "b_types", "b_gleaning_rounds", "b_batches"),
)
_NO_TYPES = ","  # the person removed all types
_DEFAULT_TYPES = IndexConfig().entity_types


@dataclass(frozen=True)
class Engine:
    """The chosen engine. values: fields of IndexConfig; lacking: what must still be chosen, empty for nothing.
    has_batches: the server accepts batch files; as_batches: calls are to be sent so."""

    name: str = BUILTIN
    values: dict[str, Any] = field(default_factory=dict)
    lacking: str = ""
    has_batches: bool = False
    as_batches: bool = False

    @property
    def remote(self) -> bool:
        """Tell whether a model of the endpoint, for language or embeddings, or a model file is used."""
        return self.name in (ENDPOINT, FILE)

    @property
    def reads_by_grammar(self) -> bool:
        """Tell whether the built-in engine extracts."""
        return self.name == BUILTIN or (self.name == FILE and self.values.get("model") == BUILTIN_MODEL)


def choose(corpus_id: str) -> Engine:
    """Draw the choice of the engine and return it; models() then asks for its models."""
    names = (BUILTIN, BY_HAND, ENDPOINT, FILE) if _has_reference(corpus_id) else (BUILTIN, ENDPOINT, FILE)
    titles = {name: say(_CODES[name]) for name in names}
    proposed = _propose()
    with st.container(gap="xsmall"):
        chosen = choices.segments("b_engine", say("build.engine"), titles, width="stretch", pin=proposed)
        draw(markup.hint(say(f"{_CODES[chosen]}.hint")))
        if chosen not in (ENDPOINT, FILE) and not proposed:
            _offer()
    if chosen == ENDPOINT:
        return Engine(chosen)
    embedding, lacking = embedding_view.choose(corpus_id)
    values = {"embedding": embedding} | ({"model": REFERENCE} if chosen == BY_HAND else {})
    return Engine(chosen, values, lacking)


def _propose() -> bool:
    """Fill the form with the models that the settings propose, unless an engine was chosen; tell whether they do."""
    try:
        settings = session.workbench().settings.read()
    except LeanRAGError:  # every page shows this error
        return False
    if settings.build_model and not state.recall("b_engine"):
        title, by_file = model_title(settings.build_model), is_file(settings.build_model)
        state.remember("b_engine", FILE if by_file else ENDPOINT)
        state.remember("b_file" if by_file else "b_model", title)
        state.remember("b_embedding", model_title(settings.build_embedding))
        if settings.role_model(AGGREGATION):
            state.remember("b_aggregation", model_title(settings.role_model(AGGREGATION)))
    return bool(settings.build_model)


def _offer() -> None:
    """Draw the model servers of this machine if no endpoint is set up."""
    with plain_errors():
        settings = session.workbench().settings.read()
        if not endpoint_view.is_set_up(settings):
            found_view.offer(settings)


def _has_reference(corpus_id: str) -> bool:
    with plain_errors():
        return session.workbench().builds.has_reference(corpus_id)
    return False


def models(engine: Engine, corpus_id: str) -> Engine:
    """Ask for the engine's models and their settings, and return the engine with them."""
    try:
        settings = session.workbench().settings.read()
    except LeanRAGError as error:
        message(error, kind="error")
        return Engine(engine.name, lacking=say("build.engine.settings_unreadable"))
    return _file(settings, engine, corpus_id) if engine.name == FILE else _endpoint(settings, corpus_id)


def _file(settings: Settings, engine: Engine, corpus_id: str) -> Engine:
    """Ask for a model file and its role, and return the engine with it. engine: with the embedding."""
    files = [each.name for each in session.workbench().model_files.all() if each.file is not None]
    if not files or not is_installed():
        message(say("build.engine.file.none"))
        model_files_view.card(settings)
        to_settings()
        return Engine(FILE, lacking=say("build.engine.file.choose"))
    does = {each: say(f"build.engine.file.{each}") for each in (READS_ALL, NAMES_ALONE)}
    with st.grid(2, min_column_width=190, gap="small"):
        chosen = choices.dropdown("b_file", say("backend.file"), {name: name for name in files}, pin=True)
        task = choices.dropdown("b_file_does", say("build.engine.file.does"), does)
    draw(markup.hint(say("build.engine.file.runs_here")))
    name = file_model(chosen)
    if task == NAMES_ALONE:
        return replace(engine, values={**engine.values, "model": BUILTIN_MODEL, "aggregation_model": name})
    return replace(engine, values={**engine.values, "model": name, **_asked_for(corpus_id, name)})


def _endpoint(of_all: Settings, corpus_id: str) -> Engine:
    """Ask for a model of each role's server and return the engine with them. of_all: the settings common to all
    roles."""
    settings, embeds_at = of_all.of_role(EXTRACTION), of_all.of_role(EMBEDDINGS)
    if not endpoint_view.is_set_up(settings):
        message(say("build.engine.no_endpoint"))
        _found(settings)
        return Engine(ENDPOINT, lacking=say("build.engine.set_up_first"))
    listed = endpoint_view.listing(settings)
    if listed.error:
        message(listed.error, kind="error", title=say("build.engine.no_answer"))
        _found(settings)
    elif not listed.names and buttons.secondary(say("build.engine.list_models"), "list", "list_models"):
        with st.spinner(say("build.engine.waiting")):
            endpoint_view.test_connection(settings)
        st.rerun()
    with st.grid(3, min_column_width=190, gap="small"):
        model = endpoint_view.pick_model(say("build.engine.language_model"), "b_model", listed.writing)
        title = say("build.engine.aggregation_model")
        other = endpoint_view.pick_model(title, "b_aggregation", listed.writing, blank=say("build.engine.same_model"))
        embedding = endpoint_view.pick_model(
            say("build.engine.embedding"),
            "b_embedding",
            (endpoint_view.listing(embeds_at) if embeds_at is not of_all else listed).embedding_first,
            blank=say("build.engine.builtin_embedding"),
        )
    draw(markup.hint(_where(settings)))
    values: dict[str, Any] = {"model": endpoint_model(model) if model else "builtin"}
    values["aggregation_model"] = endpoint_model(other) if other and other != model else ""
    lacking = ""
    if embedding:
        values["embedding"] = endpoint_model(embedding)
    else:
        values["embedding"], lacking = embedding_view.choose(corpus_id)
    values |= _asked_for(corpus_id, model)
    offered = all(_offers_batches(of_all.of_role(role)) for role in (EXTRACTION, AGGREGATION))
    lacking = lacking if model else say("build.engine.choose_model")
    return Engine(ENDPOINT, values, lacking, offered, offered and _as_batches())


def _asked_for(corpus_id: str, model: str) -> dict[str, Any]:
    """Ask for the entity types, gleaning rounds and prompts of a language model, and return them as settings."""
    values: dict[str, Any] = {}
    left, right = st.columns([2, 1], gap="small")
    with left:
        values["entity_types"] = entity_types()
    with right:
        values["gleaning_rounds"] = forms.draw_field(IndexConfig, "gleaning_rounds", under="b_gleaning_rounds")
    values["prompts"] = prompts_form.panel(corpus_id, model, values["entity_types"])
    return values


def _offers_batches(settings: Settings) -> bool:
    """Tell whether the server accepts batch files: it says so, it is OpenAI's own, or somebody chose batches and the
    server has not been asked since."""
    listed = endpoint_view.listing(settings)
    not_asked = not listed.names and listed.error is None
    return listed.batches or settings.host == OPENAI_HOST or (not_asked and bool(state.recall("b_batches")))


def _as_batches() -> bool:
    """Ask whether calls are to be sent in batch files."""
    with st.container(gap="xsmall"):
        chosen = choices.toggle("b_batches", say("build.batches"), key="as_batches")
        draw(markup.hint(say("build.batches.hint")))
    return chosen


def _found(settings: Settings) -> None:
    """Draw the model servers of this machine, and a link to Settings."""
    draw(markup.label(say("found.title")))
    found_view.cards(settings)
    with st.container(horizontal=True, gap="small"):
        found_view.look_again()
        to_settings()


def take_settings(config: Mapping[str, Any]) -> None:
    """Set the form to the engine of an index's settings, its prompts included. For callbacks."""
    model = str(config.get("model", "builtin"))
    file = next((name for name in (model, str(config.get("aggregation_model") or "")) if is_file(name)), "")
    if file:
        state.remember("b_engine", FILE)
        state.remember("b_file", model_title(file))
        state.remember("b_file_does", None if is_file(model) else NAMES_ALONE)
        embedding_view.take(str(config.get("embedding", BUILTIN_MODEL)))
        _take_asked_for(config)
        return
    models = (str(config.get(name) or "") for name in ("model", "aggregation_model", "embedding"))
    remote = any(map(is_remote, models))  # a combination that the form does not offer; a model has to be chosen
    # The built-in engine is set explicitly if the settings propose another one.
    state.remember(
        "b_engine", ENDPOINT if remote else BY_HAND if model == REFERENCE else BUILTIN if _propose() else None
    )
    embedding_view.take(str(config.get("embedding", BUILTIN_MODEL)))
    if not remote:
        return
    for name, field_name in (
        ("b_model", "model"),
        ("b_aggregation", "aggregation_model"),
        ("b_embedding", "embedding"),
    ):
        value = str(config.get(field_name) or "")
        state.remember(name, model_title(value) if is_remote(value) else None)
    _take_asked_for(config)


def _take_asked_for(config: Mapping[str, Any]) -> None:
    types = tuple(str(name) for name in config.get("entity_types", _DEFAULT_TYPES))
    state.remember("b_types", None if types == _DEFAULT_TYPES else ",".join(types))
    state.remember("b_gleaning_rounds", int(config.get("gleaning_rounds", IndexConfig().gleaning_rounds)))
    prompts_form.take({str(task): str(text) for task, text in config.get("prompts", ())})


def _where(settings: Settings) -> str:
    if settings.local:
        return say("build.engine.runs_here", host=settings.host)
    sent = say("build.engine.sent_to", host=settings.host)
    return sent if keys.has_key(settings) else joined_sentences([sent, keys.key_state(settings)])


def to_settings() -> None:
    """Draw a button that leads to Settings."""
    page_button("settings", say("build.engine.open_settings"), "settings", "open_settings")


def entity_types() -> tuple[str, ...]:
    """Ask for the entity types that the model looks for, and return them."""
    with st.container(gap="xsmall"):
        chosen = widgets.remembered(
            "b_types",
            list(_DEFAULT_TYPES),
            lambda mount: st.multiselect(
                say("build.engine.entity_types"),
                list(dict.fromkeys((*_DEFAULT_TYPES, *mount.value))),
                default=mount.value,
                **mount.wired,
                accept_new_options=True,
                placeholder=say("build.engine.choose_type"),
                select_all=False,
            ),
            widgets.Values(
                parse=lambda text: _clean(text.split(",")),
                write=lambda types: ",".join(types) or _NO_TYPES,
                read=_clean,
            ),
        )
        draw(markup.hint(say("build.engine.types_hint")))
    return tuple(chosen)


def _clean(types: list[str]) -> list[str]:
    cleaned = (" ".join(name.replace(",", " ").split()) for name in types)
    return list(dict.fromkeys(name for name in cleaned if name))
