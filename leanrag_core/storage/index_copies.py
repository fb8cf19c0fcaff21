"""An index copied from one folder to another."""

import shutil
from pathlib import Path

from leanrag_core.storage.layout import read_manifest
from leanrag_core.storage.staging import build_lock, staged


def copy_index(source: Path, target: Path) -> None:
    """The folder of the store holds a copy of the index, complete or not at all, with its finished parts.

    Raises IndexNotFound, IndexDamaged, StorageFailed.
    """
    read_manifest(source)
    with build_lock(target, waiting=lambda: None), staged(target, in_store=True) as staging:
        # Hidden folders are parts that another process is making.
        shutil.copytree(source, staging, dirs_exist_ok=True, ignore=shutil.ignore_patterns(".*"))
