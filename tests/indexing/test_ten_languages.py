"""Documents in ten languages: sentences end where they end, names are found, questions bring their passage."""

from pathlib import Path

import pytest

from leanrag_core import IndexConfig, Workbench
from leanrag_core.queries.entity_search import find_entities
from leanrag_core.text.sentences import split_sentences
from leanrag_core.types.index import Index

pytestmark = pytest.mark.slow

# Language code: two sentences, a name that they tell of, and a question that the second one answers.
TEXTS = {
    "en": (
        "The lighthouse stands at Marram Point.",
        "Ada Thornbury built it in 1861.",
        "Thornbury",
        "Who built it?",
    ),
    "de": (
        "Der Leuchtturm steht an der Küste.",
        "Ada Thornbury baute ihn im Jahr 1861.",
        "Thornbury",
        "Wer baute ihn?",
    ),
    "fr": (
        "Le phare se dresse sur la côte depuis longtemps.",
        "Ada Thornbury l'a construit en 1861.",
        "Thornbury",
        "Qui l'a construit ?",
    ),
    "es": (
        "El faro está en la costa.",
        "Ada Thornbury lo construyó en 1861.",
        "Thornbury",
        "¿Quién lo construyó?",
    ),
    "ru": (
        "Маяк стоит на мысе Маррам.",
        "Ада Торнбери построила его в 1861 году.",
        "Торнбери",
        "Кто построил маяк?",
    ),
    "ar": (
        "تقف المنارة في رأس مرام.",
        "بنت آدا ثورنبري المنارة عام 1861.",
        "ثورنبري",
        "من بنى المنارة؟",
    ),
    "hi": (
        "प्रकाशस्तंभ मर्रम बिंदु पर खड़ा है।",
        "आडा थॉर्नबरी ने इसे 1861 में बनाया।",
        "थॉर्नबरी",
        "इसे किसने बनाया?",
    ),
    "zh": (
        "灯塔位于马拉姆角。",
        "艾达·索恩伯里于1861年建造了灯塔。",
        "索恩伯里",
        "谁建造了灯塔？",
    ),
    "ja": (
        "灯台はマラム岬に立っている。",
        "エイダ・ソーンベリーが1861年に灯台を建てた。",
        "ソーンベリー",
        "誰が灯台を建てたか？",
    ),
    "ko": (
        "등대는 마람곶에 서 있다.",
        "에이다 손베리가 1861년에 등대를 지었다.",
        "손베리",
        "누가 등대를 지었는가?",
    ),
}


@pytest.mark.parametrize("code", TEXTS)
def test_sentences_end_where_the_language_ends_them(code: str) -> None:
    first, second, *_ = TEXTS[code]
    joined = f"{first}{'' if code in ('zh', 'ja') else ' '}{second}"
    assert split_sentences(joined) == [first, second]


@pytest.fixture(scope="module")
def read(tmp_path_factory: pytest.TempPathFactory) -> tuple[Workbench, Index]:
    home: Path = tmp_path_factory.mktemp("languages")
    bench = Workbench.default(home)
    files = [(f"{code}.txt", f"{' '.join(text[:2])} {' '.join(text[:2])}".encode()) for code, text in TEXTS.items()]
    corpus = bench.add_documents("Ten languages", files).corpus_id
    index = bench.build(corpus, IndexConfig(cluster_size=5))
    bench.parts.build(index, "lexical")
    return bench, index


def test_the_language_of_each_document_is_named(read: tuple[Workbench, Index]) -> None:
    _, index = read
    languages = {index.document(row).name.removesuffix(".txt"): index.document(row).language for row in range(10)}
    assert languages == {code: code for code in TEXTS}


@pytest.mark.parametrize("code", TEXTS)
def test_a_name_is_found_by_a_part_of_it(read: tuple[Workbench, Index], code: str) -> None:
    _, index = read
    name = TEXTS[code][2]
    rows = find_entities(index, name, limit=20).rows
    assert any(name.casefold() in row.name.casefold() for row in rows), [row.name for row in rows]


@pytest.mark.parametrize("code", TEXTS)
def test_a_question_brings_the_passage_of_its_language(read: tuple[Workbench, Index], code: str) -> None:
    bench, index = read
    question = f"{TEXTS[code][2]} {TEXTS[code][3]}"
    trace = bench.retrieve(index, question, "bm25", top_c=2)
    assert TEXTS[code][1].rstrip(".。।") in trace.passages[0].text
