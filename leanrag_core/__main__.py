"""The command line. Results on stdout, logs on stderr; exit code 0, 2 for wrong usage, 1 for a failure."""

import argparse
import importlib
import pkgutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from leanrag_core import commands
from leanrag_core.errors import InvalidConfig, LeanRAGError
from leanrag_core.jobs.stopping import Stop
from leanrag_core.text.plain_words import in_words

_PROGRAM = "leanrag"  # the name of the installed command


def main(arguments: Sequence[str] | None = None, stop: Stop | None = None) -> int:
    """Run one verb; returns the exit code. stop: waits for signals; jobs of the app have their own way."""
    options = command_parser().parse_args(arguments)
    run: Callable[[argparse.Namespace], int] = options.run
    options.stop = stop = stop or Stop()
    try:
        return run(options)
    except KeyboardInterrupt:
        stop.say()
        return stop.exit_code
    except InvalidConfig as error:
        print(f"leanrag: {error}", file=sys.stderr)
        return 2
    except LeanRAGError as error:
        print(f"leanrag: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"leanrag: the system refused: {in_words(error)}", file=sys.stderr)
        return 1


def command_parser() -> argparse.ArgumentParser:
    """Build the parser with the verbs of every file in commands/; files with an underscore hold what verbs share."""
    called = _PROGRAM if Path(sys.argv[0]).stem == _PROGRAM else "python -m leanrag_core"
    parser = argparse.ArgumentParser(prog=called, description=__doc__)
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    for module_info in pkgutil.iter_modules(commands.__path__):
        if not module_info.name.startswith("_"):
            importlib.import_module(f"{commands.__name__}.{module_info.name}").add_verbs(verbs)
    return parser


def as_program() -> int:
    """Run the command `leanrag`, or the module as a program."""
    stop = Stop()
    if sys.argv[1:2] != ["run-job"]:
        stop.listen()
    return main(stop=stop)


if __name__ == "__main__":
    sys.exit(as_program())
