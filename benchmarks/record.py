"""What a figure needs beside it to mean anything: machine, versions, date, commit and command; and where it is kept."""

import json
import os
import platform
import shlex
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

_FOLDER_OPTIONS = ("--out", "--peers-env")
_LIBRARIES = ("numpy", "scipy", "scikit-learn", "pyarrow", "chromadb", "onnxruntime", "spacy", "streamlit", "dask")


def circumstances(command: Iterable[str]) -> dict[str, Any]:
    """Machine, versions, date (UTC), commit and exact command of a run, as plain JSON values."""
    return {
        "command": shlex.join(command),
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": _commit(),
        "machine": machine(),
        "versions": _versions(),
    }


def machine() -> dict[str, Any]:
    """Processor, cores that this process may use, memory, system, and the load when the run began."""
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
    return {
        "processor": _processor(),
        "cores": _cores(),
        "memory_gb": _memory_gb(),
        "system": f"{platform.system()} {platform.machine()}",
        "load_at_start": None if load is None else round(load, 2),
    }


def keep(path: Path, head: Mapping[str, Any], results: Iterable[Mapping[str, Any]], key: tuple[str, ...]) -> None:
    """The file holds the head and the results; older results stay unless a new one has the same key.

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
    """The commit of the tree, marked when something that is tracked has changed since; None outside a repository."""
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
    """The command that started this program, as one would type it at the root of the project.

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
