"""Networks in ONNX."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper, numpy_helper


def linear_network(weights: npt.NDArray[np.float32], bias: npt.NDArray[np.float32]) -> bytes:
    """A network (1, n) -> (1, m) with the weights (m, n) and the bias (m,), serialised."""
    acts, observed = weights.shape
    graph = helper.make_graph(
        [helper.make_node("Gemm", ["observation", "weights", "bias"], ["action"], transB=1)],
        "linear",
        [helper.make_tensor_value_info("observation", TensorProto.FLOAT, [1, observed])],
        [helper.make_tensor_value_info("action", TensorProto.FLOAT, [1, acts])],
        [numpy_helper.from_array(weights, "weights"), numpy_helper.from_array(bias, "bias")],
    )
    # Versions that onnxruntime reads from 1.18 on.
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model)
    return bytes(model.SerializeToString())
