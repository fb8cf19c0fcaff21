"""The frame around every benchmark: finds the sections, runs each measure in a fresh process, draws the table.

A section is a module of this folder that assigns TITLE (str), SIZES (tuple of int) and defines `measure(size)`, which
returns figures by name; put the unit in the name (`cluster_seconds`, `p50_ms`). The frame adds `wall_seconds`, the
whole measure with the making of its input, and `peak_gb`, unless the section gives them itself. This module imports
neither numpy nor the core, so that its own memory does not weigh on its children.
"""

import ast
import importlib.util
import json
import os
import platform
import shlex
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

_FOLDER_OPTIONS = ("--out", "--peers-env")
_LIBRARIES = ("numpy", "scipy", "scikit-learn", "pyarrow", "chromadb", "onnxruntime", "spacy", "streamlit", "dask")


def circumstances(command: Iterable[str]) -> dict[str, Any]:
    """Return machine, versions, date (UTC), commit and exact command of a run, as plain JSON values."""
    return {
        "command": shlex.join(command),
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": _commit(),
        "machine": machine(),
        "versions": _versions(),
    }


def machine() -> dict[str, Any]:
    """Return processor, cores that this process may use, memory, system, and the load when the run began."""
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
    return {
        "processor": _processor(),
        "cores": _cores(),
        "memory_gb": _memory_gb(),
        "system": f"{platform.system()} {platform.machine()}",
        "load_at_start": None if load is None else round(load, 2),
    }


def keep(path: Path, head: Mapping[str, Any], results: Iterable[Mapping[str, Any]], key: tuple[str, ...]) -> None:
    """Write the head and the results to the file; older results stay unless a new one has the same key.

    Every result carries its own circumstances, so that sizes measured on different days can stand in one file.
    """
    kept = {_key(result, key): dict(result) for result in _results_of(path)}
    kept.update({_key(result, key): dict(result) for result in results})
    ordered = [kept[values] for values in sorted(kept, key=lambda values: [(isinstance(v, str), v) for v in values])]
    path.parent.mkdir(parents=True, exist_ok=True)
    staged = path.with_name(f".{path.name}.{os.getpid()}")
    staged.write_text(json.dumps({**head, "results": ordered}, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    staged.replace(path)


def _results_of(path: Path) -> list[dict[str, Any]]:
    if not path.is_file():
        return []
    try:
        results = json.loads(path.read_text(encoding="utf-8"))["results"]
    except (ValueError, KeyError, TypeError) as error:
        raise SystemExit(f"{path} holds no results of this program ({error}); move it away or choose --out") from None
    return list(results)


def _key(result: Mapping[str, Any], key: tuple[str, ...]) -> tuple[Any, ...]:
    return tuple(result[name] for name in key)


def _processor() -> str:
    cpu = Path("/proc/cpuinfo")
    if cpu.is_file():
        for line in cpu.read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                return " ".join(line.partition(":")[2].split())
    return platform.processor() or "unknown"


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _memory_gb() -> float | None:
    try:
        return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9, 1)
    except (AttributeError, ValueError, OSError):
        return None


def _versions() -> dict[str, str]:
    versions = {"python": platform.python_version()}
    for name in _LIBRARIES:
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return versions


def _commit() -> str | None:
    """Return the commit of the tree, marked when a tracked file has changed since; None outside a repository."""
    root = Path(__file__).parent.parent

    def git(*arguments: str) -> str | None:
        try:
            completed = subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True, check=False)
        except OSError:
            return None
        return completed.stdout.strip() if completed.returncode == 0 else None

    commit = git("rev-parse", "HEAD")
    if commit and git("status", "--porcelain", "--untracked-files=no"):
        return f"{commit} and uncommitted changes"
    return commit


def command_line(arguments: Sequence[str] | None = None) -> list[str]:
    """Return the command that started this program, as one would type it at the root of the project.

    Folders of this machine are left out: where results and environments are kept changes no figure.
    """
    kept: list[str] = []
    given = iter(sys.argv[1:] if arguments is None else arguments)
    for argument in given:
        if argument in _FOLDER_OPTIONS:
            next(given, None)
        elif not argument.startswith(tuple(f"{name}=" for name in _FOLDER_OPTIONS)):
            kept.append(argument)
    return ["python", "-m", "benchmarks", *kept]


FOLDER = Path(__file__).parent
_ROOT = FOLDER.parent
_STANDARD_ERROR = 2

Figure = float | int | str
Figures = dict[str, Figure]


