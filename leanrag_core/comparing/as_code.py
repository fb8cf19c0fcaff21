"""What a page shows, as Python and as a command that repeat it. What people wrote is quoted: it is never run."""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from leanrag_core.queries.schema import Filters, filter_texts
from leanrag_core.retrieval.settings import option_text
from leanrag_core.types.scope import ALL, Scope

_PROGRAM = "python -m leanrag_core"
_IMPORT = "from leanrag_core import Workbench\n"
_IMPORT_SCOPE = "from leanrag_core.types.scope import Scope\n"


@dataclass(frozen=True)
class Code:
    """The same work as Python and as a line for a shell."""

    python: str
    command: str


@dataclass(frozen=True)
class Asked:
    """A strategy on an index. index: its id; folder: where the index that is asked lies. options: of the strategy,
    those that are not official. changed: settings that a trial has otherwise than the index of that id. within: the
    documents that are asked."""

    index: str
    folder: Path
    strategy: str
    options: Mapping[str, Any] = field(default_factory=dict)
    changed: Mapping[str, Any] = field(default_factory=dict)
    within: Scope = ALL

    @property
    def opened(self) -> str:
        """The expression that opens the index; a trial that was cleared away is made again."""
        opened = f"bench.open({self.index!r})"
        return f"bench.trials.make({opened}, {dict(self.changed)!r})" if self.changed else opened

    @property
    def row(self) -> str:
        """The expression of index, strategy and options."""
        return f"({self.opened}, {self.strategy!r}, {dict(self.options)!r})"

    def column(self, folder: Path) -> str:
        """Return the column as `compare` reads it. folder: of the command's index."""
        options = ",".join(f"{name}={option_text(value)}" for name, value in self.options.items())
        at = "" if self.folder == folder else f"@{self.folder}"
        return f"{self.strategy}{':' if options else ''}{options}{at}"


def code_of_question(home: Path, asked: Asked, question: str) -> Code:
    """Return the code that retrieves and answers."""
    options = "".join(f", {name}={value!r}" for name, value in asked.options.items())
    options += "" if asked.within == ALL else f", scope={_scope(asked.within)}"
    python = (
        f"{_IMPORT}{'' if asked.within == ALL else _IMPORT_SCOPE}\n{_bench(home)}index = {asked.opened}\n"
        f"trace = bench.retrieve(index, {question!r}, {asked.strategy!r}{options})\n"
        "print(bench.answer(index, trace).text)\n"
    )
    chosen = [part for name, value in asked.options.items() for part in ("--option", f"{name}={option_text(value)}")]
    words = ["ask", "--strategy", asked.strategy, *chosen, *_scope_options(asked.within)]
    return Code(python, _command(home, [*words, "--", str(asked.folder), question]))


def _scope(within: Scope) -> str:
    """Return the expression of the scope."""
    values = {name: tuple(value) if isinstance(value, list) else value for name, value in within.values().items()}
    return f"Scope({', '.join(f'{name}={value!r}' for name, value in values.items())})"


def _scope_options(within: Scope) -> list[str]:
    """Return the words of a command that ask in the scope."""
    several = (("--document", within.documents), ("--in", within.folders), ("--tag", within.tags))
    bounds = (("--from", within.since), ("--to", within.until), ("--as-of", within.as_of))
    words = [f"{option}={value}" for option, values in several for value in values]
    return words + [f"{option}={value}" for option, value in bounds if value]


def code_of_comparison(home: Path, columns: Mapping[str, Asked], question: str) -> Code:
    """Return the code that retrieves and answers with each column. columns: by letter."""
    python = (
        f"{_IMPORT}\n{_bench(home)}question = {question!r}\n{_rows('columns', columns)}traces, answers = {{}}, {{}}\n"
        "for letter, (index, strategy, options) in columns.items():\n"
        "    traces[letter] = bench.retrieve(index, question, strategy, **options)\n"
        "    answers[letter] = bench.answer(index, traces[letter])\n"
        "    print(letter, strategy, traces[letter].context.tokens, answers[letter].text)\n"
    )
    return Code(python, _compare(home, columns, question=question))


def code_of_board(home: Path, settings: Mapping[str, Asked], set_id: str, measure: str) -> Code:
    """Return the code that asks a whole question set. settings: by name. measure: of comparing.board."""
    python = (
        f"{_IMPORT}from leanrag_core.comparing.board import QuestionScorer\n\n{_bench(home)}"
        f"scorer = QuestionScorer(bench.question_sets.questions({set_id!r}))\n"
        f"{_rows('settings', settings)}scores = {{}}\n"
        "for name, (index, strategy, options) in settings.items():\n"
        "    scores[name] = scorer.score(bench.questions.retriever(index, strategy, options))\n"
        f"    print(name, scores[name].interval({measure!r}), scores[name].token_interval())\n"
    )
    return Code(python, _compare(home, settings, set_id=set_id))


