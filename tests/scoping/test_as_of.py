"""Questions as of a date: what texts date otherwise does not enter the context, and what has no date stays."""

import pytest

from leanrag_core import Workbench
from leanrag_core.errors import InvalidConfig
from leanrag_core.files.records import from_json, to_json
from leanrag_core.retrieval.base import strategies
from leanrag_core.scoping.as_of import why_left_out
from leanrag_core.strategy_contract import Case, make_parts, problems, untimed
from leanrag_core.types.config import IndexConfig
from leanrag_core.types.index import Index
from leanrag_core.types.scope import Scope, read_scope, written
from leanrag_core.types.trace import Trace

FILES = {
    "board.md": "# Coast Board\n\nAda Thornbury chaired the Coast Board from 1998 to 2004. Bela Quarmax has chaired "
    "the Coast Board since 2005. The Coast Board keeps Holm Lighthouse. Holm Lighthouse was built in 1911 by Ivo "
    "Grundix.\n",
    "ferry.md": "# Ferry\n\nThe ferry sailed to Sandlux until 3 May 2010. Captain Torvex steered the ferry. In 2019 "
    "Wellix Lines bought the ferry. The ferry carries mail for the Coast Board.\n",
    "notes.md": "Date: 2012-06-01\n\n# Notes\n\nKeeper Mirolux left Holm Lighthouse last year. Keeper Mirolux "
    "kept bees.\n",
}
QUESTION = "Who chaired the Coast Board, and where did the ferry sail?"
NAMES = tuple(info.name for info in strategies().strategies)
GONE = {
    "2002": ("since 2005", "Wellix", "last year"),
    "2008-03": ("from 1998 to 2004", "Wellix", "last year"),
    "2015": ("from 1998 to 2004", "until 3 May 2010", "Wellix"),
    "1900": ("from 1998 to 2004", "since 2005", "Wellix", "1911", "Grundix", "last year"),
}
STAYS = ("Torvex", "carries mail")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Workbench:
    return Workbench.default(tmp_path_factory.mktemp("as-of"))


@pytest.fixture(scope="module")
def index(home: Workbench) -> Index:
    contents = [(name, text.encode()) for name, text in FILES.items()]
    corpus = home.add_documents("coast", contents).corpus_id
    built = home.build(corpus, IndexConfig(cluster_size=3, chunk_tokens=60, overlap_tokens=5))
    opened = home.indexes.open(built.folder_name)
    for name in NAMES:
        make_parts(home, opened, name)
    return opened


def texts(trace: Trace) -> str:
    parts = [trace.context.text, *(f"{item.name} {item.text}" for item in trace.items)]
    return "\n".join([*parts, *(relation.description for relation in trace.relations)])


def of_index(index: Index) -> str:
    cells = [str(layer.entities[name].to_pylist()) for layer in index.layers for name in ("description", "findings")]
    cells += [str(layer.relations["description"].to_pylist()) for layer in index.layers]
    return "\n".join([*cells, *(index.chunk(row).text for row in range(index.chunks.num_rows))])


@pytest.mark.parametrize("day", GONE)
@pytest.mark.parametrize("name", NAMES)
def test_what_was_not_valid_then_enters_no_context(home: Workbench, index: Index, name: str, day: str) -> None:
    trace = home.retrieve(index, QUESTION, name, scope=Scope(as_of=day))
    assert [words for words in GONE[day] if words in texts(trace)] == []
    assert trace.scope == Scope(as_of=day)


@pytest.mark.parametrize("name", ["leanrag", "vector", "lightrag", "bm25"])
def test_what_is_left_out_would_be_there_and_what_has_no_date_stays(home: Workbench, index: Index, name: str) -> None:
    whole = texts(home.retrieve(index, QUESTION, name))
    assert "since 2005" in whole
    assert "until 3 May 2010" in whole
    then = texts(home.retrieve(index, QUESTION, name, scope=Scope(as_of="2002")))
    assert [words for words in (*STAYS, "from 1998 to 2004", "until 3 May 2010") if words not in then] == []


