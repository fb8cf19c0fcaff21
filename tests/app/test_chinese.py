"""Pages in Chinese: on Ask Latin letters are those of documents, names, units and addresses; no page has an English
sentence."""

import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from leanrag_core import Workbench
from leanrag_core.messages.catalog import languages, sentence
from leanrag_core.messages.message import message
from leanrag_core.models import minilm
from leanrag_core.retrieval.base import strategies
from leanrag_core.types.settings import LANGUAGES
from leanrag_core.types.summary import IndexSummary
from pages.ask import part_view
from pages.explore.views import views
from tests.app import drawn
from tests.app.conftest import QUESTIONS, TEXTS
from tests.app.job_records import FAILED, STARTED, a_job

QUESTION = "What do beekeepers use against Varroa destructor?"
Visit = Callable[..., AppTest]
CHINESE = re.compile(r"[\u4e00-\u9fff]")
LATIN = re.compile(r"[A-Za-z][A-Za-z' -]*[A-Za-z]|[A-Za-z]")
COUNTED_TWICE = re.compile(r"\d+ [个条份篇][\u4e00-\u9fff]+ ?[个条份篇]")  # such as "3 个文本块 个"
# Names of the program, of methods and systems, signs, units, marks of citations, layers and steps, and figures' dates.
NAMES = re.compile(
    r"LeanRAG(-walk)?|RAG|BM|E|GraphRAG( DRIFT| TS)?|FastGraphRAG|G-Retriever|HippoRAG|HiRAG|HyDE|IRCoT|KAG|LightRAG|"
    r"HyperGraphRAG|LazyGraphRAG|Z|LinearRAG|MiniRAG|PathRAG|RAPTOR|RQ-RAG|DRIFT|TS|HotpotQA|MuSiQue|WikiMultiHopQA|High|Low|Origin|"
    r"Youtu-GraphRAG|PageRank|Leiden|Okapi|Lucene|UMAP|L|RQ|Chroma|Ctrl|Enter|top|ms|s|min|λ|[EARC]\d*|L\d|[NCK]|UTF|JSON|HTML|PNG|Python|MB|"
    r"Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec"
)


class TextNodes(HTMLParser):
    """The texts between the tags of a piece of HTML, and what its attributes say to a reader."""

    def __init__(self, body: str) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.feed(body)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.texts += [value or "" for name, value in attrs if name in ("aria-label", "title", "alt")]

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def texts(app: AppTest) -> Iterator[str]:
    """Yield everything on the page that a person reads or hears."""
    for body in drawn.html(app):
        yield from TextNodes(body).texts
    yield from drawn.labels(app)
    for element in drawn.everything(app):
        proto = getattr(element, "proto", None)
        yield str(getattr(proto, "placeholder", "") or "")
        if element.type == "selectbox":
            yield from map(str, element.options)
        if element.type == "arrow_data_frame":
            yield from map(str, element.value.columns)
    for shown in drawn.plays(app):
        play = shown["play"]
        yield from shown["words"].values()
        yield from play["lines"].values()
        yield from (item["about"] for item in play["items"].values())
        yield from (frame[part] for frame in play["frames"] for part in ("lead", "rest"))
        yield from (part["title"] for kind in ("segments", "sections", "signs") for part in play[kind])
        for layout in play["layouts"]:
            yield from (text for row in layout["rows"] for text in (row["label"], row["facts"]))
    for answer in drawn.component(app, "lr_citations"):
        yield from (part["from"] for part in answer["parts"])


def data_of(home: Workbench, question: str = QUESTION, names: Sequence[str] = ("leanrag", "vector")) -> str:
    """Return all texts that come from documents or were made from them: of homes with the same indexes asked for once,
    since most tests have a copy of one home."""
    summaries = home.indexes.all()
    key = (tuple((each.id, each.title, each.corpus_name) for each in summaries), question, tuple(names))
    if key not in _DATA:
        _DATA[key] = _data_of(home, summaries, question, names)
    return _DATA[key]


_DATA: dict[tuple[object, ...], str] = {}


def _data_of(home: Workbench, summaries: Iterable[IndexSummary], question: str, names: Sequence[str]) -> str:
    parts = [*TEXTS.values(), *TEXTS, *(question["question"] for question in QUESTIONS)]
    parts += [each.title for each in home.presentations.all().presentations]
    for summary in summaries:
        parts += [summary.title, summary.corpus_name]
        index = home.indexes.open(summary.id)
        parts += [name for layer in index.layers for name in layer.entities["name"].to_pylist()]
        for strategy in names:
            trace = home.retrieve(index, question, strategy)
            parts += [trace.context.text, *(item.name for item in trace.items), *(item.text for item in trace.items)]
            parts += [item.type for item in trace.items]
            parts += [relation.description for relation in trace.relations]
            parts += [passage.source.title for passage in trace.passages if passage.source]
            answer = home.answer(index, trace)
            parts += [answer.text, *(f"{part.text} [{part.marks[0]}]" for part in answer.nearest_parts)]
    return plain("\n".join(parts))


