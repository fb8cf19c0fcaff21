"""Models as onnx writes them: the constants of a file, and a graph that grows operator by operator."""

from pathlib import Path
from typing import Any

import numpy as np

_STANDARD, _OWN = 18, 1  # versions of the standard operators and of those that onnxruntime has beyond them
_MICROSOFT = "com.microsoft"
_FORMAT = 8  # of the file, which every onnxruntime since 1.14 reads


def tensors(path: Path) -> dict[str, np.ndarray]:
    """Return the constants of the file's graph (each with the shape that it has there) by name, in the file's order.
    Raises ValueError for what is no ONNX model."""
    import onnx
    from google.protobuf.message import DecodeError
    from onnx import numpy_helper

    try:
        graph = onnx.load_model_from_string(path.read_bytes()).graph
    except DecodeError as error:
        raise ValueError(f"{path.name} is no ONNX model, or not all of it ({error})") from error
    return {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}


class GraphWriter:
    """A graph as it grows. Results are named after their operator and its number, so equal graphs have equal bytes."""

    def __init__(self) -> None:
        self._nodes: list[Any] = []
        self._constants: dict[str, Any] = {}
        self._inputs: list[Any] = []

    def constant(self, name: str, values: np.ndarray) -> str:
        """Add a constant of that name. values: an array of any shape (or a scalar). Raises ValueError for a name
        that is taken."""
        from onnx import numpy_helper

        if name in self._constants:
            raise ValueError(f"the graph already has a constant {name!r}: give this one another name")
        self._constants[name] = numpy_helper.from_array(np.asarray(values, order="C"), name)
        return name

    def input(self, name: str, *axes: str) -> str:
        """Add an int32 input of that name, with axes of any length that have these names."""
        from onnx import TensorProto, helper

        self._inputs.append(helper.make_tensor_value_info(name, TensorProto.INT32, axes))
        return name

    def add(
        self,
        operator: str,
        *inputs: str,
        results: int = 1,
        own: bool = False,
        **attributes: int | float | tuple[int, ...],
    ) -> list[str]:
        """Append the operator, and return the names of its results. own: an operator that only onnxruntime has."""
        from onnx import helper

        number = len(self._nodes)
        named = [f"{operator}_{number}_{place}" for place in range(results)]
        node = helper.make_node(operator, inputs, named, domain=_MICROSOFT if own else None)
        node.attribute.extend(helper.make_attribute(name, value) for name, value in sorted(attributes.items()))
        self._nodes.append(node)
        return named

    def model(self, result: str, *axes: str | int) -> bytes:
        """Return the file's content; the graph gives the float32 array `result` with these axes."""
        from onnx import TensorProto, helper

        made = helper.make_tensor_value_info(result, TensorProto.FLOAT, axes)
        graph = helper.make_graph(self._nodes, "graph", self._inputs, [made], list(self._constants.values()))
        versions = [helper.make_opsetid("", _STANDARD), helper.make_opsetid(_MICROSOFT, _OWN)]
        model = helper.make_model(graph, opset_imports=versions, ir_version=_FORMAT)
        return bytes(model.SerializeToString(deterministic=True))
