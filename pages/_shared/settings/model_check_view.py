"""Trying a model on one passage: verdict, remarks, speed, what was read, and the raw reply."""

import pandas as pd
import streamlit as st

from leanrag_core.evaluation.extraction import GivenGraph
from leanrag_core.evaluation.extraction_names import EMBEDDING, EXACT, NORMALISED
from leanrag_core.figures import numbers
from leanrag_core.indexing.chunking import chunk_documents
from leanrag_core.indexing.model_check import ModelCheck
from leanrag_core.services.extraction_scores import PassageScores
from leanrag_core.services.samples import FIRST_SAMPLE
from leanrag_core.types.settings import Settings
from leanrag_core.types.visible import visible
from pages._shared.common import forms, markup, session, widgets
from pages._shared.common.frame import message, plain_errors
from pages._shared.common.html import draw, html, joined
from pages._shared.settings import endpoint_view

_VERDICTS = {
    "good": ("good", "Good. This model can build an index."),
    "usable": ("note", "Usable, with losses. See the remarks."),
    "useless": ("error", "Not usable for a build. See the remarks."),
}
_MODES = {
    "schema": "the server holds replies to a JSON schema",
    "object": "the server has JSON mode, without a schema",
    "plain": "the server has no JSON mode",
}
_COMPARED = {
    NORMALISED: "without case, articles, punctuation",
    EXACT: "exactly as written",
    EMBEDDING: "near by embedding",
}
_PASSAGE_TOKENS = 320


def panel(settings: Settings) -> None:
    """A model, a passage, the check and its outcome."""
    left, right = st.columns([5, 7], gap="large")
    with left:
        models = endpoint_view.listing(settings)
        model = endpoint_view.pick_model("Model", "check_model", models, names=models.writing)
        passage = widgets.remembered(
            "check_passage",
            sample_passage(f"sample-{FIRST_SAMPLE}"),
            lambda mount: st.text_area("Passage", mount.value, key=mount.key, on_change=mount.changed, height=250),
            write=lambda text: text or " ",  # emptied by hand: the sample does not come back by itself
            key="check_passage",
        )
        ready = bool(model and passage.strip())
        if st.button("Check the model", key="check_now", icon=":material/rule:", disabled=not ready):
            st.session_state.pop("lr_checked", None)
            with plain_errors(), st.spinner(f"Waiting for {forms.plain(model)}", show_time=True):
                made = session.workbench().check_model(model, passage)
                st.session_state["lr_checked"] = made
                st.session_state["lr_checked_scores"] = session.workbench().passage_scores(
                    passage,
                    GivenGraph(made.entities, tuple((source, target, "") for source, target, _ in made.relations)),
                )
        caption = "One call with the prompt of a build. Nothing is kept."
        draw(html('<div class="lr-hint">{}</div>', caption if model else "Choose a model first."))
    with right:
        checked = st.session_state.get("lr_checked")
        if checked is None:
            draw(
                html(
                    '<div class="lr-small lr-muted">The check says whether the model keeps to the form that '
                    "a build needs, what it finds in the passage, and how fast it writes.</div>"
                )
            )
        else:
            with st.container(gap="xsmall"):
                show(checked, st.session_state.get("lr_checked_scores"))


def show(checked: ModelCheck, scores: PassageScores | None = None) -> None:
    """The outcome of a check. scores: beside the reference graph, where the passage is of a sample corpus."""
    kind, words = _VERDICTS[checked.verdict]
    message(words, kind=kind, title=checked.model)
    speed = f"{numbers.duration(checked.seconds)}, {checked.tokens_per_second:,.0f} tokens a second"
    window = f"a context window of {checked.window:,} tokens" if checked.window else "context window unknown"
    facts = f"{speed}; {checked.prompt_tokens:,} tokens read, {checked.completion_tokens:,} written; {window}; "
    draw(html('<div class="lr-small lr-muted">{}.</div>', facts + _MODES.get(checked.mode, checked.mode)))
    if checked.remarks:
        remarks = joined(html("<div>{}</div>", remark) for remark in checked.remarks)
        draw(html('<div class="lr-notes">{}</div>', remarks))
    if scores is not None:
        _scores(checked.model, scores)
    if checked.entities:
        draw(markup.label("Entities", f"{len(checked.entities):,}"))
        entities = pd.DataFrame(checked.entities, columns=["Name", "Type"])
        st.dataframe(forms.visible_cells(entities), hide_index=True, height=forms.table_height(len(entities), 210))
    if checked.relations:
        draw(markup.label("Relations", f"{len(checked.relations):,}"))
        relations = pd.DataFrame(checked.relations, columns=["From", "To", "Says"])
        st.dataframe(
            forms.visible_cells(relations),
            hide_index=True,
            height=forms.table_height(len(relations), 210),
            column_config={"Says": st.column_config.TextColumn(width="large")},
        )
    with st.expander("The reply as it came"):
        markup.code(checked.raw or "(empty)", height=260)


def _scores(model: str, scores: PassageScores) -> None:
    """Which share of the reference graph's entities and relations of this passage was given, by whom; what the model
    missed, and what it gave besides."""
    draw(markup.label("Beside the reference graph", "written by hand"))
    rows = [
        (
            name if match.match == NORMALISED else "",
            _COMPARED[match.match],
            f"{match.entities.hit} of {match.entities.wanted}",
            f"{match.entities.right} of {match.entities.given}",
            f"{match.relations.hit} of {match.relations.wanted}",
            f"{match.relations.right} of {match.relations.given}",
        )
        for name, score in {model: scores.model, "built-in extractor": scores.builtin}.items()
        for match in sorted(score.matches, key=lambda match: list(_COMPARED).index(match.match))
    ]
    columns = ["Extraction", "Names", "Entities", "of those given", "Relations", "of those given "]
    table = pd.DataFrame(rows, columns=columns)
    st.dataframe(forms.visible_cells(table), hide_index=True, height=forms.table_height(len(table), 280))
    examples = scores.model.examples
    for title, listed in (
        ("Entities that it missed", examples.missed_entities),
        ("Relations that it missed", examples.missed_relations),
        ("Entities that the reference does not have", examples.other_entities),
        ("Relations that the reference does not have", examples.other_relations),
    ):
        if listed:
            names = "; ".join(each.name for each in listed)
            draw(html('<div class="lr-small"><b>{}:</b> {}</div>', title, visible(names)))


def sample_passage(corpus_id: str) -> str:
    """A passage of running text from the corpus, empty while it has none: on a first start it is being read."""
    bench = session.workbench()
    known = {corpus.id for corpus in bench.corpora()}
    listed = bench.documents(corpus_id) if corpus_id in known else []
    return _passage(corpus_id, listed[0].id) if listed else ""


@st.cache_data(max_entries=32, show_spinner=False)
def _passage(corpus_id: str, document_id: str) -> str:
    document = session.workbench().document(corpus_id, document_id)
    chunks = chunk_documents([document], max_tokens=_PASSAGE_TOKENS, overlap_tokens=0)
    return chunks[min(1, len(chunks) - 1)].text if chunks else ""
