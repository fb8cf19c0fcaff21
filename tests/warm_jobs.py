"""Jobs that start in a moment: forks of one process that has loaded what builds load.

`python -m tests.warm_jobs` is that process. It reads a line of JSON for each job and answers with the id of the job's
process. When its input ends it ends, and jobs go on.
"""

import gc
import importlib
import json
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path

from leanrag_core import __main__ as program
from leanrag_core.files import private
from leanrag_core.jobs import runner
from leanrag_core.text.tokens import count_tokens
from tests.forking import ForkingProcess

start_cold = runner.launch  # as the program does
# What a build imports when it comes to it.
_LOADED_LATER = (
    "diskcache",
    "httpx",
    "leanrag_core.commands.run_job",
    "leanrag_core.models.remote_embedding",
    "onnxruntime",
    "openai.resources.chat",
    "openai.resources.embeddings",
    "openai.resources.models",
    "scipy.cluster.hierarchy",
    "scipy.sparse.csgraph",
    "sklearn.decomposition",
    "sklearn.feature_extraction.text",
    "sklearn.mixture",
    "tokenizers",
    "truststore",
)


_forking = ForkingProcess("tests.warm_jobs")
close = _forking.close


def launch(folder: Path, package_root: Path) -> None:
    """Start a process for the job, in the place of runner.launch()."""
    _forking.fork({"folder": str(folder), "cwd": os.getcwd(), "environment": dict(os.environ)})


def become_job(folder: str, cwd: str, environment: dict[str, str]) -> int:
    """Do the job in this process, as the command does; return the exit code."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.setsid()
    os.chdir(cwd)
    with open(Path(folder) / "log.txt", "ab", opener=private.opener) as log, open(os.devnull, "rb") as nothing:
        for number, source in ((0, nothing), (1, log), (2, log)):
            os.dup2(source.fileno(), number)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv[1:] = ["run-job", folder]
    return program.as_program()


def collect_ended(*_: object) -> None:
    """Leave nothing of jobs that have ended."""
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def main() -> int:
    """See above."""
    import openai

    for name in _LOADED_LATER:
        importlib.import_module(name)
    openai.OpenAI(api_key="none", base_url="http://127.0.0.1:1").close()  # loads what a client needs
    count_tokens("with the vocabulary")
    gc.freeze()
    signal.signal(signal.SIGCHLD, collect_ended)
    # By readline: a fork must not have read what is meant for its parent.
    while line := sys.stdin.readline():
        pid = os.fork()
        if not pid:
            return become_job(**json.loads(line))
        print(pid, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
