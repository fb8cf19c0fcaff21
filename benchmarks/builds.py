"""How long a build takes, how much memory it needs, and whether the index keeps every promise.

    python -m benchmarks.builds OUT PATH...      each PATH a file or folder of documents; OUT keeps the indexes

Each build is a process of its own with the command line, as a user would start it. Peak memory is the largest
resident set of that process. `check` runs on every index; the exit code is 1 when one fails.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path


def main() -> int:
    """Print one line a corpus."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("paths", type=Path, nargs="+")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    failed = 0
    print(
        f"{'corpus':<28}{'seconds':>8}{'peak GB':>9}{'documents':>11}{'chunks':>8}  entities by layer; relations; check"
    )
    for path in options.paths:
        index = options.out / path_name(path)
        seconds, peak, code = timed(["build", str(path), "--out", str(index)], index.with_suffix(".log"))
        if not (index / "manifest.json").is_file():
            failed += 1
            print(f"{path_name(path):<28}{seconds:>8.1f}{peak:>9.2f}  failed with exit code {code}")
            continue
        checked = subprocess.run(
            [sys.executable, "-m", "leanrag_core", "check", str(index)], capture_output=True, text=True, check=False
        )
        counts = json.loads((index / "manifest.json").read_text(encoding="utf-8"))["counts"]
        failed += checked.returncode != 0
        print(
            f"{path_name(path):<28}{seconds:>8.1f}{peak:>9.2f}{counts['documents']:>11,}{counts['chunks']:>8,}  "
            f"{' / '.join(f'{n:,}' for n in counts['entities'])}; {counts['relations'][0]:,}; "
            f"{'all hold' if checked.returncode == 0 else 'BROKEN: ' + checked.stdout.strip()[:200]}",
            flush=True,
        )
    return int(failed > 0)


def path_name(path: Path) -> str:
    """Return a short name: the file or folder, with its parent when that says more."""
    return path.parent.name if path.name == "documents" or path.stem == "corpus" else f"{path.parent.name}-{path.name}"


def timed(arguments: list[str], log: Path) -> tuple[float, float, int]:
    """Run a command, and return its seconds, its peak resident set in GB, and its exit code."""
    started = time.perf_counter()
    with log.open("wb") as out:
        process = subprocess.Popen([sys.executable, "-m", "leanrag_core", *arguments], stdout=out, stderr=out)
        _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return time.perf_counter() - started, used.ru_maxrss * 1024 / 1e9, process.returncode


if __name__ == "__main__":
    sys.exit(main())