def plain(text: str) -> str:
    """Return the text with white space folded, without Markdown's escapes, commands in quotes and files of the
    handbook."""
    return " ".join(re.sub(r"'[a-z]+ --?[^']*'|docs/[a-z_]+\.md", "", text.replace("\\", "")).split()).strip("… ")


def foreign(app: AppTest, data: str) -> list[str]:
    """Return the Latin texts on the page that no document holds and that are no names."""
    return foreign_among(texts(app), data)


def foreign_among(shown: Iterable[str], data: str) -> list[str]:
    """Return the Latin texts among these that no document holds and that are no names."""
    foreign_texts = []
    for text in map(plain, shown):
        if not LATIN.search(text) or text in data:
            continue
        runs = [run for run in LATIN.findall(text) if not NAMES.fullmatch(run) and run not in data]
        if runs or not (CHINESE.search(text) or all(NAMES.fullmatch(run) for run in LATIN.findall(text))):
            foreign_texts.append(text)
    return foreign_texts


def test_the_test_sees_an_english_page(home: Workbench, visit: Visit) -> None:
    app = visit("ask", home, q=QUESTION)
    assert {"Ask", "Strategy", "Frames of the retrieval"} <= set(foreign(app, data_of(home)))


URLS = (
    {},
    {"q": QUESTION},
    {"q": QUESTION, "strategy": "vector"},
    {"q": QUESTION, "show": "table"},
    {"q": QUESTION, "step": "lca", "n": "3"},
    {"q": "How far is the moon?"},
)


@pytest.mark.parametrize("url", URLS)
def test_ask_is_wholly_chinese(url: dict[str, str], home: Workbench, visit: Visit) -> None:
    data = data_of(home, url.get("q", QUESTION)) + url.get("q", "")
    app = visit("ask", home, lang="zh", **url)
    drawn.assert_sound(app)
    assert foreign(app, data) == []


@pytest.fixture(scope="module")
def home_with_parts(
    built: Path, one_model: Callable[[], minilm.MiniLM], tmp_path_factory: pytest.TempPathFactory
) -> Workbench:
    """Return a home whose index has the parts of all strategies."""
    home = Workbench.default(shutil.copytree(built, tmp_path_factory.mktemp("parts") / "home"))
    index = home.indexes.open(home.indexes.all()[0].id)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(minilm, "MiniLM", one_model)
        of_presets = {"youtu_plain_tree"}  # of the one without a schema
        for name in sorted(of_presets.union(*(info.parts for info in strategies().strategies))):
            home.parts.build(index, name)
    return home


@pytest.mark.parametrize("strategy", [info.name for info in strategies().strategies])
def test_every_strategy_is_wholly_chinese(strategy: str, home_with_parts: Workbench, visit: Visit) -> None:
    app = visit("ask", home_with_parts, lang="zh", q=QUESTION, strategy=strategy)
    drawn.assert_sound(app)
    assert foreign(app, data_of(home_with_parts, names=(strategy, "vector"))) == []


@pytest.mark.parametrize("strategy", [info.name for info in strategies().strategies])
def test_steps_and_notes_of_every_preset_are_chinese_and_count_once(strategy: str, home_with_parts: Workbench) -> None:
    home, data = home_with_parts, data_of(home_with_parts, names=(strategy, "vector"))
    index = home.indexes.open(home.indexes.all()[0].id)
    for preset in strategies().named(strategy).presets:
        trace = home.retrieve(index, QUESTION, strategy, **preset.options)
        shown = [sentence(part, "zh") for step in trace.steps for part in (step.title, step.caption)]
        shown += [sentence(note, "zh") for note in trace.notes]
        assert foreign_among(shown, data) == []
        assert [text for text in shown if COUNTED_TWICE.search(text)] == []


def test_explore_has_one_name() -> None:
    title = sentence(message("page.explore"), "zh")
    for code in ("play.word.explore", "play.word.show_whole"):
        assert f"“{title}”" in sentence(message(code), "zh")


