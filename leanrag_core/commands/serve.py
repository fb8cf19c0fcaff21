"""serve: the app, in the browser of this machine, and the API for programs; mcp: the tools for assistants."""

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from leanrag_core.serving.start import listening_at, require_home, require_startable
from leanrag_core.system.environment import API_PORT_VARIABLE, PROGRAM

if TYPE_CHECKING:
    from leanrag_core.commands._options import Verbs  # which loads the workbench

_APP_PORT, _API_PORT = 8501, 8601
_ALONE = -1  # of --api: without the app


def add_verbs(verbs: "Verbs") -> None:
    """Add the verbs serve and mcp."""
    parser = verbs.add_parser("serve", help="open the app; it answers on the loopback alone")
    parser.add_argument("--port", type=int, help=f"of 127.0.0.1 (default: {_APP_PORT}, of the API alone {_API_PORT})")
    parser.add_argument("--home", type=Path, metavar="FOLDER", help="where corpora and indexes are kept")
    parser.add_argument("--open", action="store_true", help="open a browser too")
    parser.add_argument(
        "--api",
        type=int,
        nargs="?",
        const=_ALONE,
        metavar="PORT",
        help="serve the API for programs: alone, at --port; with a PORT at that one, beside the app",
    )
    parser.add_argument("--describe", action="store_true", help="print the API's description by OpenAPI and end")
    parser.set_defaults(run=_serve)
    tools = verbs.add_parser("mcp", help="tools for assistants, by the Model Context Protocol over stdin and stdout")
    tools.add_argument("--home", type=Path, metavar="FOLDER", help="where corpora and indexes are kept")
    tools.set_defaults(run=_mcp)


def _serve(options: argparse.Namespace) -> None:
    if options.describe:
        from leanrag_core.serving.running import description

        print(description())
        return
    require_home(options.home)
    if options.api == _ALONE:
        from leanrag_core.serving.running import announced, served_in

        announced(served_in(options.home), _API_PORT if options.port is None else options.port).run()
        return
    port = _APP_PORT if options.port is None else options.port
    listening_at(port).close()  # else the server says it in a traceback
    environment = dict(os.environ)
    if options.home:
        environment["LEANRAG_HOME"] = str(options.home.resolve())
    if options.api is not None:
        require_startable(options.api)
        environment[API_PORT_VARIABLE] = str(options.api)
    # Takes this process's place, so that a signal reaches the server itself. Its other settings, the loopback among
    # them, are in .streamlit/config.toml beside app.py.
    os.execve(sys.executable, streamlit_command(port, open_browser=options.open), environment)


def _mcp(options: argparse.Namespace) -> None:
    require_home(options.home)
    from leanrag_core.serving.running import serve_tools, served_in

    serve_tools(served_in(options.home))


def streamlit_command(port: int, *, open_browser: bool = False) -> list[str]:
    """Return the command that runs the app."""
    command = [sys.executable, "-m", "streamlit", "run", str(PROGRAM / "app.py"), "--server.port", str(port)]
    return [*command, "--server.headless", "false"] if open_browser else command
