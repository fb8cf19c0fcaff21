"""Files of judgements that come from outside: our own form, and the replies of HiRAG's evaluation."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from leanrag_core.errors import InvalidConfig
from leanrag_core.evaluation.audit.answer_files import JudgeFile, SystemAnswers, lines_of
from leanrag_core.evaluation.audit.hirag_files import FileTitle, HalvedReplies, file_title, placed_replies, reply_of
from leanrag_core.evaluation.audit.own_files import is_own, own_judgements
from leanrag_core.messages.message import Message, message
from leanrag_core.types.experiment import Judgement

_OTHER_NAMES = {"graphrag": "local"}


@dataclass(frozen=True)
class JudgeFiles:
    """What was read. notes: sentences on what a file leaves open, such as replies that it lacks."""

    judgements: tuple[Judgement, ...] = ()
    notes: tuple[Message, ...] = field(default=())


def read_judge_files(
    files: Sequence[JudgeFile], answers: Mapping[str, SystemAnswers] | None = None, *, n_questions: int = 0
) -> JudgeFiles:
    """Read the judgements of all the files.

    answers: of each run by its name, to count their words. HiRAG's files leave the questions out, so a file that
    lacks replies can only be matched to its questions with the answers' help. n_questions: of HiRAG's files; 0: as
    many as there are answers, else half the lines of the longest file of the same data set.
    Raises InvalidConfig, naming the file and the line.
    """
    answers = answers or {}
    judgements: list[Judgement] = []
    notes: list[Message] = []
    halved: list[HalvedReplies] = []
    longest: dict[str, int] = defaultdict(int)
    for file in files:
        lines = lines_of(file)
        if is_own(file.name, lines):
            judgements += own_judgements(file.name, lines, answers)
            continue
        title = file_title(file.name)
        replies = tuple(reply_of(line) for line in lines)
        if not any(reply.verdicts for reply in replies):
            raise InvalidConfig("judge_file.no_judgements", file=file.name)
        longest[title.data_set] = max(longest[title.data_set], (len(replies) + 1) // 2)
        halved.append(HalvedReplies(title, file.name, replies))
    for replies_of_file in halved:
        own_answers = [_answers_of(name, answers) for name in (replies_of_file.title.a, replies_of_file.title.b)]
        n = n_questions or max((len(each) for each in own_answers if each), default=longest[_set(replies_of_file)])
        placed = placed_replies(replies_of_file, n, own_answers[0], own_answers[1])
        judgements += placed
        lacking = 2 * n - len(replies_of_file.replies)
        if lacking:
            code = "judge_file.lacks_replies" if all(own_answers) else "judge_file.lacks_replies_unplaced"
            notes.append(message(code, file=replies_of_file.file, n=lacking))
    return JudgeFiles(tuple(judgements), tuple(notes))


def _answers_of(name: str, answers: Mapping[str, SystemAnswers]) -> SystemAnswers | None:
    """Return the answers of that system, in any case; HiRAG calls the files of GraphRAG's answers "local"."""
    by_name = {each.casefold(): value for each, value in answers.items()}
    return by_name.get(name.casefold()) or by_name.get(_OTHER_NAMES.get(name.casefold(), ""))


def _set(replies: HalvedReplies) -> str:
    title: FileTitle = replies.title
    return title.data_set
