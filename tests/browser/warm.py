"""Servers that start in half a second: forks of one process that has the app's modules loaded already.

`python -m tests.browser.warm` is that process. It reads a line of JSON for each server that is wanted and answers with
its process id; when its input ends it ends, and the servers go on until they are told to end.
"""

import importlib
import json
import os
import pkgutil
import select
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.forking import ForkingProcess

SCRIPTS = ("page", "main")  # they draw when they are imported


@dataclass(frozen=True)
class Forked:
    """A server that is not a child of this process, with what a `Popen` offers for its end."""

    pid: int
    descriptor: int  # of the process itself: no other one can take its number

    @classmethod
    def opened(cls, pid: int) -> "Forked":
        return cls(pid, os.pidfd_open(pid))

    def terminate(self) -> None:
        self._send(signal.SIGTERM)

    def kill(self) -> None:
        self._send(signal.SIGKILL)

    def wait(self, timeout: float) -> int:
        """Wait for the end of the process; raise `subprocess.TimeoutExpired` where it does not come."""
        if not select.select([self.descriptor], [], [], timeout)[0]:
            raise subprocess.TimeoutExpired(str(self.pid), timeout)
        return 0

    def _send(self, number: signal.Signals) -> None:
        try:
            signal.pidfd_send_signal(self.descriptor, number)
        except ProcessLookupError:
            return  # it has ended


_forking = ForkingProcess("tests.browser.warm")
close = _forking.close


def server(arguments: Sequence[str], environment: Mapping[str, str], log: Path) -> Forked:
    """Run `streamlit` with these arguments and this environment; what it prints goes to the log."""
    wanted = {"arguments": list(arguments), "environment": dict(environment), "log": str(log)}
    return Forked.opened(_forking.fork(wanted))


def load() -> None:
    """Import what every server imports for its first page, and read what every page reads."""
    import scipy.sparse  # noqa: F401
    import streamlit.web.bootstrap
    import streamlit.web.cli  # noqa: F401
    from streamlit.logger import set_log_level

    import leanrag_core.workbench  # noqa: F401
    import pages
    from leanrag_core.messages.catalog import languages, sentence
    from leanrag_core.retrieval.base import strategies

    set_log_level("ERROR")  # caches are declared before there is a server, which is said for each of them
    for module in pkgutil.walk_packages(pages.__path__, "pages."):
        if module.name.rpartition(".")[2] not in SCRIPTS:
            importlib.import_module(module.name)
    set_log_level("INFO")
    for language in languages():
        assert all(sentence(info.title, language) for info in strategies().strategies)


def become_server(arguments: Sequence[str], environment: Mapping[str, str], log: str) -> None:
    """Run Streamlit in this process, as its command does."""
    from streamlit.web import cli

    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    printed = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for number, source in ((0, nothing), (1, printed), (2, printed)):
        os.dup2(source, number)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = ["streamlit", *arguments]
    cli.main()


def main() -> None:
    load()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # servers that ended leave nothing behind
    # By readline: a fork must not have read what is meant for its parent.
    while line := sys.stdin.readline():
        pid = os.fork()
        if not pid:
            become_server(**json.loads(line))
            os._exit(0)
        print(pid, flush=True)


if __name__ == "__main__":
    main()
