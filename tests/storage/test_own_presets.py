"""Presets of a person: kept without models and prompts, replaced by title, bounded."""

from pathlib import Path

import pytest

from leanrag_core import Workbench
from leanrag_core.errors import InvalidConfig, RecordDamaged
from leanrag_core.storage.settings import MOST, OwnPresets
from leanrag_core.types.config import IndexConfig


def test_a_preset_keeps_what_differs_from_the_defaults_and_no_model(tmp_path: Path) -> None:
    store = OwnPresets(tmp_path / "home" / "presets.json")
    assert store.all() == ()
    config = IndexConfig(model="openai:secret-model", cluster_size=30, tau="5", prompts=(("answer", "Text"),))
    store.save("  Small   clusters ", config, {"top_n": 5})
    [preset] = store.all()
    assert (preset.title, preset.index, preset.ask) == (
        "Small clusters",
        {"cluster_size": 30, "tau": "5"},
        {"top_n": 5},
    )
    assert preset.config() == IndexConfig(cluster_size=30, tau="5")
    assert "secret-model" not in (tmp_path / "home" / "presets.json").read_text(encoding="utf-8")


def test_options_of_an_earlier_version_are_left_out(tmp_path: Path) -> None:
    bench = Workbench.default(tmp_path)
    bench.presets.save("Mine", IndexConfig(), {"top_n": 5, "entity_sources": "last"})
    assert bench.presets.with_shipped()[-1].ask == {"top_n": 5}


def test_a_preset_of_the_same_title_is_replaced_and_deleted(tmp_path: Path) -> None:
    store = OwnPresets(tmp_path / "presets.json")
    store.save("Mine", IndexConfig(cluster_size=30), {})
    store.save("Other", IndexConfig(cluster_size=10), {})
    store.save("Mine", IndexConfig(cluster_size=40), {})
    assert [(preset.title, preset.index["cluster_size"]) for preset in store.all()] == [("Other", 10), ("Mine", 40)]
    store.delete("Other")
    assert [preset.title for preset in store.all()] == ["Mine"]


@pytest.mark.parametrize("title", ["", "   ", "x" * 81, "Default", "Paper: Mix"])
def test_a_title_that_is_none_or_taken_is_refused(title: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidConfig):
        OwnPresets(tmp_path / "presets.json").save(title, IndexConfig(), {})


def test_there_is_a_bound(tmp_path: Path) -> None:
    store = OwnPresets(tmp_path / "presets.json")
    for number in range(MOST):
        store.save(f"Preset {number}", IndexConfig(), {})
    with pytest.raises(InvalidConfig):
        store.save("One more", IndexConfig(), {})
    store.save("Preset 0", IndexConfig(cluster_size=30), {})
    assert len(store.all()) == MOST


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "presets.json").write_text("[{", encoding="utf-8")
    with pytest.raises(RecordDamaged, match=r"presets\.json"):
        OwnPresets(tmp_path / "presets.json").all()
