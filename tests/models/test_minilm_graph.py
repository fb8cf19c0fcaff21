"""The graph in whole numbers: always the same bytes, made of the package's weights alone."""

import hashlib
from pathlib import Path

import numpy as np
import onnxruntime
import pytest

from leanrag_core.models.minilm import model_file
from leanrag_core.models.minilm_graph import EARLIER_REVISION, REVISION, WEIGHTS, GraphWriter, int8_graph, tensors


def run(model: bytes, **given: np.ndarray) -> np.ndarray:
    return np.asarray(onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"]).run(None, given)[0])


@pytest.mark.parametrize(
    ("revision", "digest"), [(EARLIER_REVISION, "156f27ee1859d88c"), (REVISION, "ce22092c6d2c2adc")]
)
def test_the_graph_is_always_the_same_and_another_one_needs_another_revision(revision: str, digest: str) -> None:
    assert hashlib.sha256(model_file().read_bytes()).hexdigest() == WEIGHTS
    made = int8_graph(model_file(), revision)
    assert made == int8_graph(model_file(), revision)
    assert hashlib.sha256(made).hexdigest()[:16] == digest  # vectors of two graphs never mix


def test_a_written_graph_computes_what_it_says(tmp_path: Path) -> None:
    graph = GraphWriter()
    rows = graph.input("rows", "n")
    graph.constant("table", np.array([[1, -2], [3, 4], [-5, 6]], dtype=np.float32))
    first, second = graph.add("Split", graph.add("Gather", "table", rows)[0], results=2, axis=1, num_outputs=2)
    product = graph.add("LeakyRelu", graph.add("Mul", first, second)[0], alpha=0.5)[0]
    model = graph.model(product, "n", 1)
    computed = run(model, rows=np.array([2, 0, 1], dtype=np.int32))
    assert computed.tolist() == [[-15.0], [-1.0], [12.0]]  # -30 and -2 halved, 12 as it is


def test_constants_are_read_as_they_were_written(tmp_path: Path) -> None:
    graph = GraphWriter()
    written = {
        "bytes": np.array([[-128, 0, 127]], dtype=np.int8),
        "one": np.array(2.5, dtype=np.float32),
        "large": np.arange(300, dtype=np.int64).reshape(2, 150),
    }
    for name, values in written.items():
        graph.constant(name, values)
    path = tmp_path / "model.onnx"
    path.write_bytes(graph.model(graph.add("Identity", "one")[0]))
    read = tensors(path)
    assert list(read) == list(written)
    for name, values in written.items():
        assert read[name].dtype == values.dtype
        assert np.array_equal(read[name], values)
        assert read[name].shape == values.shape


def test_a_name_is_given_once() -> None:
    graph = GraphWriter()
    graph.constant("a", np.zeros(1, dtype=np.float32))
    with pytest.raises(ValueError, match="already has a constant 'a'"):
        graph.constant("a", np.ones(1, dtype=np.float32))


def test_a_file_that_is_no_model_or_cut_off_is_named_as_such(tmp_path: Path) -> None:
    graph = GraphWriter()
    graph.constant("a", np.zeros(100, dtype=np.float32))
    path = tmp_path / "model.onnx"
    path.write_bytes(graph.model(graph.add("Identity", "a")[0], 100)[:-20])
    with pytest.raises(ValueError, match="no ONNX model"):
        tensors(path)
    path.write_bytes(b"\x07what is this")
    with pytest.raises(ValueError, match="no ONNX model"):
        tensors(path)
