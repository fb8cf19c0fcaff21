"""The other systems' scripts, and an environment of its own for each: made once, kept, and checked before use."""

import ast
import json
import os
import subprocess
import sys
import venv
from dataclasses import dataclass
from pathlib import Path

from benchmarks.frame import assigned

_FOLDER = Path(__file__).parent


class PeerUnavailable(Exception):
    """An environment could not be made; says why."""


@dataclass(frozen=True)
class Peer:
    """A script `run_<name>.py` that measures another system.

    requirements: what its environment is made of. bare: packages that go in without what they require themselves,
    where a release asks for versions that cannot be had.
    """

    name: str
    title: str
    section: str
    requirements: tuple[str, ...]
    bare: tuple[str, ...] = ()

    @property
    def environment(self) -> str:
        """Name of the environment; the scripts of a system share it."""
        return self.name.removesuffix("_retrieval")

    @property
    def module(self) -> str:
        """The script, as `python -m` takes it."""
        return f"benchmarks.peers.run_{self.name}"


def peers(section: str) -> tuple[Peer, ...]:
    """Return all scripts for a section, by name; they are read, not run."""
    listed = []
    for path in sorted(_FOLDER.glob("run_*.py")):
        constants = assigned(ast.parse(path.read_text(encoding="utf-8")))
        title, where, needs = (ast.literal_eval(constants[name]) for name in ("TITLE", "SECTION", "REQUIREMENTS"))
        bare = ast.literal_eval(constants["WITHOUT_REQUIREMENTS"]) if "WITHOUT_REQUIREMENTS" in constants else ()
        if where == section:
            listed.append(Peer(path.stem.removeprefix("run_"), title, where, tuple(needs), tuple(bare)))
    return tuple(listed)


def default_folder() -> Path:
    """Return where environments are kept when nothing else is asked: the user's cache folder."""
    cache = os.environ.get("XDG_CACHE_HOME")
    return (Path(cache) if cache else Path.home() / ".cache") / "leanrag-benchmarks" / "peers"


def interpreter(peer: Peer, folder: Path) -> Path:
    """Return the Python of an environment in which the peer's requirements are installed; make it if there is none.

    Raises PeerUnavailable when the packages cannot be installed.
    """
    home = folder / peer.environment
    python = home / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    marker = home / "installed.json"
    wanted = {"requirements": list(peer.requirements), "python": f"{sys.version_info.major}.{sys.version_info.minor}"}
    if peer.bare:
        wanted["bare"] = list(peer.bare)
    if python.exists() and marker.is_file() and json.loads(marker.read_text(encoding="utf-8")) == wanted:
        return python
    print(f"{peer.title}: making an environment in {home}, which takes some minutes ...", file=sys.stderr, flush=True)
    if not python.exists():
        venv.create(home, with_pip=True)
    for packages in ((*peer.requirements,), ("--no-deps", *peer.bare)):
        if packages == ("--no-deps",):
            continue
        command = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            lines = [line for line in done.stderr.strip().splitlines() if not line.startswith("WARNING")]
            raise PeerUnavailable(
                f"{peer.title} could not be installed ({' '.join(packages)}): "
                f"{lines[-1] if lines else 'pip said nothing'}; a package index must be within reach"
            )
    marker.write_text(json.dumps(wanted), encoding="utf-8")
    return python
