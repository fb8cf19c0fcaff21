"""Every strategy in every scope of five documents: nothing comes from outside, and the cut index is one like others."""

import random
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from leanrag_core import Workbench
from leanrag_core.errors import InvalidConfig
from leanrag_core.files.records import from_json, to_json
from leanrag_core.retrieval.base import strategies
from leanrag_core.strategy_contract import Case, problems, untimed
from leanrag_core.types.index import Index
from leanrag_core.types.scope import ALL, Scope
from leanrag_core.types.trace import Trace
from tests.scoping.corpus import FILES, MARKERS, QUESTION, build

NAMES = tuple(info.name for info in strategies().strategies)
SCOPES = tuple(names for size in range(1, len(FILES)) for names in combinations(FILES, size))
ASKED = 300  # pairs of a scope and a strategy, drawn once


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Workbench:
    return Workbench.default(tmp_path_factory.mktemp("scopes"))


@pytest.fixture(scope="module")
def index(home: Workbench) -> Index:
    return build(home)


def outside(trace: Trace, view: Index, names: tuple[str, ...]) -> list[str]:
    """Return what of the trace is not of those documents."""
    others = [word for name in FILES if name not in names for word in MARKERS[name]]
    texts = [trace.context.text, *(f"{item.name} {item.text}" for item in trace.items)]
    texts += [relation.description for relation in trace.relations]
    wrong = [f"{word} is named" for word in others if any(word.casefold() in text.casefold() for text in texts)]
    wrong += [item.name for item in trace.passages if item.source and item.source.document not in names]
    known = view.layers[0].row_of
    wrong += [item.name for item in trace.items if item.kind == "entity" and item.id not in known]
    return wrong


def test_nothing_from_outside_is_retrieved_by_any_strategy_in_any_scope(home: Workbench, index: Index) -> None:
    pairs = sorted(random.Random(7).sample([(names, name) for names in SCOPES for name in NAMES], ASKED))
    assert {name for _, name in pairs} == set(NAMES)
    assert {names for names, _ in pairs} == set(SCOPES)
    for names, name in pairs:
        view = home.scopes.index(index, Scope(documents=names))
        trace = home.retrieve(index, QUESTION, name, scope=Scope(documents=names))
        assert (names, name, outside(trace, view, names)) == (names, name, [])
        assert trace.scope == Scope(documents=names)


def test_what_comes_from_outside_would_be_seen(home: Workbench, index: Index) -> None:
    view = home.scopes.index(index, Scope(documents=("winter.md",)))
    told = outside(home.retrieve(index, QUESTION), view, ("winter.md",))
    assert "Torvex is named" in told
    assert "Hives" in told


@pytest.mark.parametrize("name", NAMES)
def test_what_holds_for_every_strategy_holds_in_a_scope(home: Workbench, index: Index, name: str) -> None:
    view = home.scopes.index(index, Scope(documents=("hives.md", "honey.md")))
    case = Case(home, view, name, QUESTION, home.retrieve(view, QUESTION, name))
    assert problems(case) == []


@pytest.mark.parametrize("name", NAMES)
def test_a_scope_of_all_documents_gives_the_same_bytes(home: Workbench, index: Index, name: str) -> None:
    whole = to_json(untimed(home.retrieve(index, QUESTION, name)))
    for scope in (None, ALL, Scope(documents=tuple(FILES)), Scope(folders=("",))):
        assert to_json(untimed(home.retrieve(index, QUESTION, name, scope=scope))) == whole
    assert b'"scope"' not in whole


def test_an_answer_in_a_scope_says_so_and_cites_what_is_inside(home: Workbench, index: Index) -> None:
    answer = home.ask(index, "Who treats Varroa destructor?", scope=Scope(documents=("winter.md",)))
    assert answer.trace.scope == Scope(documents=("winter.md",))
    assert answer.trace.notes[0].values["n"] == 1
    assert {item.source.document for item in answer.trace.passages if item.source} == {"winter.md"}
    assert "Belomax" not in answer.text


# The cut index


