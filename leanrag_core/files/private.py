"""Files and folders that belong to their owner alone, since they contain what users wrote or asked.

On Windows rights are those of the folder above, which is the user's own; nothing is changed there.
"""

import contextlib
import os
import stat
from pathlib import Path

FILE, FOLDER = 0o600, 0o700
_OTHERS = stat.S_IRWXG | stat.S_IRWXO


def opener(path: str, flags: int) -> int:
    """Open a file so that it is made for its owner alone; for open()."""
    return os.open(path, flags, FILE)


def make_folder(folder: Path) -> None:
    """Make the folder for its owner alone. Those above it are as the system makes them."""
    folder.mkdir(mode=FOLDER, parents=True, exist_ok=True)
    tighten_file(folder)


def tighten(folder: Path) -> None:
    """Close the folder and all in it to everyone but the owner, also what older versions made."""
    for below, folders, files in os.walk(folder):
        for name in (*files, *folders):
            tighten_file(Path(below) / name)
    tighten_file(folder)


def tighten_file(path: Path) -> None:
    """Close the file or folder to everyone but its owner, if it is there."""
    # On a read-only disk, or when it is another user's, it stays as it is: its permissions are not ours to change.
    with contextlib.suppress(OSError):
        mode = path.lstat().st_mode
        if os.name != "nt" and mode & _OTHERS and not stat.S_ISLNK(mode):
            path.chmod(stat.S_IMODE(mode) & ~_OTHERS)
