"""The server in the settings: whether it answers, its models, and the choice among them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import pandas as pd
import streamlit as st

from leanrag_core.evaluation.extraction import EMBEDDING, EXACT, NORMALISED, GivenGraph
from leanrag_core.figures import numbers
from leanrag_core.indexing.chunking import chunk_documents
from leanrag_core.indexing.model_check import ModelCheck, check_model
from leanrag_core.messages.message import Message
from leanrag_core.models.listing import ModelAnswer, ModelList, ask_briefly, context_windows, list_models
from leanrag_core.system.threads import BoundedCache
from leanrag_core.types.config import IndexConfig, endpoint_model, file_model, is_file, model_title
from leanrag_core.types.settings import Settings
from leanrag_core.types.visible import visible
from leanrag_core.workbench.references import PassageScores, judged
from leanrag_core.workbench.role_checks import writers_at_common_server
from leanrag_core.workbench.samples import FIRST_SAMPLE
from pages.common import buttons, forms, keys, markup, session, state, widgets
from pages.common.frame import plain_errors
from pages.common.html import draw, html, joined
from pages.common.messages import known, message, say, say_or, words

_PATIENCE = 6.0  # seconds for a list of models where somebody tests the connection
_PATIENCE_OF_PAGE = 2.0  # where a page that opens waits for it
_PATIENCE_OF_ANSWER = 30.0  # seconds for a word of a model, which a server on this machine may have to load
_UNREACHED = ("endpoint.no_answer", "endpoint.no_answer_by_proxy", "endpoint.timeout", "endpoint.connection_broke")
_WINDOWS_ASKED = 12  # most models whose context window is requested


@dataclass(frozen=True)
class Tested:
    """A tested connection. windows: context windows in tokens, None if the server does not tell. answers: of the chosen
    models, none of which may be chosen."""

    models: ModelList
    windows: dict[str, int | None]
    answers: tuple[ModelAnswer, ...] = ()


def is_set_up(settings: Settings) -> bool:
    """Return whether there is an address, or a key for OpenAI's server."""
    return bool(settings.base_url) or keys.has_key(settings)


def listing(settings: Settings) -> ModelList:
    """Return the server's models. A server on this machine is asked at most every half minute; another one receives no
    request, and no key, before somebody has tested the connection."""
    if settings.local:
        return _listing(settings.base_url, settings.key_variable, keys.has_key(settings))
    tested = _tested().get(server_of(settings), None)
    return tested.models if tested is not None else ModelList()


def tested_window(settings: Settings, model: str) -> int | None:
    """Return the model's context window in tokens, as found by the connection test; None before it, or if the server
    does not tell."""
    tested = _tested().get(server_of(settings), None)
    return tested.windows.get(model) if tested is not None else None


def writers(settings: Settings) -> tuple[str, ...]:
    """Return the writing models for a choice: the endpoint's by their own names, model files as file:NAME."""
    files = tuple(file_model(each.name) for each in session.workbench().model_files.all() if each.file is not None)
    return (*(listing(settings).writing if is_set_up(settings) else ()), *files)


def full_name(chosen: str) -> str:
    """Return the full name of a model chosen among writers(), or typed."""
    return chosen if is_file(chosen) else endpoint_model(chosen)


def short_name(name: str) -> str:
    """Return the name of a model as in writers()."""
    return name if is_file(name) else model_title(name)


def server_of(settings: Settings) -> tuple[str, str]:
    """Return what a test is about: the address and the variable of the key."""
    return settings.base_url, settings.key_variable


@st.cache_resource(show_spinner=False)
def _tested() -> BoundedCache[tuple[str, str], Tested | None]:
    """Return the cache of connection tests, by server."""
    return BoundedCache(64)


@st.cache_resource(show_spinner=False)
def _last_read() -> BoundedCache[tuple[str, str], ModelList]:
    """Return the last lists of servers on this machine that were read, by server."""
    return BoundedCache(8)


