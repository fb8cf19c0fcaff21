"""Follow-up questions, and the questions that were asked."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from leanrag_core.answering.follow_up import Standalone, by_model, by_rule
from leanrag_core.errors import EndpointError
from leanrag_core.facade.explaining import Explaining
from leanrag_core.facade.taking_index import takes_index
from leanrag_core.messages.message import message
from leanrag_core.models.remote import RemoteLanguageModel
from leanrag_core.queries.entity_search import names_in
from leanrag_core.types.history import HistoryEntry, entry_id
from leanrag_core.types.index import Index


class Conversing(Explaining):
    """Follow-up questions, and the questions that were asked. See Workbench."""

    @takes_index
    def follow_up(self, index: Index, question: str, earlier: Sequence[str], answer: str = "") -> Standalone:
        """The question as it stands alone. earlier: those before it, the oldest first; answer: how the last answer
        begins. A language model rewrites it where there is one; else, and where the model fails, a rule does."""
        question = " ".join(question.split())
        before = earlier[-1] if earlier else ""
        ruled = by_rule(question, before, names_in(index, before), names_in(index, question))
        language = self._questions.answering_language(index)
        if not earlier or not isinstance(language, RemoteLanguageModel):
            return ruled
        try:
            made = by_model(question, earlier, answer, language)
        except EndpointError as error:
            failed = message("follow.model_failed", reason=error.message, rule=ruled.said)
            return Standalone(ruled.question, ruled.way, failed)
        return made or Standalone(ruled.question, ruled.way, message("follow.no_reply", rule=ruled.said))

    def history(self, search: str = "") -> tuple[HistoryEntry, ...]:
        """The questions that hold every word of `search`: pinned ones first, then the one asked last. Raises
        RecordDamaged."""
        matching = [entry for entry in self.question_history.all() if entry.holds(search)]
        return tuple(sorted(matching, key=lambda entry: not entry.pinned))

    def thread(self, id_: str) -> tuple[HistoryEntry, ...]:
        """The question of that id and those that it follows, the oldest first; nothing for an unknown one."""
        by_id = {entry.id: entry for entry in self.question_history.all()}
        thread: list[HistoryEntry] = []
        while id_ in by_id and by_id[id_] not in thread:
            thread.append(by_id[id_])
            id_ = by_id[id_].follows
        return tuple(reversed(thread))

    def keep_question(
        self,
        index_id: str,
        index_name: str,
        question: str,
        strategy: str,
        *,
        link: Mapping[str, str],
        answer: str = "",
        follows: str = "",
        written: str = "",
        way: str = "",
    ) -> HistoryEntry:
        """Notes that the question was asked. index_id: the index's name in links; link and the rest: see HistoryEntry.
        Raises RecordDamaged, StorageFailed."""
        return self.question_history.keep(
            HistoryEntry(
                entry_id(index_id, question),
                question,
                index_id,
                index_name,
                strategy,
                datetime.now(UTC).isoformat(timespec="milliseconds"),
                dict(link),
                answer,
                follows=follows,
                written=written,
                way=way,
            )
        )