@dataclass(frozen=True)
class Section:
    """A file of measures. module: its dotted name; sizes: what it measures when nothing else is asked."""

    name: str
    module: str
    title: str
    sizes: tuple[int, ...]


@dataclass(frozen=True)
class Measured:
    """The figures of one section at one size, or why there are none."""

    section: str
    size: int
    figures: Figures
    error: str = ""


def sections(package: str = "benchmarks") -> tuple[Section, ...]:
    """Return all sections of a package, by name. They are read, not run: a broken one does not stop the rest.

    Raises ValueError for one whose TITLE or SIZES is not written out.
    """
    spec = importlib.util.find_spec(package)
    loaded = []
    for folder in (spec.submodule_search_locations or []) if spec else []:
        for path in sorted(Path(folder).glob("*.py")):
            constants = assigned(ast.parse(path.read_text(encoding="utf-8")))
            if {"TITLE", "SIZES"} <= constants.keys():
                try:
                    title, sizes = ast.literal_eval(constants["TITLE"]), ast.literal_eval(constants["SIZES"])
                except ValueError:
                    raise ValueError(f"{path.name}: write out TITLE and SIZES; they are read without a run") from None
                loaded.append(Section(path.stem, f"{package}.{path.stem}", str(title), tuple(map(int, sizes))))
    return tuple(loaded)


def assigned(tree: ast.Module) -> dict[str, ast.expr]:
    """Return what a module assigns to each name at its top."""
    names: dict[str, ast.expr] = {}
    for node in tree.body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value:
            names[node.target.id] = node.value
        elif isinstance(node, ast.Assign):
            names.update({target.id: node.value for target in node.targets if isinstance(target, ast.Name)})
    return names


def measured(section: Section, size: int, *, timeout_seconds: float | None = None) -> Measured:
    """Return the section's figures at that size, from a process that did nothing else."""
    with tempfile.TemporaryDirectory(prefix="leanrag-benchmark-") as folder:
        out = Path(folder) / "figures.json"
        command = [sys.executable, "-m", "benchmarks.child", section.module, str(size), str(out)]
        answer = answer_of(command, out, timeout_seconds=timeout_seconds)
    error = str(answer.get("error", ""))
    return Measured(section.name, size, {} if error else dict(answer["figures"]), error)


def answer_of(
    command: Sequence[str],
    out: Path,
    *,
    timeout_seconds: float | None = None,
    environment: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Run a command and return what it wrote to `out` as JSON, or {"error": ...} when it ended without.

    What it prints goes to standard error. It runs at the root of the project with the project on its path, in a
    process group of its own, so that what it started ends with it when the time is up.
    """
    paths = [str(_ROOT), *filter(None, [os.environ.get("PYTHONPATH", "")])]
    known = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), **(environment or {})}
    process = subprocess.Popen(command, cwd=_ROOT, stdout=_STANDARD_ERROR, env=known, start_new_session=True)
    try:
        code = process.wait(timeout_seconds)
    except BaseException as error:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        if isinstance(error, subprocess.TimeoutExpired):
            return {"error": f"not done after {timeout_seconds:g} seconds; allow more with --timeout"}
        raise
    if out.is_file():
        answer: dict[str, Any] = json.loads(out.read_text(encoding="utf-8"))
        return answer
    if code < 0:
        hint = ", perhaps for want of memory" if code == -signal.SIGKILL else ""
        return {"error": f"ended by signal {signal.Signals(-code).name}{hint}"}
    return {"error": f"ended with exit code {code} and no figures; what it printed is above"}


def table(rows: Iterable[Mapping[str, object]]) -> str:
    """Return the rows as a Markdown table, one column a name in order of first appearance, numbers to the right."""
    listed = list(rows)
    columns = list(dict.fromkeys(name for row in listed for name in row))
    cells = [[_shown(row.get(name, "")) for name in columns] for row in listed]
    right = [all(isinstance(row.get(name, 0), int | float) for row in listed) for name in columns]
    widths = [max(len(text) for text in column) for column in zip(columns, *cells, strict=True)]

    def line(texts: Sequence[str]) -> str:
        padded = [text.rjust(w) if r else text.ljust(w) for text, w, r in zip(texts, widths, right, strict=True)]
        return f"| {' | '.join(padded)} |"

    rule = "|".join(f"{'-' * (w + 1)}:" if r else "-" * (w + 2) for w, r in zip(widths, right, strict=True))
    return "\n".join([line(columns), f"|{rule}|", *map(line, cells)])


def _shown(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    if isinstance(value, int):
        return f"{value:,}"
    if value != value or abs(value) == float("inf"):
        return str(value)
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.4g}"