@st.cache_data(ttl=30, max_entries=8, show_spinner=False)
def _listing(base_url: str, key_variable: str, has_key: bool) -> ModelList:
    """Return the server's models; those of the last time, with the error, where it does not answer in time."""
    bench = session.workbench()
    # This server's key, not the common one, since the servers may differ.
    settings = replace(bench.settings.read(), base_url=base_url, key_variable=key_variable)
    listed = list_models(bench.models.endpoint(_within(settings, _PATIENCE_OF_PAGE)))
    if listed.error is None:
        return _last_read().keep(server_of(settings), listed)
    known = _last_read().get(server_of(settings), listed)
    return replace(known, error=listed.error) if listed.error.code == "endpoint.timeout" else listed


def _within(settings: Settings, patience_seconds: float) -> Settings:
    return replace(settings, timeout_seconds=min(patience_seconds, settings.timeout_seconds))


def forget() -> None:
    """Forget the models of servers on this machine, so that they are asked again."""
    _listing.clear()


def test_connection(settings: Settings) -> Tested:
    """Ask the server for its models and their context windows, without the cache, and each chosen model for a word. A
    server that has no list of models may still have the chosen one."""
    forget()
    endpoint = session.workbench().models.endpoint(_within(settings, _PATIENCE))
    listed = list_models(endpoint)
    if listed.error is None:
        listed = list_models(endpoint)  # the first call also measured loading the client
    chosen = writers_at_common_server(settings) if listed.error is None or listed.nothing_there else ()
    asked = session.workbench().models.endpoint(_within(settings, _PATIENCE_OF_ANSWER))
    answers = tuple(ask_briefly(asked, model) for model in chosen)
    tested = Tested(listed, context_windows(endpoint, listed.names[:_WINDOWS_ASKED]), answers)
    _tested().keep(server_of(settings), tested)
    return tested


def show_test(tested: Tested, settings: Settings) -> None:
    """Draw which server answered, the number of models and the time, whether the chosen models answer, or what went
    wrong."""
    listed = tested.models
    if listed.error is not None:
        _no_list(listed, listed.error, settings)
        _answers(tested)
        return
    duration = numbers.duration(listed.seconds)
    message(say("settings.connection.good", address=listed.address, n=len(listed.names), time=duration), kind="good")
    if not listed.names:
        message(say("settings.connection.no_model"))
        return
    if tested.answers:
        _answers(tested)
    else:
        is_chosen = bool(writers_at_common_server(settings))
        message(say("settings.connection.test_again" if is_chosen else "settings.connection.list_only"))
    model, window, price = (say(f"settings.connection.{name}") for name in ("model", "window", "price"))
    table = pd.DataFrame(
        {
            model: listed.names,
            window: [_window(tested, name) for name in listed.names],
            price: [_price(settings, name) for name in listed.names],
        }
    )
    forms.table(
        table,
        260,
        column_config={
            model: st.column_config.TextColumn(width=220),
            window: st.column_config.TextColumn(width=130),
            price: st.column_config.TextColumn(width=140),
        },
    )


def _no_list(listed: ModelList, error: Message, settings: Settings) -> None:
    """Draw why there is no list of models, and what to do."""
    title = say("settings.connection.none" if error.code in _UNREACHED else "settings.connection.no_list")
    if listed.nothing_there:
        message(say("settings.connection.nothing_there", address=listed.address), kind="error", title=title)
        if not settings.base_url.rstrip("/").endswith("/v1"):
            draw(html('<div class="lr-small">{}</div>', say("settings.connection.up_to_v1")))
        return
    message(error, kind="error", title=title)
    remedy = f"settings.connection.remedy.{error.code.removeprefix('endpoint.')}"
    if known(remedy):
        draw(html('<div class="lr-small">{}</div>', say(remedy)))


def _answers(tested: Tested) -> None:
    """Draw of each chosen model whether it answered, and what the question took."""
    for answer in tested.answers:
        if answer.error is None:
            answered = say("settings.connection.answers", model=answer.model, time=numbers.duration(answer.seconds))
            message(answered, kind="good")
        else:
            message(answer.error, kind="error", title=say("settings.connection.silent", model=answer.model))


