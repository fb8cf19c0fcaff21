"""Judge files as HiRAG publishes them: the replies alone, first with system A as Answer 1, then with the two swapped.

Source: HiRAG's repository, eval/; its win rates count the wins of A over both halves. Replies that could not be read
were left out there, and with them their places: the others are laid beside the questions again by the words that a
reply shares with a question and its answers.
"""

import json
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from leanrag_core.errors import ReplyError
from leanrag_core.evaluation.audit.answer_files import SystemAnswers
from leanrag_core.evaluation.judging.verdicts import pair_verdicts
from leanrag_core.models.json_reply import read_json
from leanrag_core.text.words import lexical_tokens
from leanrag_core.types.experiment import PAIRWISE, Judgement

_TITLE = re.compile(r"(?P<set>.+?)_eval_(?P<systems>.+?)(?:_result(?:_(?P<judge>.+))?)?")
_KEYS = (("winner", "overall winner", "overall", "comprehensiveness"),)
_MOST_LACKING = 0.2  # share of replies; a file that lacks more cannot be laid out


@dataclass(frozen=True)
class FileTitle:
    """What a file's name says. a: the system that is Answer 1 in the first half."""

    data_set: str
    a: str
    b: str
    judge: str


@dataclass(frozen=True)
class FileReply:
    """A line of the file as text, and the winners that it names; empty where it cannot be read."""

    text: str
    verdicts: Mapping[str, float]


@dataclass(frozen=True)
class HalvedReplies:
    """The replies of a file in their order."""

    title: FileTitle
    file: str
    replies: tuple[FileReply, ...]


def file_title(name: str) -> FileTitle:
    """Read the data set, systems and judge from "SET_eval_A_B_result_JUDGE.jsonl"; A and B where the name has none."""
    stem = name.rsplit(".", 1)[0]
    match = _TITLE.fullmatch(stem)
    if not match:
        return FileTitle("", "A", "B", stem)
    first, _, second = match["systems"].partition("_")
    judge = match["judge"] or "judge"
    return FileTitle(match["set"], first, second, judge) if second else FileTitle(match["set"], "A", "B", judge)


def reply_of(line: str) -> FileReply:
    """Return the reply of a line: the object itself, or a text that holds it, alone or in what an endpoint's batch
    gives."""
    text = _reply_text(line)
    try:
        return FileReply(text, pair_verdicts(read_json(text, _KEYS).cells))
    except ReplyError:
        return FileReply(text, {})


def _reply_text(line: str) -> str:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return line
    if isinstance(value, str):
        return value
    try:
        return str(value["response"]["body"]["choices"][0]["message"]["content"])
    except (KeyError, IndexError, TypeError):
        return line


def placed_replies(
    halved: HalvedReplies, n_questions: int, a: SystemAnswers | None, b: SystemAnswers | None
) -> tuple[Judgement, ...]:
    """Turn the replies into judgements of their question and order. a, b: the systems' answers, where these are
    known."""
    replies = halved.replies
    lacking = 2 * n_questions - len(replies)
    places = list(range(len(replies)))
    if a and b and 0 < lacking <= _MOST_LACKING * len(replies):
        texts = [" ".join((a.questions[row], a.answers[row], b.answers[row])) for row in range(n_questions)]
        places = aligned([reply.text for reply in replies], [*texts, *texts])
    answers = a or b
    title = halved.title
    judgements = []
    for reply, place in zip(replies, places, strict=True):
        row, is_swapped = place % n_questions, place >= n_questions
        question = answers.questions[row] if answers else f"question {row + 1}"
        words = (_words(a, row), _words(b, row))
        judgements.append(
            Judgement(
                judge=title.judge,
                kind=PAIRWISE,
                question=f"{title.data_set}: {question}",
                first=title.b if is_swapped else title.a,
                second=title.a if is_swapped else title.b,
                repeat=0,
                verdicts=dict(reply.verdicts),
                prompt="",
                reply=reply.text,
                words=words[::-1] if is_swapped else words,
            )
        )
    return tuple(judgements)


def _words(answers: SystemAnswers | None, row: int) -> int:
    return len(lexical_tokens(answers.answers[row])) if answers else 0


def aligned(replies: Sequence[str], texts: Sequence[str]) -> list[int]:
    """Return for each reply the row of the text that it is about. Rows ascend, and the total weight of shared words is
    the largest possible.

    There are at least as many texts as replies. A word weighs the more, the fewer texts have it.
    """
    words_of = [frozenset(lexical_tokens(text)) for text in texts]
    frequency = Counter(word for words in words_of for word in words)
    weight = {word: math.log(len(texts) / n) for word, n in frequency.items()}
    spare = len(texts) - len(replies)
    best = [0.0] * (spare + 1)  # of the replies so far, by how many texts were passed over
    steps: list[list[int]] = []
    for row, reply in enumerate(replies):
        shared = frozenset(lexical_tokens(reply)) & weight.keys()
        scores = [sum(weight[word] for word in shared & words_of[row + passed]) for passed in range(spare + 1)]
        chosen, reached = [], []
        leader = 0
        for passed in range(spare + 1):
            if best[passed] > best[leader]:
                leader = passed
            chosen.append(leader)
            reached.append(best[leader] + scores[passed])
        steps.append(chosen)
        best = reached
    passed = max(range(spare + 1), key=lambda each: (best[each], -each))
    rows = []
    for row in range(len(replies) - 1, -1, -1):
        rows.append(row + passed)
        passed = steps[row][passed]
    return rows[::-1]
