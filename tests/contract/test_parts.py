"""What holds for every index part, on every kind of index."""

import os
import shutil
import signal
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from leanrag_core.errors import Cancelled, PartDamaged, PartMissing
from leanrag_core.files.records import from_json, to_json
from leanrag_core.indexing.part_base import PartInfo, PartModels, PartTools, parts
from leanrag_core.indexing.part_building import build_part, part_states, read_part
from leanrag_core.messages.catalog import sentence
from leanrag_core.storage.layout import read_index, write_index
from leanrag_core.storage.part_store import PartStore
from leanrag_core.storage.staging import staged
from leanrag_core.types.index import Index
from leanrag_core.types.job import Progress
from leanrag_core.types.manifest import PartRecord, PartState
from tests.contract.indexes import INDEXES, stored
from tests.contract.same import assert_same
from tests.killing import call_where_forks_are_killed
from tests.small_index import relation

pytestmark = pytest.mark.slow

PARTS = [pytest.param(info, id=info.name) for info in parts().parts]
MODELS = PartModels()
CHANGED = {"entities": "entities-0", "relations": "relations-0", "chunks": "chunks"}  # tables by need


def embed(texts: Sequence[str]) -> np.ndarray:
    """Return unit rows made from the bytes of the texts."""
    rows = np.array([[1 + sum(text.encode()) % 7, len(text), 1, 2] for text in texts], dtype=np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


TOOLS = PartTools(embed)


def needed(info: PartInfo) -> tuple[PartInfo, ...]:
    """Return the other parts that the part needs."""
    return tuple(other for other in parts().parts if other.name in info.part.needs)


def models_with_needs(info: PartInfo, index: Index) -> PartModels:
    """Return models without a language model, with the parts that the part needs."""
    return PartModels(parts={other.name: fingerprint(other, index) for other in needed(info)})


def make(info: PartInfo, index: Index, tools: PartTools = TOOLS) -> PartRecord:
    """Make the part, and before it what it needs."""
    for other in needed(info):
        make(other, index)
    tools = replace(tools, part=lambda name: read_part(index, parts().named(name)))
    return build_part(index, info, info.config(), models_with_needs(info, index), tools)


def fingerprint(info: PartInfo, index: Index) -> str:
    return info.part.fingerprint(index, info.config(), models_with_needs(info, index))


def state_of(info: PartInfo, index: Index) -> PartState:
    states = part_states(index, parts(), models_with_needs(info, index))
    [state] = [state for state in states if state.name == info.name]
    return state


@pytest.fixture(params=list(INDEXES))
def any_index(request: pytest.FixtureRequest, tmp_path: Path) -> Index:
    return stored(request.param, tmp_path / "index")


@pytest.fixture(params=("tiny", "one chunk"))
def index(request: pytest.FixtureRequest, tmp_path: Path) -> Index:
    """Return an index for what does not depend on what a part is made of: one with relations, and the smallest."""
    return stored(request.param, tmp_path / "index")


def with_other(index: Index, need: str) -> Index:
    """Return the index with a change in what the need names."""
    base = index.layers[0]
    if need == "vectors":
        base = replace(base, vectors=np.roll(np.array(base.vectors), 1, axis=1))
    elif need == "entities":
        column = base.entities.schema.get_field_index("type")
        base = replace(base, entities=base.entities.set_column(column, "type", [["other"] * len(base)]))
    elif need == "relations":
        relations = base.relations.to_pylist() or [relation(0, 0)]
        changed = [{**each, "description": "Other."} for each in relations]
        base = replace(base, relations=pa.Table.from_pylist(changed, schema=base.relations.schema))
    elif need == "chunks":
        return replace(index, chunk_vectors=np.roll(np.array(index.chunk_vectors), 1, axis=1))
    else:
        pytest.fail(f"no change of {need!r} is known to this test: add one")
    return replace(index, layers=(base, *index.layers[1:]))


def test_every_file_of_parts_can_be_used() -> None:
    assert parts().broken == ()
    assert {info.name for info in parts().parts} >= {"chroma"}


@pytest.mark.parametrize("info", PARTS)
def test_a_part_is_named_as_its_file_and_says_what_it_is(info: PartInfo) -> None:
    assert info.part.__class__.__module__.rsplit(".", 1)[-1] == info.name
    assert sentence(info.part.title)
    assert sentence(info.part.help)
    assert info.part.needs


@pytest.mark.parametrize("info", PARTS)
def test_the_fingerprint_is_stable_and_changes_with_each_need(info: PartInfo, index: Index, tmp_path: Path) -> None:
    first = fingerprint(info, index)
    assert first == fingerprint(info, read_index(tmp_path / "index"))
    for other in needed(info):
        changed = replace(models_with_needs(info, index), parts={other.name: "another"})
        assert info.part.fingerprint(index, info.config(), changed) != first, other.name
    for need in info.part.needs:
        if need in {other.name for other in needed(info)}:
            continue
        if need == "relations" and not index.layers[0].relations.num_rows:
            continue  # there is none to change; the other indexes have some
        directory = tmp_path / need
        directory.mkdir()
        write_index(directory, with_other(index, need))
        assert fingerprint(info, read_index(directory)) != first, need


@pytest.mark.parametrize("info", PARTS)
def test_each_option_has_a_fingerprint_of_its_own(info: PartInfo, tmp_path: Path) -> None:
    index = stored("tiny", tmp_path)
    for option in info.config.__dataclass_fields__.values():
        low, high = option.metadata.get("low"), option.metadata.get("high")
        other = not option.default if isinstance(option.default, bool) else low if option.default != low else high
        config = info.configured({option.name: other})
        models = models_with_needs(info, index)
        assert info.part.fingerprint(index, config, models) != fingerprint(info, index), option.name


@pytest.mark.parametrize("info", PARTS)
def test_a_forecast_is_a_range_of_seconds(info: PartInfo, index: Index) -> None:
    seconds = info.part.forecast(index, info.config(), MODELS).seconds
    assert 0 < seconds.low <= seconds.expected <= seconds.high


@pytest.mark.parametrize("info", PARTS)
def test_a_part_is_made_once_and_again_with_the_same_content(info: PartInfo, any_index: Index, tmp_path: Path) -> None:
    with pytest.raises(PartMissing):
        read_part(any_index, info)
    reported: list[Progress] = []
    record = make(info, any_index, replace(TOOLS, report=reported.append))
    assert "make" in {progress.stage for progress in reported}
    content = read_part(any_index, info)
    reported.clear()
    assert make(info, any_index, replace(TOOLS, report=reported.append)) == record
    assert "make" not in {progress.stage for progress in reported}
    other = stored_copy(any_index, tmp_path / "other")
    again = make(info, other)
    assert (again.fingerprint, again.config, again.rests_on) == (record.fingerprint, record.config, record.rests_on)
    assert_same(read_part(other, info), content)
    assert from_json(PartRecord, to_json(record)) == record


def stored_copy(index: Index, directory: Path) -> Index:
    """Return a copy of the index without its parts."""
    assert index.path is not None
    shutil.copytree(index.path, directory, ignore=shutil.ignore_patterns("parts"))
    return read_index(directory)


@pytest.mark.parametrize("info", PARTS)
def test_a_part_goes_with_its_index(info: PartInfo, index: Index, tmp_path: Path) -> None:
    assert index.path is not None
    record = make(info, index)
    content = read_part(index, info)
    shutil.copytree(index.path, tmp_path / "copy")
    shutil.move(index.path, tmp_path / "elsewhere" / "moved")
    for place in (tmp_path / "copy", tmp_path / "elsewhere" / "moved"):
        assert fingerprint(info, read_index(place)) == record.fingerprint
        assert_same(read_part(read_index(place), info), content)


@pytest.mark.parametrize("info", PARTS)
def test_a_rebuild_keeps_a_part_that_rests_on_what_is_the_same(info: PartInfo, index: Index) -> None:
    assert index.path is not None
    record = make(info, index)
    content = read_part(index, info)
    with staged(index.path) as staging:
        write_index(staging, index)
    assert_same(read_part(read_index(index.path), info), content)
    assert PartStore(index.path).read(info.name, record.fingerprint) == record
    changed = with_other(read_index(index.path), info.part.needs[0])
    with staged(index.path) as staging:
        write_index(staging, changed)
    assert PartStore(index.path).all() == ()
    with pytest.raises(PartMissing):
        read_part(read_index(index.path), info)


@pytest.mark.parametrize("info", PARTS)
def test_what_was_stopped_is_not_used_and_made_later(info: PartInfo, index: Index) -> None:
    def stop(progress: Progress) -> None:
        if progress.stage == "make":
            raise Cancelled("job.cancel_requested")

    with pytest.raises(Cancelled):
        make(info, index, replace(TOOLS, report=stop))
    with pytest.raises(PartMissing):
        read_part(index, info)
    assert state_of(info, index).status in ("absent", "unfinished")
    make(info, index)
    read_part(index, info)
    assert state_of(info, index).status == "finished"


def kill_at_each(directory: str) -> dict[str, int]:
    """Make each part in a fork of this process that is killed while it makes it; return how they ended."""

    def kill(progress: Progress) -> None:
        if progress.stage == "make":
            os.kill(os.getpid(), signal.SIGKILL)

    exits = {}
    for info in parts().parts:
        child = os.fork()
        if not child:
            try:
                make(info, read_index(Path(directory) / info.name), replace(TOOLS, report=kill))
            finally:
                os._exit(1)
        exits[info.name] = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return exits


@dataclass(frozen=True)
class Killed:
    """Indexes in which a part was being made when its process was killed. exits: of the processes, by part."""

    directory: Path
    exits: dict[str, int]


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Killed:
    directory = tmp_path_factory.mktemp("killed")
    for info in parts().parts:
        stored("tiny", directory / info.name)
    return Killed(directory, call_where_forks_are_killed(f"{__name__}:kill_at_each", str(directory)))


@pytest.mark.parametrize("info", PARTS)
def test_a_killed_process_leaves_nothing_that_reads_as_finished(info: PartInfo, killed: Killed) -> None:
    assert killed.exits[info.name] == -signal.SIGKILL
    index = read_index(killed.directory / info.name)
    with pytest.raises(PartMissing):
        read_part(index, info)
    make(info, index)
    read_part(index, info)
    left = [(part.name, part.status) for part in PartStore(killed.directory / info.name).all()]
    assert left == sorted((made.name, "finished") for made in (info, *needed(info)))


@pytest.mark.parametrize("info", PARTS)
def test_damage_is_an_error_with_a_code(info: PartInfo, tmp_path: Path) -> None:
    index = stored("tiny", tmp_path / "index")
    record = make(info, index)
    folder = PartStore(tmp_path / "index").folder(info.name, record.fingerprint)
    for name in ("part.json", *record.files):
        before = (folder / name).read_bytes()
        for content in (before[: len(before) // 2], b"", before[:-2] + bytes([before[-2] ^ 1]) + before[-1:]):
            (folder / name).write_bytes(content)
            with pytest.raises(PartDamaged) as damaged:
                read_part(index, info)
            assert damaged.value.message.code.startswith("part.")
        (folder / name).write_bytes(before)
    read_part(index, info)
    (folder / "part.json").write_bytes(b"{}")
    state = state_of(info, index)
    assert state.status == "damaged"
    assert state.problem is not None
    assert make(info, index).fingerprint == record.fingerprint  # made again in its place
    read_part(index, info)


@pytest.mark.parametrize("info", PARTS)
def test_a_part_of_another_index_is_not_read(info: PartInfo, tmp_path: Path) -> None:
    index = stored("tiny", tmp_path / "index")
    make(info, index)
    other = stored("Chinese", tmp_path / "other")
    shutil.copytree(tmp_path / "index" / "parts", tmp_path / "other" / "parts")
    with pytest.raises(PartDamaged) as refused:
        read_part(other, info)
    assert refused.value.message.code == "part.of_another_index"


@pytest.mark.parametrize("info", PARTS)
def test_a_part_does_not_change_the_index(info: PartInfo, index: Index) -> None:
    assert index.path is not None
    before = {path.name: path.read_bytes() for path in index.path.iterdir() if path.is_file()}
    make(info, index)
    assert {path.name: path.read_bytes() for path in index.path.iterdir() if path.is_file()} == before


@pytest.mark.parametrize("info", PARTS)
def test_a_process_that_ended_just_before_the_part_was_in_place_spoils_nothing(info: PartInfo, tmp_path: Path) -> None:
    index = stored("tiny", tmp_path / "index")
    record = make(info, index)
    store = PartStore(tmp_path / "index")
    content = read_part(index, info)
    building = store.building_folder(info.name, record.fingerprint)
    store.folder(info.name, record.fingerprint).rename(building)
    with pytest.raises(PartMissing):
        read_part(index, info)
    assert make(info, index).fingerprint == record.fingerprint
    assert_same(read_part(index, info), content)
    assert not building.exists()
