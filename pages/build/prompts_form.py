"""The prompts of an index: each can be edited, is checked at once, and can be tried on a passage beside the
catalog's."""

import streamlit as st

from leanrag_core.errors import InvalidConfig
from leanrag_core.indexing.chunking import chunks_of_build
from leanrag_core.indexing.model_check import ModelCheck, check_model
from leanrag_core.messages.catalog import joined_sentences
from leanrag_core.prompts.catalog import PromptBook, load_prompt
from leanrag_core.types.config import IndexConfig
from pages.common import buttons, choices, forms, markup, session, state, widgets
from pages.common.frame import plain_errors
from pages.common.html import draw, html, joined
from pages.common.messages import message, say, words

TASKS = ("extract_graph", "glean_graph", "merge_descriptions", "aggregate_entity", "aggregate_relation", "answer")
_EDITED = "lr_prompts"  # task -> text, only for prompts that differ from the catalog's


def _edited() -> dict[str, str]:
    return state.in_session(_EDITED, dict[str, str])


def take(prompts: dict[str, str]) -> None:
    """Replace the edited prompts by these; all others are the catalog's. For callbacks."""
    st.session_state[_EDITED] = {task: text for task, text in prompts.items() if task in TASKS}


def panel(corpus_id: str, model: str, entity_types: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """Draw the prompts in a fold; return those that differ from the catalog's, as IndexConfig takes them."""
    count = len(_edited())
    label = say("build.prompts.edited", n=count) if count else say("build.prompts")
    titles = {task: _title(task) for task in TASKS}
    with st.expander(label, icon=":material/edit_note:", key="prompts_fold"):
        task = choices.segments("prompt_task", say("build.prompts.prompt"), titles, key="prompt_task")
        editor(task)
        if task == "extract_graph":
            preview(corpus_id, model, entity_types)
    return tuple(sorted(_edited().items()))


def _title(task: str) -> str:
    title = say(f"build.prompts.{task}")
    return say("build.prompts.is_edited", title=title) if task in _edited() else title


def editor(task: str) -> None:
    """Draw an editor for the prompt of one task, and below it what is wrong with it."""
    catalog = load_prompt(task)

    def keep(text: str) -> str | None:
        if text.strip() == catalog.text.strip() or not text.strip():
            _edited().pop(task, None)
        else:
            _edited()[task] = text
            return None
        return catalog.text

    widgets.show(
        f"prompt_{task}",
        _edited().get(task, catalog.text),
        lambda mount: st.text_area(
            say("library.text.text"), mount.value, **mount.wired, height=320, label_visibility="collapsed"
        ),
        keep,
    )
    fields = ", ".join(f"{{{name}}}" for name in sorted(catalog.fields))
    draw(markup.hint(say("build.prompts.hint", fields=fields)))
    if task in _edited():
        try:
            PromptBook([(task, _edited()[task])])
        except InvalidConfig as error:
            message(error, kind="error")
        buttons.tertiary(say("build.prompts.restore"), "undo", f"reset_{task}", reset, task)


def reset(task: str) -> None:
    """Restore the catalog's prompt. For callbacks."""
    _edited().pop(task, None)


def preview(corpus_id: str, model: str, entity_types: tuple[str, ...]) -> None:
    """Draw a trial of the extraction prompt on a passage, beside the catalog's prompt if it was edited."""
    draw(markup.label(say("build.prompts.try_on_chunk")))
    key = f"preview_passage_{corpus_id}"
    passage = widgets.remembered(
        key,
        choose_chunk(corpus_id, key),
        lambda mount: st.text_area(
            say("build.prompts.passage"), mount.value, **mount.wired, height=140, label_visibility="collapsed"
        ),
        key=key,
    )
    edited_prompt = _edited().get("extract_graph")
    trial_key = (model, passage, edited_prompt, entity_types)
    label = say("build.prompts.try", n=2 if edited_prompt else 1) if model else say("build.prompts.choose_model")
    if buttons.secondary(label, "play_arrow", "preview_now", disabled=not model or not passage.strip()):
        st.session_state.pop("lr_preview", None)
        with plain_errors(), st.spinner(say("build.prompts.waiting", model=forms.plain(model)), show_time=True):
            models, config = session.workbench().models.make(), IndexConfig(entity_types=entity_types)
            catalogs = check_model(models, model, passage, config)
            edited = None
            if edited_prompt:
                mine = IndexConfig(entity_types=entity_types, prompts=(("extract_graph", edited_prompt),))
                edited = check_model(models, model, passage, mine)
            st.session_state["lr_preview"] = (trial_key, catalogs, edited)
    before, catalogs, edited = st.session_state.get("lr_preview", (None, None, None))
    if catalogs is None:
        return
    if before != trial_key:
        draw(markup.muted(say("build.prompts.outdated")))
    if edited is None:
        entity_names = ", ".join(f"{name} ({kind})" for name, kind in catalogs.entities) or say("build.prompts.nothing")
        markup.block(
            say("build.prompts.catalogs_finds"),
            html('<div class="lr-small">{}</div>', entity_names),
            say("count.entities", n=len(catalogs.entities))
            + say("ask.comma")
            + say("count.relations", n=len(catalogs.relations)),
        )
    else:
        difference(catalogs, edited)


_OFFERED = 1_000  # most documents to choose from; a browser cannot take a list of a million


def choose_chunk(corpus_id: str, passage: str) -> str:
    """Ask for a document and the number of a chunk, and return the chunk's text. Another choice discards the passage
    written under that name."""
    offered = session.workbench().corpora.documents(corpus_id)[:_OFFERED]
    documents = {document.id: document.name for document in offered}
    if not documents:
        return ""
    left, right = st.columns([3, 1], gap="small")
    with left:
        key = f"preview_document_{corpus_id}"
        picked = choices.dropdown(key, say("build.prompts.document"), documents, key=key, forgets=(passage,))
    texts = _chunks(corpus_id, picked, forms.chunking()) or [""]
    n = len(texts)
    with right:
        label, key = say("build.prompts.chunk_of", n=n), f"preview_number_{corpus_id}"
        number = choices.number(key, label, 1, (1, n), key=key, forgets=(passage,), step=1)
    return str(texts[number - 1])


@st.cache_data(max_entries=16, show_spinner=False)
def _chunks(corpus_id: str, document_id: str, config: IndexConfig) -> list[str]:
    """Return the texts of a document's chunks as a build would cut them."""
    document = session.workbench().corpora.document(corpus_id, document_id)
    return [chunk.text for chunk in chunks_of_build([document], config)]


def difference(catalogs: ModelCheck, edited: ModelCheck) -> None:
    """Draw what only the edited prompt finds, with a plus, and what only the catalog's finds, with a minus."""
    lines: list[str] = []
    same = 0
    for title, before, after in (
        (say("build.prompts.entity"), _entities(catalogs), _entities(edited)),
        (say("build.prompts.relation"), _relations(catalogs), _relations(edited)),
    ):
        same += len(before.keys() & after.keys())
        for sign, texts in (
            ("in", [after[key] for key in after if key not in before]),
            ("out", [before[key] for key in before if key not in after]),
        ):
            told = (say("text.titled", title=title, text=text) for text in texts)
            lines += [html('<div class="{}"><span>{}</span></div>', sign, line) for line in told]
    body = joined(lines) or say("build.prompts.both_same")
    note = say(
        "build.prompts.difference",
        entities=len(catalogs.entities),
        entities_now=len(edited.entities),
        relations=len(catalogs.relations),
        relations_now=len(edited.relations),
        same=same,
    )
    markup.block(say("build.prompts.against"), html('<div class="lr-diff">{}</div>', body), note)
    for whose, check in ((say("build.prompts.catalogs"), catalogs), (say("build.prompts.yours"), edited)):
        if check.verdict == "useless":
            remarks = joined_sentences(map(words, check.remarks)) or say("build.prompts.found_nothing")
            message(remarks, kind="error", title=say("build.prompts.whose", whose=whose))


def _entities(check: ModelCheck) -> dict[str, str]:
    return {f"{name.casefold()}|{kind.casefold()}": f"{name} ({kind})" for name, kind in check.entities}


def _relations(check: ModelCheck) -> dict[str, str]:
    return {
        "|".join(sorted((source.casefold(), target.casefold()))): f"{source}, {target}"
        for source, target, _ in check.relations
    }