def _window(tested: Tested, name: str) -> str:
    if name not in tested.windows:
        return "–"
    window = tested.windows[name]
    return say("settings.connection.unknown") if window is None else f"{window:,}"


def _price(settings: Settings, name: str) -> str:
    price = settings.prices.get(name)
    if price is None:
        return "–"
    return say(
        "settings.connection.price_of", prompt=numbers.money(price.prompt), reply=numbers.money(price.completion)
    )


def pick_model(
    title: str, name: str, listed: Sequence[str], *, blank: str = "", on_pick: Callable[[str], None] | None = None
) -> str:
    """Return the model remembered under `name`, chosen from the listed ones or typed. blank: label for no model, if
    that is allowed. on_pick: called when another one is chosen."""
    chosen = state.recall(name)
    if not chosen and not blank and len(listed) == 1:
        chosen = listed[0]
        state.remember(name, chosen)
    options = [*([""] if blank else []), *listed, *([chosen] if chosen and chosen not in listed else [])]

    def pick(mount: widgets.Mount[str]) -> str | None:
        if listed:
            index = options.index(mount.value) if mount.value in options else None
            picked = st.selectbox(
                title,
                options,
                format_func=lambda model: visible(model) or blank,
                **mount.wired,
                accept_new_options=True,
                index=index,
                placeholder=say("settings.model.choose"),
            )
        else:
            hint = blank or say("settings.model.write")
            picked = st.text_input(title, value=mount.value, **mount.wired, placeholder=hint)
        return picked

    def keep(wanted: str) -> None:
        state.remember(name, wanted)
        if on_pick is not None:
            on_pick(wanted)

    base = f"lr_{name}_{'chosen' if listed else 'written'}"
    picked: str = widgets.show(base, chosen, pick, keep, read=lambda stored: str(stored or "").strip())
    return picked


_VERDICTS = {"good": "good", "usable": "note", "useless": "error"}  # kinds of the message box
_COMPARED = (NORMALISED, EXACT, EMBEDDING)
_PASSAGE_TOKENS = 320


def check_panel(settings: Settings) -> None:
    """Draw the choice of a model and a passage, the check and its result."""
    left, right = st.columns([5, 7], gap="large")
    with left:
        model = pick_model(say("settings.calls.model"), "check_model", writers(settings))
        passage = widgets.remembered(
            "check_passage",
            sample_passage(f"sample-{FIRST_SAMPLE}"),
            lambda mount: st.text_area(say("build.prompts.passage"), mount.value, **mount.wired, height=250),
            widgets.Values(write=lambda text: text or " "),
            key="check_passage",
        )
        ready = bool(model and passage.strip())
        if buttons.secondary(say("settings.check.button"), "rule", "check_now", disabled=not ready):
            st.session_state.pop("lr_checked", None)
            with plain_errors(), st.spinner(say("build.prompts.waiting", model=forms.plain(model)), show_time=True):
                check = check_model(session.workbench().models.make(), model, passage, IndexConfig())
                st.session_state["lr_checked"] = check
                st.session_state["lr_checked_scores"] = session.workbench().references.passage_scores(
                    passage,
                    GivenGraph(check.entities, tuple((source, target, "") for source, target, _ in check.relations)),
                )
        caption = say("settings.check.caption" if model else "settings.check.choose_model")
        draw(markup.hint(caption))
    with right:
        checked = st.session_state.get("lr_checked")
        if checked is None:
            draw(markup.muted(say("settings.check.what")))
        else:
            with st.container(gap="xsmall"):
                show_check(checked, st.session_state.get("lr_checked_scores"))