@pytest.mark.parametrize("day", GONE)
def test_the_index_as_of_a_date_says_nothing_of_other_dates(home: Workbench, index: Index, day: str) -> None:
    view = home.scopes.index(index, Scope(as_of=day))
    assert [words for words in GONE[day] if words in of_index(view)] == []
    assert [words for words in STAYS if words not in of_index(view)] == []
    for row in range(view.chunks.num_rows):
        text = view.chunk(row).text
        whole = index.chunk(index.chunks["id"].to_pylist().index(view.chunk(row).id))
        assert len(text) == len(whole.text)  # places in documents stay


@pytest.mark.parametrize("name", NAMES)
def test_what_holds_for_every_strategy_holds_as_of_a_date(home: Workbench, index: Index, name: str) -> None:
    view = home.scopes.index(index, Scope(as_of="2008"))
    assert problems(Case(home, view, name, QUESTION, home.retrieve(view, QUESTION, name))) == []


@pytest.mark.parametrize("name", NAMES)
def test_without_a_date_nothing_changes(home: Workbench, index: Index, name: str) -> None:
    whole = to_json(untimed(home.retrieve(index, QUESTION, name)))
    assert to_json(untimed(home.retrieve(index, QUESTION, name, scope=Scope(as_of="")))) == whole
    assert b"as_of" not in whole


def test_a_date_on_which_all_was_valid_says_so_and_keeps_the_context(home: Workbench, index: Index) -> None:
    whole = home.retrieve(index, "Who kept bees?", scope=Scope(documents=("notes.md",)))
    then = home.retrieve(index, "Who kept bees?", scope=Scope(documents=("notes.md",), as_of="2012"))
    assert then.context == whole.context
    assert "as_of.note.nothing" in [note.code for note in then.notes]


def test_the_trace_says_how_many_are_left_out_and_why(home: Workbench, index: Index) -> None:
    view = home.scopes.index(index, Scope(as_of="2015"))
    assert view.cut is not None
    out = view.cut.left_out
    # Two sentences of the documents were over in 2015, and one had not happened.
    assert (out.passages.ended, out.passages.later) == (2, 1)
    assert out.relations.n + view.layers[0].relations.num_rows == index.layers[0].relations.num_rows
    note = next(note for note in home.retrieve(view, QUESTION).notes if note.code == "as_of.note")
    assert note.values["day"] == "2015"
    assert note.values["ended"] == out.relations.ended + out.sentences.ended + 2
    assert note.values["later"] == out.relations.later + out.sentences.later + 1


def test_a_relation_without_a_date_of_its_own_has_that_of_its_quotes() -> None:
    assert why_left_out("She chaired it from 1998 to 2004.", "2010") == "ended"
    assert why_left_out("She chaired it.", "2010") == ""
    assert why_left_out("She chaired it from 1998 to 2004, and again since 2008.", "2010") == ""


def test_an_answer_as_of_a_date_is_of_that_time(home: Workbench, index: Index) -> None:
    then = home.ask(index, "Who chaired the Coast Board?", scope=Scope(as_of="2002"))
    now = home.ask(index, "Who chaired the Coast Board?", scope=Scope(as_of="2020"))
    assert "Thornbury" in then.text
    assert "Quarmax" not in then.text
    assert "Quarmax" in now.text
    assert "Thornbury" not in now.text


def test_a_date_is_written_in_links_and_records() -> None:
    scope = Scope(folders=("reports",), as_of="2015-06")
    assert written(scope) == "folder:reports;as-of:2015-06"
    assert read_scope(written(scope)) == scope
    assert from_json(Scope, to_json(scope)) == scope
    assert b"as_of" not in to_json(Scope(tags=("law",)))
    with pytest.raises(InvalidConfig) as caught:
        Scope(as_of="June 2015")
    assert caught.value.message.code == "scope.no_date"
