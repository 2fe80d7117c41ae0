"""mxcy as an ONNX backend: a sample of its suite, and the backend's interface.

The whole suite is ``python -m tests.onnx.backend_suite``.
"""

import numpy as np
import pytest

onnx = pytest.importorskip("onnx", reason="the extra 'onnx' is not installed")

from onnx import TensorProto, helper  # noqa: E402

from mxcy.onnx import backend  # noqa: E402
from tests.onnx import backend_suite  # noqa: E402
from tests.onnx.backend_skips import reason  # noqa: E402

STEP = 24


@pytest.mark.parametrize("group", backend_suite.GROUPS)
def test_a_sample_of_the_suite_passes(group):
    every = [case for case in backend_suite.cases(group) if reason(case.name) is None]
    failed = []
    for case in sorted(every, key=lambda case: case.name)[:: STEP if group == "node" else 8]:
        try:
            backend_suite.run(case)
        except Exception as error:
            failed.append(f"{case.name}: {type(error).__name__}: {error}")
    assert not failed, "\n".join(failed)


def model_of(nodes, inputs, outputs, opset=17, initializers=()):
    def told(names):
        return [helper.make_tensor_value_info(name, kind, shape) for name, kind, shape in names]

    graph = helper.make_graph(nodes, "graph", told(inputs), told(outputs), initializers)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])


def test_inputs_that_tell_shapes_may_change_from_run_to_run():
    model = model_of(
        [helper.make_node("Reshape", ["x", "shape"], ["y"])],
        [("x", TensorProto.FLOAT, (2, 6)), ("shape", TensorProto.INT64, (2,))],
        [("y", TensorProto.FLOAT, None)],
    )
    prepared = backend.prepare(model)
    x = np.arange(12, dtype=np.float32).reshape(2, 6)
    for shape in ((3, 4), (4, -1), (3, 4)):
        np.testing.assert_array_equal(prepared.run([x, np.array(shape)])[0], x.reshape(shape))
    assert prepared.constants == {"shape"}


def test_any_shapes_run_where_the_file_leaves_them_open():
    model = model_of(
        [helper.make_node("MatMul", ["x", "w"], ["y"])],
        [("x", TensorProto.FLOAT, ("n", 3))],
        [("y", TensorProto.FLOAT, ("n", 2))],
        initializers=[helper.make_tensor("w", TensorProto.FLOAT, (3, 2), [1.0] * 6)],
    )
    prepared = backend.prepare(model)
    for n in (1, 5):
        assert prepared.run([np.ones((n, 3), np.float32)]).y.tolist() == [[3, 3]] * n


def test_devices():
    assert backend.supports_device("CPU") and not backend.supports_device("TPU")
    assert not backend.supports_device("CPU:one")
    with pytest.raises(ValueError, match="no device TPU"):
        backend.prepare(model_of([], [], []), "TPU")


def test_run_model_and_bfloat16():
    model = model_of(
        [helper.make_node("Cast", ["x"], ["y"], to=TensorProto.BFLOAT16)],
        [("x", TensorProto.FLOAT, (2,))],
        [("y", TensorProto.BFLOAT16, (2,))],
    )
    (actual,) = backend.run_model(model, [np.array([1.0, 1.00390625], np.float32)])
    assert actual.dtype == helper.tensor_dtype_to_np_dtype(TensorProto.BFLOAT16)
    assert actual.astype(np.float32).tolist() == [1.0, 1.0]