def test_a_missing_index_part_and_its_job_are_chinese(
    home: Workbench, visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(part_view, "_QUICK_SECONDS", -1.0)
    app = visit("ask", home, lang="zh", q=QUESTION, strategy="youtu")
    assert "此索引尚没有" in drawn.text(app)
    assert foreign(app, data_of(home)) == []
    app.button("make_part").click().run()
    assert "正在制作 关系向量" in drawn.text(app)
    assert foreign(app, data_of(home)) == []


def test_the_day_of_a_job_is_in_chinese(home: Workbench, visit: Visit) -> None:
    job = a_job(home, STARTED, FAILED)
    said = drawn.text(visit("build", home, lang="zh", job=job.name))
    assert "2026年1月2日" in said
    assert "Jan 2026" not in said
    assert "簇大小 7，tau 默认" in said
    assert "clustersize" not in said


@pytest.mark.parametrize(
    ("page", "url"),
    [
        ("ask", {"q": QUESTION}),
        ("build", {}),
        *(("compare", {"q": QUESTION, "view": view}) for view in ("side", "contexts", "set", "board")),
        *(("evaluate", {"tab": tab}) for tab in ("results", "questions", "choice", "sweeps", "extraction")),
        *(("explore", {"view": view.name}) for view in views()),
        ("library", {}),
        ("settings", {}),
    ],
)
def test_nothing_stands_between_two_chinese_sentences(
    page: str, url: dict[str, str], home: Workbench, visit: Visit
) -> None:
    app = visit(page, home, lang="zh", **url, **({"job": a_job(home, STARTED, FAILED).name} if page == "build" else {}))
    drawn.assert_sound(app)
    shown = [*texts(app), *("".join(TextNodes(body).texts) for body in drawn.html(app))]
    assert any("。" in text for text in shown)
    assert [text for text in shown if re.search(r"[。；，：] \S| （", text)] == []
    assert [text for text in shown if re.search(r"[\u4e00-\u9fff][,:;!?]", text)] == []


def test_drawers_and_the_card_of_a_node_are_chinese(home: Workbench, visit: Visit) -> None:
    data = data_of(home)
    index = home.indexes.open(home.indexes.all()[0].id)
    trace = home.retrieve(index, QUESTION)
    app = visit("ask", home, lang="zh", q=QUESTION, node=trace.with_role("seed")[0].id)
    assert foreign(app, data) == []
    for section in ("entities", "relations"):
        item = trace.context.section(section).items[0]
        app.session_state["lr_memory"].values["at"] = item.ref
        app.run()
        assert foreign(app, data) == []
    app.session_state["lr_memory"].values["at"] = trace.passages[0].id
    app.run()
    assert drawn.component(app, "lr_passage")
    assert foreign(app, data) == []


def test_what_a_person_asks_of_an_answer_is_chinese(home: Workbench, visit: Visit) -> None:
    data = data_of(home)
    index = home.indexes.open(home.indexes.all()[0].id)
    trace = home.retrieve(index, QUESTION, top_n=2, top_c=1)
    chunk = trace.passages[0].id
    data += (
        home.answer(index, trace).text + home.answer(index, home.explanations.without(index, trace, [chunk]).trace).text
    )
    for wanted in ("Lorenzo Langstroth", "Beekeepers inspect the movable frames", "no such words"):
        app = visit("ask", home, lang="zh", q=QUESTION, n="2", c="1", why=wanted, without=chunk, wrote=QUESTION)
        assert foreign(app, data + wanted) == []
    app.button("history").click().run()
    assert foreign(app, data + wanted) == []


def test_with_an_index_that_is_gone_the_page_is_chinese(home: Workbench, visit: Visit) -> None:
    assert foreign(visit("ask", home, lang="zh", index="gone"), data_of(home) + "gone") == []


def test_a_question_that_is_too_long_is_refused_in_chinese(home: Workbench, visit: Visit) -> None:
    app = visit("ask", home, lang="zh")
    app.text_area("lr_draft").input("x" * 9000)
    app.button("ask_button").click().run()
    assert "个字符" in drawn.text(app)
    assert foreign(app, data_of(home) + "x" * 9000) == []


@pytest.mark.parametrize(
    ("page", "url"),
    [
        ("library", {}),
        ("build", {}),
        ("build", {"b_engine": "Endpoint"}),
        *(("explore", {"view": view.name}) for view in views()),
        ("compare", {"q": QUESTION}),
        ("settings", {}),
    ],
)
def test_no_page_has_an_english_sentence(page: str, url: dict[str, str], home: Workbench, visit: Visit) -> None:
    data = data_of(home) + "Three short texts."  # the description of the corpus
    shown = [run for text in texts(visit(page, home, lang="zh", **url)) for run in LATIN.findall(plain(text))]
    assert [run for run in shown if len(run.split()) > 2 and run not in data] == []


def test_the_settings_show_the_language_of_the_session(home: Workbench, visit: Visit) -> None:
    app = visit("settings", home, lang="zh")
    assert app.button_group("language").value == "zh"
    app.button_group("language").set_value("en").run()
    assert "Settings" in drawn.text(app)


def test_the_setting_decides_and_a_link_goes_before_it(home: Workbench, visit: Visit) -> None:
    home.settings.change(lambda settings: replace(settings, language="zh"))
    assert "提问" in drawn.text(visit("ask", home))
    assert "提问" not in drawn.text(visit("ask", home, lang="en"))
    assert "提问" in drawn.text(visit("ask", home, lang="xx"))


def test_a_sentence_in_a_box_ends_with_a_chinese_stop(home: Workbench, visit: Visit) -> None:
    shown = drawn.text(visit("build", home, lang="zh", b_tau="none"))
    assert "（例如 q0.75）。" in shown


@pytest.mark.parametrize("page", ["library", "build", "explore", "ask", "compare", "evaluate", "present", "settings"])
def test_a_reload_stays_in_the_language_of_the_link(page: str, home: Workbench, visit: Visit) -> None:
    assert visit(page, home, lang="zh").query_params["lang"] == "zh"
    assert "lang" not in visit(page, home).query_params


def test_the_settings_offer_the_languages_of_the_catalogs(home: Workbench, visit: Visit) -> None:
    assert languages() == LANGUAGES
    app = visit("settings", home)
    app.button_group("language").set_value("zh").run()
    assert home.settings.read().language == "zh"
