"""Every code has a sentence with the values that it needs, in files that stay sorted; texts have one form.

Checked in the source, since no test reaches every message.
"""

import re
from pathlib import Path
from string import Formatter

import pytest
import streamlit

from leanrag_core.messages.catalog import ENGLISH, FOLDER, codes, joined_sentences, languages, sentence, templates
from leanrag_core.messages.message import Message, Value, message
from leanrag_core.messages.sort import sorted_text
from tests.messages.source_codes import filled_in, mentioned, patterns, steps_of_strategies, texts_without_code, uses

pytestmark = pytest.mark.slow

of_every_translation = pytest.mark.parametrize("language", [code for code in languages() if code != ENGLISH])


def fields(code: str, language: str = ENGLISH) -> set[str]:
    """Return names of the values that the templates of a code are filled with."""
    return {name for template in templates(code, language) for name in _fields(template)}


def replacements(code: str, language: str) -> set[tuple[str, str, str]]:
    """Return each value of the templates of a code, with its format and its conversion."""
    return {
        (name, spec or "", conversion or "")
        for template in templates(code, language)
        for _, name, spec, conversion in Formatter().parse(template)
        if name is not None
    }


def _fields(template: str) -> set[str]:
    parsed = [(name, spec) for _, name, spec, _ in Formatter().parse(template) if name is not None]
    nested = {inner for _, spec in parsed for inner in _fields(spec or "")}
    return {name.split(".")[0].split("[")[0] for name, _ in parsed} | nested


def test_every_code_of_the_source_has_an_english_sentence() -> None:
    assert [use for use in uses() if use.code not in codes()] == []


def test_every_code_is_given_the_values_that_its_sentence_names() -> None:
    lacking = {
        f"{use.place} {use.code}": missing
        for use in uses()
        if use.values is not None and use.code in codes() and (missing := fields(use.code) - use.values)
    }
    assert lacking == {}


def test_no_code_of_the_catalog_is_unused() -> None:
    used = mentioned() | steps_of_strategies() | {"plain"}
    starts = (*patterns(), "streamlit.")  # the palette takes them all
    assert [code for code in sorted(codes()) if code not in used and not code.startswith(starts)] == []


def test_errors_carry_codes_and_no_english_texts() -> None:
    assert list(texts_without_code()) == []


def test_percentages_have_one_form_and_no_class_of_an_exception_is_named() -> None:
    texts = filled_in()
    assert len(texts) > 500
    assert [(path, value) for path, value, form in texts if "%'" in form] == [], "figures.numbers.share writes them"
    named = [(path, value) for path, value, _ in texts if "type(error).__name__" in value]
    assert named == [], "plain_words.in_words says what an exception says"


@pytest.mark.parametrize("language", languages())
def test_a_catalog_is_sorted_without_duplicates(language: str) -> None:
    text = (FOLDER / f"{language}.po").read_text(encoding="utf-8")
    assert text == sorted_text(text), "run: python -m leanrag_core.messages.sort"


@of_every_translation
def test_a_translation_has_a_sentence_for_every_code(language: str) -> None:
    assert sorted(codes() ^ codes(language)) == []


@of_every_translation
def test_a_translation_fills_in_the_values_of_the_english_sentence(language: str) -> None:
    differing = {
        code: names for code in codes(language) & codes() if (names := (fields(code, language) ^ fields(code)) - {"n"})
    }
    assert differing == {}


@of_every_translation
def test_a_translation_formats_values_as_the_english_sentence_does(language: str) -> None:
    """Check each number's format: it fails for a value that is text."""
    differing = {
        code: strange
        for code in codes(language) & codes()
        if (strange := replacements(code, language) - replacements(code, ENGLISH))
    }
    assert differing == {}


def test_sentences_are_joined_by_a_space_but_for_full_width_punctuation_which_has_its_own() -> None:
    assert joined_sentences(["One.", "", "Two."]) == "One. Two."
    assert joined_sentences(["一。", "二！", "三"]) == "一。二！三"
    assert joined_sentences(["一。", "Two.", "三"]) == "一。Two. 三"
    assert joined_sentences(["一", "（二）。"]) == "一（二）。"
    assert joined_sentences([]) == ""


def test_a_blank_stands_between_chinese_and_what_is_written_with_blanks_also_where_a_value_is_filled_in() -> None:
    def written(code: str, **values: Value) -> str:
        return sentence(message(code, **values), "zh")

    assert written("build.with_embedding", embedding="MiniLM") == "用 MiniLM"
    assert written("growing.running", listed="915 个实体") == "目前有 915 个实体。"
    assert written("palette.build", corpus="都江堰") == "为都江堰构建索引"
    assert written("palette.build", corpus="\u2068Bees\u2069") == "为 \u2068Bees\u2069 构建索引"
    runs = (message("strategy.kag.title"), message("strategy.hirag.title"), message("strategy.vector.title"))
    assert written("evaluate.finding.apart", names=runs, run="BM25").startswith("KAG、HiRAG 和朴素 RAG")
    assert sentence(message("growing.running", listed="915 entities")) == "915 entities so far."


def test_the_words_of_streamlit_are_those_that_its_scripts_have() -> None:
    scripts = Path(streamlit.__file__).parent / "static/static/js"
    text = "".join(path.read_text(encoding="utf-8") for path in scripts.glob("*.js"))
    words = [sentence(Message(code)) for code in codes() if code.startswith("streamlit.")]
    assert len(words) > 70
    assert [word for word in words if not re.search(f"[`\"']{re.escape(word)}[`\"']", text)] == []


def test_a_merge_may_drop_blank_lines_and_mix_the_order() -> None:
    header = 'msgid ""\nmsgstr ""\n"Language: en\\n"\n\n'
    first, second = 'msgid "a.one"\nmsgstr "A"\n', '# why\nmsgid "a.two"\nmsgstr "A2"\n'
    third = 'msgid "b.two"\nmsgstr "B"\n'
    merged = f"{header}{third}{first}\n\n{second}{third}"
    assert sorted_text(merged) == f"{header}{first}\n{second}\n{third}"


@pytest.mark.parametrize(
    ("entries", "problem"),
    [
        ('msgid "a.one"\nmsgstr "A"\nmsgid "a.one"\nmsgstr "B"\n', "a.one has two different sentences"),
        ('msgid "a.one"\nmsgid "a.two"\nmsgstr "same"\n', "a.one has no msgstr"),
    ],
)
def test_a_merge_that_needs_an_editor_is_named(entries: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        sorted_text('msgid ""\nmsgstr ""\n' + entries)


@pytest.mark.parametrize(
    ("told", "text"),
    [
        (message("explore.block.clusters", n=1, entities="1 entity"), "1 cluster, 1 entity"),
        (message("build.spent.speed", speed=1345.2), "1,345.2 tokens a second"),
        (
            message("forecast.at_speed", basis="Rough.", speed=1345.2),
            "Rough. Times are those of this model here: 1,345.2",
        ),
    ],
)
def test_one_is_singular_and_thousands_are_set_apart(told: Message, text: str) -> None:
    assert sentence(told).startswith(text)