def command_of_experiment(home: Path, specification: Path) -> str:
    """Return the command that runs an experiment again, or goes on with it. specification: its file."""
    return _command(home, ["experiment", "run", str(specification)])


@dataclass(frozen=True)
class ViewCode:
    """What a view of Explore shows beside entities: imports, lines of Python, and words of the command `show`."""

    imports: tuple[str, ...] = ()
    lines: tuple[str, ...] = ()
    words: tuple[str, ...] = ()


@dataclass(frozen=True)
class Explored:
    """What is explored of an index. index: its id; folder: where it lies. thing: the id of the chosen entity, relation
    or chunk, "" for none."""

    index: str
    folder: Path
    thing: str
    filters: Filters
    view: ViewCode = ViewCode()


def code_of_exploring(home: Path, explored: Explored) -> Code:
    """Return the code that shows what is chosen, what passes the filters, and what the view adds."""
    imports, lines, commands = list(explored.view.imports), list[str](), list[list[str]]()
    folder = str(explored.folder)
    if explored.thing:
        imports += [
            "from leanrag_core.queries import browse",
            "from leanrag_core.queries.entity_search import thing_of",
        ]
        lines += [
            f"thing = thing_of(index, {explored.thing!r})",
            "print(thing.name, thing.text)",
            "place = browse.locate(index, thing.id)",
            "relations = browse.neighbours(index, place) if place else []",
            "for relation in relations[:10]:",
            "    print(relation.name, relation.relation.description)",
            "children = browse.children(index, place) if place and place.layer else []",
            "print([child.name for child in children])",
        ]
        commands.append(["show", "--of", explored.thing, "--", folder])
    if explored.filters.active:
        imports.append("from leanrag_core.queries.schema import Filters")
        lines += [
            f"filters = {_filters(explored.filters)}",
            "passing = {}",
            "for layer in index.layers:",
            "    passing[layer.number] = layer.entities.filter(filters.allows(index, layer.number))",
            "    print(layer.number, passing[layer.number].num_rows, 'of', len(layer))",
        ]
        chosen = (f"--filter={text}" for text in filter_texts(explored.filters))
        commands.append(["show", *chosen, "--", folder])
    lines += explored.view.lines
    if explored.view.words or not commands:
        commands.append(["show", *explored.view.words, "--", folder])
    if not lines:
        lines = ["for layer in index.layers:", "    print(layer.number, len(layer), layer.relations.num_rows)"]
    head = "".join(f"{each}\n" for each in sorted(set(imports)))
    opened = f"index = bench.open({explored.index!r})\n"
    python = f"{_IMPORT}{head}\n{_bench(home)}{opened}" + "".join(f"{line}\n" for line in lines)
    return Code(python, "\n".join(_command(home, words) for words in commands))


def _filters(filters: Filters) -> str:
    """Return the expression of the filters that are set; sets in order, so that the same filters give the same text."""
    chosen = {each.name: getattr(filters, each.name) for each in fields(filters)}
    shown = {
        name: f"frozenset({sorted(value)!r})" if isinstance(value, frozenset) else repr(value)
        for name, value in chosen.items()
        if value
    }
    return f"Filters({', '.join(f'{name}={text}' for name, text in shown.items())})"


def _bench(home: Path) -> str:
    return f"bench = Workbench.default({str(home)!r})\n"


def _rows(name: str, rows: Mapping[str, Asked]) -> str:
    return f"{name} = {{\n" + "".join(f"    {key!r}: {asked.row},\n" for key, asked in rows.items()) + "}\n"


def _compare(home: Path, columns: Mapping[str, Asked], *, question: str = "", set_id: str = "") -> str:
    folder = next(iter(columns.values())).folder
    words = ["compare", *(("--questions", set_id) if set_id else ())]
    words += ["--columns", *(asked.column(folder) for asked in columns.values()), "--", str(folder)]
    return _command(home, [*words, question] if question else words)


def _command(home: Path, words: list[str]) -> str:
    return f"LEANRAG_HOME={_quoted(str(home))} {_PROGRAM} {' '.join(map(_quoted, words))}"


def _quoted(text: str) -> str:
    """Return the text as one word of a shell. A terminal may act on what is not printable before the shell reads it, so
    that such a text is written in octal numbers; no word can hold a zero byte, which is left out."""
    if text.isprintable():
        return shlex.quote(text)
    written = (
        "\\" + sign
        if sign in "\\'"
        else sign
        if sign.isprintable()
        else "".join(f"\\{byte:03o}" for byte in sign.encode("utf-8", "replace"))
        for sign in text.replace("\0", "")
    )
    return f"$'{''.join(written)}'"
