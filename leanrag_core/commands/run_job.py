"""run-job: a job of the app, in a process of its own."""

import argparse
import os
from pathlib import Path

from leanrag_core.workbench import Workbench

_NICENESS = 10  # the pages and an answer go before a build


def add_verbs(verbs: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the verb run-job."""
    parser = verbs.add_parser("run-job", help="do a job of the app in this process (the app calls this)")
    parser.add_argument("folder", type=Path)
    parser.set_defaults(run=_run_job)


def _run_job(options: argparse.Namespace) -> int:
    if hasattr(os, "nice"):
        os.nice(_NICENESS)
    folder = options.folder.resolve()
    return Workbench.default(folder.parent.parent).run_job(folder)
