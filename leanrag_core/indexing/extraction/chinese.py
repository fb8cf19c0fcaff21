"""Entities of Chinese text: names and runs of nouns among the words that the dictionary and the corpus itself show."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from leanrag_core.text.chinese import HAN, ChineseWord, Segmenter, dictionary_segmenter, han_runs
from leanrag_core.text.words import word_set

_LONGEST_NEW, _FEWEST = 4, 3  # characters of a word that the dictionary lacks; how often it must occur
_COHESION = 20.0  # times that its parts stand together more often than by chance
_NEIGHBOURS = 3  # different characters or marks on either side
_MOST_WORDS, _LONGEST = 4, 12  # words, characters of a phrase
_FUNCTION = re.compile(
    "[的了是在和與与及或等之其也就都而被把对對于於以为為所从從到这這那個个他她它我你您們们不有又并並则則即将將会會可能应應须須得使由向"
    "一二三四五六七八九十百千万亿两每各某第年月日时後后前中上下内外里间至仅只还很最更已曾再因此如若但虽着过地需易]"
)
_NAMES = {"nr": "person", "nrt": "person", "nrfg": "person", "ns": "location", "nt": "organization"}
_NOUNS = frozenset([*_NAMES, "n", "nz", "ng", "j", "vn", "l", "an", "s"])
_SURNAMES = frozenset(
    "王李张刘陈杨黄赵周吴徐孙朱马胡郭林何高梁郑罗宋谢唐韩曹许邓萧肖冯曾程蔡彭潘袁于董余苏叶吕魏蒋田杜丁沈姜范江傅钟卢"
    "汪戴崔任陆廖姚方金邱夏谭韦贾邹石熊孟秦阎薛侯雷白龙段郝孔邵史毛常万顾赖武康贺严尹钱施牛洪龚汤陶黎温莫易樊乔文安殷"
    "颜庄章鲁倪庞邢俞翟蓝聂齐左嬴诸司欧陳劉楊黃趙吳孫馬鄭羅謝韓馮蔣鍾盧陸譚賈鄒閻嚴錢湯龐諸"
)
_NO_PERSON_WORDS = """
洪水 文明 王朝 陆军 雷达 武功 武林 胡同 王府 高峰 高潮 顾客 顾问 白领 诸侯 石英 康复 范畴 周转 温泉
王子 史诗 史实 许可 许可证 金字塔 毛巾 石林 田园 田野 庄园 孔雀 黄金周 胡萝卜 胡椒 杜鹃 杜鹃花 龙王 蓝图 黄金
林木 杨柳 白银 白云 白宫 陈设 陈列 陈述 高僧 黎明 安全性 史料 马匹 马夫 叶子 胡子 金光 朱红 朱砂 石柱
石狮 温馨 卢布 田间 方案 白蛋白 马尾松 杜仲 黄鹤楼 龙宫
"""
_NO_PERSONS = frozenset(
    _NO_PERSON_WORDS.split()
)  # nouns that the dictionary lists as persons, since they begin like names
_VERBAL = frozenset(["vn", "l", "an", "nr"])
_PREDICATE = re.compile("^[有应需不被所令可使无没]|如下$")  # begins or ends what the tagger takes for a noun
_EMPTY_END = frozenset(["方面", "情况", "时候", "中", "时", "前", "后", "内", "外", "上", "下", "间", "里"])
_BEFORE = frozenset(["b", "a"])  # adjectives, which may begin a phrase that recurs
_ERA = re.compile("(?:代|朝|节|時期|时期|年间)$")
_TITLE = re.compile(r"《([^《》\n]{2,30})》")
_QUOTED = re.compile(f"[“「『]([{HAN}]{{2,8}})[”」』]")
_GENERIC = word_set("""
人们 人类 时候 时间 时期 时代 年代 方面 情况 问题 部分 地方 方式 方法 作用 原因 结果 目的 过程 内容
基础 条件 关系 意义 特点 种类 东西 事情 事物 意思 样子 程度 范围 水平 阶段 状态 状况 因素 形式 基本
努力 困难 过度 有关 发展 产生 使用 进行 实现 出现 开始 包括 成为 提供 建立 增加 减少 性质 机会 能力
力量 影响 要求 行为 措施 工作 活动 任务 事业 主要 重要 大量 许多 全部 整个 一般 普通 以上 以下 以内
以外 之间 之后 之前 其中 中间 附近 旁边 周围 左右 上面 下面 前面 后面 里面 外面 两侧 两岸 当地 各地
本身 自己 大家 别人 个人 人员 有人 今天 今年 现在 目前 当时 后来 以后 以前 过去 将来 同时 近年 近代
现代 当代 古代 历史 季节 每年 全年 日期 大部分 数量 总量 数字 数据 单位 比例 名称 名字 名义 说法 例子
对象 目标 效果 优点 缺点 好处 差别 区别 变化
""")


@dataclass(frozen=True)
class ChinesePhrase:
    """An entity in its sentence. start: its first character. type: person, location, organization, work, concept."""

    text: str
    start: int
    type: str

    def overlaps(self, other: "ChinesePhrase") -> bool:
        """Return whether both share a character."""
        return self.start < other.start + len(other.text) and other.start < self.start + len(self.text)


class ChineseReader:
    """Finds entities in sentences. It is given all sentences first: what recurs in them decides what is one phrase."""

    def __init__(self, sentences: Sequence[str]) -> None:
        self._segmenter = Segmenter(new_words(sentences, dictionary_segmenter()))
        self._recurring: Counter[str] = Counter()
        for sentence in sentences:
            for run in self._runs(sentence):
                spans = ((i, j) for i in range(len(run)) for j in range(i + 1, min(len(run), i + _MOST_WORDS) + 1))
                self._recurring.update(_joined(run[i:j]) for i, j in spans)

    def phrases(self, sentence: str) -> list[ChinesePhrase]:
        """Return the entities of a sentence in order; none lies within another."""
        phrases = {
            match.start(1): ChinesePhrase(match[1], match.start(1), "work") for match in _TITLE.finditer(sentence)
        }
        quoted = (match for match in _QUOTED.finditer(sentence))
        phrases.update({match.start(1): ChinesePhrase(match[1], match.start(1), "concept") for match in quoted})
        covered_spans = [(phrase.start, phrase.start + len(phrase.text)) for phrase in phrases.values()]
        for run in self._runs(sentence):
            for phrase in self._of_run(run):
                if not any(
                    start < phrase.start + len(phrase.text) and phrase.start < end for start, end in covered_spans
                ):
                    phrases.setdefault(phrase.start, phrase)
        return [phrases[start] for start in sorted(phrases)]

    def _runs(self, sentence: str) -> Iterator[list[ChineseWord]]:
        """Yield runs of nouns, and of words that can stand in a noun phrase, in the sentence's order."""
        run: list[ChineseWord] = []
        for word in self._segmenter.words(sentence):
            noun = word.tag in _NOUNS or (word.tag == "t" and _ERA.search(word.text))
            if word.text.startswith("有") or (word.tag in _VERBAL and _PREDICATE.search(word.text)):
                noun = False
            if not han_runs(word.text) or not (noun or word.tag in _BEFORE):
                yield from [run] if run else []
                run = []
            else:
                run.append(word)
        yield from [run] if run else []

    def _of_run(self, run: Sequence[ChineseWord]) -> Iterator[ChinesePhrase]:
        """Yield persons by themselves, and what is between them in phrases."""
        between: list[ChineseWord] = []
        for word in run:
            if _is_person(word):
                yield from self._cut(between)
                yield ChinesePhrase(word.text, word.start, "person")
                between = []
            else:
                between.append(word)
        yield from self._cut(between)

    def _cut(self, words: Sequence[ChineseWord]) -> Iterator[ChinesePhrase]:
        """Yield the words as one phrase where they are few; else the longest parts that recur, and what remains."""
        words = self._trimmed(words)
        if not words:
            return
        if len(words) <= _MOST_WORDS - 1 and len(_joined(words)) <= _LONGEST:
            if self._is_entity(words):
                yield self._phrase(words)
            return
        for n in range(min(_MOST_WORDS, len(words) - 1), 1, -1):
            for first in range(len(words) - n + 1):
                part = words[first : first + n]
                if (
                    self._recurring[_joined(part)] > 1
                    and len(_joined(part)) <= _LONGEST
                    and self._trimmed(part) == part
                ):
                    yield from self._cut(words[:first])
                    yield from self._cut(part) if n < _MOST_WORDS else [self._phrase(part)]
                    yield from self._cut(words[first + n :])
                    return
        middle = (len(words) + 1) // 2
        yield from self._cut(words[:middle])
        yield from self._cut(words[middle:])

    def _trimmed(self, words: Sequence[ChineseWord]) -> Sequence[ChineseWord]:
        """Return the words without general words and function words at either end, and without adjectives at the
        beginning, unless the phrase recurs."""
        while words and (words[-1].tag in _BEFORE or words[-1].text in _EMPTY_END):
            words = words[:-1]
        while words and self._is_empty_beginning(words):
            words = words[1:]
        head = words[0] if words else None
        if head and len(head.text) > 2 and _FUNCTION.match(head.text) and not self._segmenter.knows(head.text):
            # The hidden Markov model took a function word for the beginning of a name.
            words = [ChineseWord(head.text[1:], head.start + 1, head.tag), *words[1:]]
        return words

    def _is_empty_beginning(self, words: Sequence[ChineseWord]) -> bool:
        head = words[0]
        if head.tag in _BEFORE:
            return self._recurring[_joined(words)] < 2
        return head.text in _GENERIC or (len(head.text) == 1 and bool(_FUNCTION.match(head.text)))

    def _is_entity(self, words: Sequence[ChineseWord]) -> bool:
        text = _joined(words)
        if len(text) < 2 or text in _GENERIC:
            return False
        return len(words) > 1 or words[0].tag != "vn" or self._recurring[text] > 1

    def _phrase(self, words: Sequence[ChineseWord]) -> ChinesePhrase:
        """Return the words as an entity; a place or organization when the dictionary has its last word as one."""
        last = words[-1]
        named = last.tag in ("ns", "nt") and self._segmenter.knows(last.text)
        return ChinesePhrase(_joined(words), words[0].start, _NAMES[last.tag] if named else "concept")


