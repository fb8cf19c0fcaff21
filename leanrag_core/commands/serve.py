"""serve: the app, in the browser of this machine."""

import argparse
import os
import sys
from pathlib import Path

from leanrag_core.system.environment import PROGRAM

_NICENESS = 10  # the pages and an answer go before a build


def add_verbs(verbs: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the verb run-job."""
    parser = verbs.add_parser("run-job", help="do a job of the app in this process (the app calls this)")
    parser.add_argument("folder", type=Path)
    parser.set_defaults(run=_run_job)
    _add_serve(verbs)


def _run_job(options: argparse.Namespace) -> int:
    from leanrag_core.workbench import Workbench

    if hasattr(os, "nice"):
        os.nice(_NICENESS)
    folder = options.folder.resolve()
    return Workbench.default(folder.parent.parent).run_job(folder)


def _add_serve(verbs: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the verb serve."""
    parser = verbs.add_parser("serve", help="open the app; it answers on the loopback alone")
    parser.add_argument("--port", type=int, default=8501, help="of 127.0.0.1 (default: %(default)s)")
    parser.add_argument("--home", type=Path, metavar="FOLDER", help="where corpora and indexes are kept")
    parser.add_argument("--open", action="store_true", help="open a browser too")
    parser.set_defaults(run=_serve)


def _serve(options: argparse.Namespace) -> int:
    environment = dict(os.environ)
    if options.home:
        environment["LEANRAG_HOME"] = str(options.home.resolve())
    # Takes this process's place, so that a signal reaches the server itself. Its other settings, the loopback among
    # them, are in .streamlit/config.toml beside app.py.
    os.execve(sys.executable, streamlit_command(options.port, open_browser=options.open), environment)


def streamlit_command(port: int, *, open_browser: bool = False) -> list[str]:
    """Return the command that runs the app."""
    command = [sys.executable, "-m", "streamlit", "run", str(PROGRAM / "app.py"), "--server.port", str(port)]
    return [*command, "--server.headless", "false"] if open_browser else command
