import pytest

from leanrag_core.indexing.extraction.builtin import BuiltinExtractor
from leanrag_core.indexing.extraction.chinese import ChineseReader, new_words
from leanrag_core.text.chinese import Segmenter
from leanrag_core.types.corpus import Chunk, Document

IRRIGATION = [
    "都江堰水利工程位于成都平原西部的岷江上。",
    "渠首由鱼嘴、飞沙堰和宝瓶口组成。",
    "鱼嘴把岷江分为内江和外江。",
    "洪水从飞沙堰溢入外江。",
    "枯水时，江心的鱼嘴引六成的水进内江。",
    "飞沙堰又把泥沙排走。",
    "修堰的人每年先修飞沙堰，再修鱼嘴。",
    "清明时节，人们在渠首放水，春耕由此开始。",
    "油菜花开的时候，茶馆里坐满了喝茶聊天的客人。",
    "川西的院落四周种着竹子，林盘之间是水稻田。",
]


@pytest.fixture(scope="module")
def reader() -> ChineseReader:
    return ChineseReader(IRRIGATION)


def entities(reader: ChineseReader, sentence: str) -> dict[str, str]:
    return {phrase.text: phrase.type for phrase in reader.phrases(sentence)}


def test_entities_are_whole_words_and_compounds(reader: ChineseReader) -> None:
    seen = entities(reader, IRRIGATION[0])
    assert seen.keys() == {"都江堰水利工程", "成都平原", "岷江"}
    assert seen["岷江"] == "location"


def test_a_word_that_the_dictionary_lacks_is_found_by_its_company_in_the_corpus(reader: ChineseReader) -> None:
    assert new_words(IRRIGATION, Segmenter()) == ["飞沙堰", "鱼嘴"]
    assert {"鱼嘴", "飞沙堰", "宝瓶口"} <= entities(reader, IRRIGATION[1]).keys()


def test_persons_stand_alone_and_titles_are_works(reader: ChineseReader) -> None:
    seen = entities(reader, "司马迁在《史记》里记下李冰凿离堆的事。")
    assert seen.items() >= {"司马迁": "person", "史记": "work", "李冰": "person"}.items()


def test_general_words_and_function_words_are_no_entities(reader: ChineseReader) -> None:
    assert not entities(reader, "目前的情况有所不同，主要原因在于这些方面。")


def test_places_of_entities_are_their_places_in_the_sentence(reader: ChineseReader) -> None:
    for sentence in IRRIGATION:
        for phrase in reader.phrases(sentence):
            assert sentence[phrase.start :].startswith(phrase.text)


def test_the_extractor_reads_chinese_by_words_and_numbers_of_headings_fall_off() -> None:
    text = "# 都江堰\n\n## 第一章 渠首\n\n" + "".join(IRRIGATION)
    document = Document("d", "d.md", "都江堰", "markdown", text, "zh")
    (extraction,) = BuiltinExtractor().extract([document], [Chunk("c", "d", 0, 0, len(text), 1, text)], lambda _: None)
    names = {mention.name for mention in extraction.mentions}
    assert {"都江堰", "鱼嘴", "飞沙堰", "内江", "外江"} <= names
    assert not {"江堰位", "利工程", "由鱼", "沙堰"} & names
    assert not extraction.drops
