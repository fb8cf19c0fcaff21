"""Who does the work, as settings and command line say it."""

from collections.abc import Callable
from pathlib import Path

import pytest

from leanrag_core.__main__ import command_parser
from leanrag_core.commands._options import execution_of
from leanrag_core.errors import InvalidConfig
from leanrag_core.storage.settings import read_settings, settings_of, write_settings
from leanrag_core.types.settings import Execution, Settings

CLUSTER = Execution("dask", 0, "tcp://127.0.0.1:8786")


def chosen(words: str, settings: Execution | None = None) -> Execution:
    options = command_parser("build").parse_args(["build", "docs", "--out", "index", *words.split()])
    return execution_of(options, settings or Execution())


def test_the_command_decides_and_the_settings_where_it_is_silent() -> None:
    assert chosen("") == Execution("threads")
    assert chosen("", CLUSTER) == CLUSTER
    assert chosen("--execution processes --workers 3") == Execution("processes", 3)
    assert chosen("--execution processes", CLUSTER) == Execution("processes")
    assert chosen("--execution dask", CLUSTER) == CLUSTER
    assert chosen("--workers 2", Execution("processes", 8)) == Execution("processes", 2)
    assert chosen("--scheduler tcp://127.0.0.1:8786") == CLUSTER  # who names a scheduler means Dask
    with pytest.raises(InvalidConfig, match="name the Dask scheduler"):
        chosen("--execution dask")


def test_a_choice_survives_the_settings_file(tmp_path: Path) -> None:
    settings = Settings(execution=CLUSTER, chroma_url="http://127.0.0.1:8000")
    write_settings(tmp_path / "settings.json", settings)
    assert read_settings(tmp_path / "settings.json") == settings


@pytest.mark.parametrize(
    "cells",
    [
        {"execution": {"kind": "dask"}},
        {"execution": {"kind": "dask", "scheduler": "tls://me:secret@head:8786"}},
        {"execution": {"cores": 3}},
        {"execution": "dask"},
        {"chroma_url": "here:8000"},
    ],
)
def test_settings_that_cannot_be_meant_are_refused(cells: dict[str, object]) -> None:
    with pytest.raises(InvalidConfig):
        settings_of(cells)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Execution("dask", 0, "ada:hunter2@head:8786"),
        lambda: Execution("dask", 0, "tcp://head:8786?token=hunter2"),
        lambda: Execution("threads", 0, "tcp://head:8786#hunter2"),
        lambda: Settings(chroma_url="http://ada:hunter2@head:8000"),
        lambda: Settings(chroma_url="http://:hunter2@head:8000"),
        lambda: Settings(chroma_url="hunter2@head:8000"),
        lambda: Settings(chroma_url="http://head:8000?token=hunter2"),
        lambda: Settings(chroma_url="http://head:8000#hunter2"),
        lambda: Settings(base_url="ada:hunter2@head/v1"),
    ],
)
def test_a_password_in_an_address_is_refused_and_not_repeated(make: Callable[[], object]) -> None:
    with pytest.raises(InvalidConfig, match=r"name or password|a name, a password") as refused:
        make()
    assert "hunter2" not in str(refused.value)