def _joined(words: Sequence[ChineseWord]) -> str:
    return "".join(word.text for word in words)


def _is_person(word: ChineseWord) -> bool:
    """Return whether a word that the tagger takes for a person's name begins with a surname and is no longer than a
    name."""
    if _NAMES.get(word.tag) != "person" or word.text in _NO_PERSONS:
        return False
    return 1 < len(word.text) < 4 and word.text[0] in _SURNAMES


def new_words(sentences: Sequence[str], segmenter: Segmenter) -> list[str]:
    """Return words that recur in the sentences and that the dictionary lacks, sorted.

    A run of two to four characters is a word when its parts stand together far more often than by chance, different
    characters or marks stand on both of its sides, and the dictionary would leave a lone character in it.
    """
    counted: Counter[str] = Counter()
    before: dict[str, set[str]] = defaultdict(set)
    after: dict[str, set[str]] = defaultdict(set)
    n_characters = 0
    for number, sentence in enumerate(sentences):
        for run in han_runs(sentence):
            n_characters += len(run)
            for start in range(len(run)):
                for end in range(start + 1, min(len(run), start + _LONGEST_NEW) + 1):
                    part = run[start:end]
                    counted[part] += 1
                    if end > start + 1:  # a mark beside the run counts as a different neighbour in each sentence
                        before[part].add(run[start - 1] if start else f"mark {number}")
                        after[part].add(run[end] if end < len(run) else f"mark {number}")
    chosen: list[str] = []
    for part in sorted(before):
        if counted[part] < _FEWEST or _FUNCTION.search(part) or segmenter.knows(part):
            continue
        if min(len(before[part]), len(after[part])) < _NEIGHBOURS:
            continue
        chance = max(counted[part[:at]] * counted[part[at:]] for at in range(1, len(part)))
        if counted[part] * n_characters < _COHESION * chance:
            continue
        if any(len(word) == 1 for word in segmenter.known_words(part)):
            chosen.append(part)
    return chosen
