"""One small index and one embedding model for all tests of this folder."""

import shutil
from pathlib import Path

import pytest

from tests.checking.stored import Remembered, Stored, built_index


@pytest.fixture(scope="session")
def embedding() -> Remembered:
    return Remembered()


@pytest.fixture(scope="session")
def sound(tmp_path_factory: pytest.TempPathFactory, embedding: Remembered) -> Path:
    return built_index(tmp_path_factory.mktemp("checked") / "index", embedding)


@pytest.fixture
def stored(sound: Path, tmp_path: Path) -> Stored:
    return Stored(Path(shutil.copytree(sound, tmp_path / "index")))
