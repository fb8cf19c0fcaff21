"""What the runs of an experiment are called: a name of their own, else what tells each from the others."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from leanrag_core.messages.catalog import sentence
from leanrag_core.messages.message import Message, message
from leanrag_core.retrieval.base import StrategyInfo, strategies
from leanrag_core.retrieval.settings import all_settings
from leanrag_core.retrieval.variants import Group, VariantSettings, groups
from leanrag_core.types.experiment import Judgement, RunSpec


def with_ids(runs: Sequence[RunSpec]) -> tuple[RunSpec, ...]:
    """Give an id to each run that has neither id nor name: its strategy's name, numbered from the second one on."""
    used_ids = {run.key for run in runs}
    runs_with_ids = []
    for run in runs:
        id_, n = run.strategy, 1
        if not run.key:
            while id_ in used_ids:
                n += 1
                id_ = f"{run.strategy}-{n}"
            used_ids.add(id_)
        runs_with_ids.append(run if run.key else replace(run, id=id_))
    return tuple(runs_with_ids)


def run_titles(runs: Sequence[RunSpec], index_titles: Mapping[str, str] | None = None) -> dict[str, Message]:
    """Return the title of each run by its key, no two of them alike: the run's name; without one its strategy, the
    settings that differ from those of the strategy's other runs, and its index where the runs have several. A name that
    is the strategy's title in English, as whole experiments give it, is read in any language.

    index_titles: of the runs' indexes as far as they are known; of another one its folder is named.
    """
    known = strategies().by_name()
    group_of = {
        key: group
        for group in groups({run.key: _settings(run, known) for run in runs if not run.name})
        for key in group.settings
    }
    several = len({run.index for run in runs}) > 1
    titles: dict[str, Message] = {}
    for run in runs:
        title = _title(run, known.get(run.strategy), group_of.get(run.key))
        if several and not run.name:
            index = (index_titles or {}).get(run.index) or Path(run.index).name
            title = message("setting.list", first=title, rest=message("plain", text=index))
        titles[run.key] = _alone(title, [sentence(other) for other in titles.values()])
    return titles


def _settings(run: RunSpec, known: Mapping[str, StrategyInfo]) -> VariantSettings:
    """Return the run's settings; of a strategy that is not among the program's, those that it names."""
    info = known.get(run.strategy)
    return VariantSettings(run.strategy, all_settings(info, run.options) if info else run.options, {})


def _title(run: RunSpec, info: StrategyInfo | None, group: Group | None) -> Message:
    if run.name and (info is None or run.name != sentence(info.title)):
        return message("plain", text=run.name)
    title = info.title if info is not None else message("plain", text=run.strategy)
    differences = group.name(run.key) if group is not None else None
    return message("setting.list", first=title, rest=differences) if differences is not None else title


def _alone(title: Message, used_titles: Sequence[str]) -> Message:
    """Return the title, with a number where another run has it."""
    numbered, n = title, 1
    while sentence(numbered) in used_titles:
        n += 1
        numbered = message("run.again", run=title, n=n)
    return numbered


_NUMBER = re.compile("[0-9][0-9,]{0,8}")


def experiment_title(title: str) -> Message:
    """Return the title of an experiment; one that begins as those that the program writes, in English, is read in any
    language."""
    number = _NUMBER.search(title)
    n = int(number[0].replace(",", "")) if number else 0
    for code in ("experiment.all_strategies", "experiment.equal_budget"):
        start = sentence(message(code, name="", n=n))
        if title.startswith(start):
            return message(code, name=title.removeprefix(start), n=n)
    return message("plain", text=title)


def titled(judgements: Iterable[Judgement], titles: Mapping[str, str]) -> tuple[Judgement, ...]:
    """Return the judgements with titles of runs in place of their keys, as tables and audits show them."""
    return tuple(
        replace(each, first=titles.get(each.first, each.first), second=titles.get(each.second, each.second))
        for each in judgements
    )