@pytest.mark.parametrize("names", SCOPES)
def test_a_cut_index_is_a_hierarchy_over_what_its_documents_mention(
    home: Workbench, index: Index, names: tuple[str, ...]
) -> None:
    view = home.scopes.index(index, Scope(documents=names))
    assert tuple(view.documents["name"].to_pylist()) == tuple(sorted(names))
    base = view.layers[0]
    for row in range(len(base)):
        assert len(base.chunks_of(row))
        before = index.layers[0].entity(index.layers[0].row_of[base.entity(row).id])
        assert [view.chunk_cells["id"][chunk].as_py() for chunk in base.chunks_of(row)] == [
            id_
            for chunk in before.chunks
            if (id_ := index.chunk_cells["id"][chunk].as_py()) in view.chunks["id"].to_pylist()
        ]
    assert len(view.layers[-1]) == 1
    for below, above in zip(view.layers, view.layers[1:], strict=False):
        assert sorted(set(below.parent.tolist())) == list(range(len(above)))
        assert len(above) < len(below)
        strengths = int(np.sum(above.relations["strength"].to_numpy()))
        inside = int((below.parent[below.ends[:, 0]] == below.parent[below.ends[:, 1]]).sum())
        assert strengths + inside == below.relations.num_rows
        assert np.allclose(np.linalg.norm(above.vectors, axis=1), 1, atol=1e-3)
    every = [text for layer in view.layers for text in layer.entities["description"].to_pylist()]
    every += [text for layer in view.layers for text in layer.relations["description"].to_pylist()]
    every += [str(cell) for layer in view.layers for cell in layer.entities["findings"].to_pylist()]
    others = [word for name in FILES if name not in names for word in MARKERS[name]]
    assert [word for word in others if any(word in text for text in every)] == []


def test_the_same_scope_gives_the_same_index_whoever_cuts_it(home: Workbench, index: Index) -> None:
    scope = Scope(documents=("mites.md", "winter.md"))
    view, again = home.scopes.index(index, scope), Workbench(home.root).scopes.index(index, scope)
    assert view is home.scopes.index(index, scope)
    for own, other in zip(view.layers, again.layers, strict=True):
        assert own.entities.equals(other.entities)
        assert own.relations.equals(other.relations)
        assert np.array_equal(own.vectors, other.vectors)


def test_texts_that_rest_on_documents_inside_alone_stay(home: Workbench, index: Index) -> None:
    view = home.scopes.index(index, Scope(documents=("mites.md", "hives.md", "winter.md")))
    assert view.cut is not None
    stayed = [id_ for id_ in view.layers[0].entities["id"].to_pylist() if id_ not in view.cut.rewritten]
    for id_ in stayed:
        own, before = (each.layers[0].entity(each.layers[0].row_of[id_]) for each in (view, index))
        assert (own.name, own.description) == (before.name, before.description)
    assert stayed
    assert view.cut.rewritten


def test_a_cut_of_a_cut_is_of_the_whole(home: Workbench, index: Index) -> None:
    one = home.scopes.index(index, Scope(documents=("mites.md",)))
    other = home.scopes.index(one, Scope(documents=("honey.md",)))
    assert other.documents["name"].to_pylist() == ["honey.md"]
    assert home.scopes.index(one, None) is one


def test_the_size_of_a_scope_is_told_before_it_is_asked(home: Workbench, index: Index) -> None:
    size = home.scopes.size(index, Scope(documents=("mites.md", "honey.md")))
    assert (size.documents, size.all_documents) == (2, 5)
    assert 0 < size.chunks < index.chunks.num_rows


@pytest.mark.parametrize(
    ("scope", "code"),
    [
        (Scope(documents=("no.md",)), "scope.unknown_document"),
        (Scope(folders=("reports",)), "scope.unknown_folder"),
        (Scope(tags=("law",)), "scope.unknown_tag"),
        (Scope(since="2024"), "scope.holds_nothing"),
    ],
)
def test_a_scope_that_holds_nothing_says_why(home: Workbench, index: Index, scope: Scope, code: str) -> None:
    with pytest.raises(InvalidConfig) as caught:
        home.retrieve(index, QUESTION, scope=scope)
    assert caught.value.message.code == code


def test_tags_and_dates_set_in_the_corpus_are_looked_at(home: Workbench, index: Index) -> None:
    corpus = index.manifest.corpus.id
    ids = {row.name: row.id for row in home.corpora.documents(corpus)}
    home.corpora.describe(corpus, [ids["mites.md"], ids["winter.md"]], tags=["health", " care,health "], date="2023-11")
    home.corpora.describe(corpus, [ids["honey.md"]], date="2024-06-30")
    try:
        inside = [
            home.scopes.index(index, scope).documents["name"].to_pylist()
            for scope in (
                Scope(tags=("care",)),
                Scope(since="2024"),
                Scope(until="2023"),
                Scope(documents=("honey.md", "mites.md"), since="2023"),
            )
        ]
        assert inside == [["mites.md", "winter.md"], ["honey.md"], ["mites.md", "winter.md"], ["honey.md", "mites.md"]]
        assert home.corpora.documents(corpus)[3].tags == ("care", "health")
    finally:
        home.corpora.describe(corpus, ids.values(), tags=[], date="")
    assert home.corpora.data(corpus) == {}


def test_a_trace_in_a_scope_survives_the_disk(home: Workbench, index: Index) -> None:
    trace = home.retrieve(index, QUESTION, scope=Scope(documents=("fields.md",)))
    assert from_json(Trace, to_json(trace)) == trace
    assert replace(trace, scope=None) != trace