def show_check(checked: ModelCheck, scores: PassageScores | None = None) -> None:
    """Draw the result of a check. scores: against the reference graph, if the passage is from a sample corpus."""
    checked = checked if scores is None else judged(checked, scores)
    message(say(f"settings.check.{checked.verdict}"), kind=_VERDICTS[checked.verdict], title=checked.model)
    facts = [
        numbers.duration(checked.seconds),
        say("settings.check.speed", n=f"{checked.tokens_per_second:,.0f}"),
        say("settings.calls.tokens", read=checked.prompt_tokens, written=checked.completion_tokens),
        say("settings.check.window", n=checked.window) if checked.window else say("settings.check.no_window"),
        say_or(checked.mode, f"settings.check.mode.{checked.mode}"),
    ]
    draw(markup.muted(say("ask.comma").join(facts) + say("text.stop")))
    if checked.remarks:
        remarks = joined(html("<div>{}</div>", words(remark)) for remark in checked.remarks)
        draw(html('<div class="lr-notes">{}</div>', remarks))
    if scores is not None:
        _scores(checked.model, scores)
    if checked.entities:
        draw(markup.label(say("build.entities"), f"{len(checked.entities):,}"))
        entities = pd.DataFrame(checked.entities, columns=[say("build.column.name"), say("library.column.type")])
        forms.table(entities, 210)
    if checked.relations:
        draw(markup.label(say("build.relations"), f"{len(checked.relations):,}"))
        ends, says = [say("settings.check.from"), say("settings.check.to")], say("settings.check.says")
        relations = pd.DataFrame(checked.relations, columns=[*ends, says])
        forms.table(relations, 210, column_config={says: st.column_config.TextColumn(width="large")})
    with st.expander(say("settings.check.raw")):
        markup.code(checked.raw or say("settings.check.empty"), height=260)


def _scores(model: str, scores: PassageScores) -> None:
    """Draw how much of the passage's reference graph the model and others found, what the model missed, and what it
    added."""
    draw(markup.label(say("settings.check.beside"), say("settings.check.by_hand")))
    rows = [
        (
            name if match.match == NORMALISED else "",
            say(f"settings.check.compared.{match.match}"),
            _of(match.entities.hit, match.entities.wanted),
            _of(match.entities.right, match.entities.given),
            _of(match.relations.hit, match.relations.wanted),
            _of(match.relations.right, match.relations.given),
        )
        for name, score in {model: scores.model, say("settings.check.builtin"): scores.builtin}.items()
        for match in sorted(score.matches, key=lambda match: _COMPARED.index(match.match))
    ]
    given_title = say("settings.check.of_given")
    columns = [
        say("settings.check.extraction"),
        say("settings.check.names"),
        say("build.entities"),
        given_title,
        say("build.relations"),
        f"{given_title} ",  # the columns of a table need distinct names
    ]
    table = pd.DataFrame(rows, columns=columns)
    forms.table(table, 280)
    examples = scores.model.examples
    for title, listed in (
        (say("settings.check.missed_entities"), examples.missed_entities),
        (say("settings.check.missed_relations"), examples.missed_relations),
        (say("settings.check.other_entities"), examples.other_entities),
        (say("settings.check.other_relations"), examples.other_relations),
    ):
        if listed:
            names = say("text.semicolon").join(each.name for each in listed)
            draw(markup.lead(say("settings.check.listed", what=title), visible(names), "lr-small"))


def _of(part: int, whole: int) -> str:
    return say("job.done_of", done=part, total=whole)


def sample_passage(corpus_id: str) -> str:
    """Return a passage of running text from the corpus; empty before the corpus has been read."""
    bench = session.workbench()
    known = {corpus.id for corpus in bench.corpora.all()}
    listed = bench.corpora.documents(corpus_id) if corpus_id in known else []
    return _passage(corpus_id, listed[0].id) if listed else ""


@st.cache_data(max_entries=32, show_spinner=False)
def _passage(corpus_id: str, document_id: str) -> str:
    document = session.workbench().corpora.document(corpus_id, document_id)
    chunks = chunk_documents([document], max_tokens=_PASSAGE_TOKENS, overlap_tokens=0)
    return chunks[min(1, len(chunks) - 1)].text if chunks else ""
