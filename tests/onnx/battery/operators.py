"""Records' samples, exported and run by ONNX Runtime, compared with our results."""

import re

import numpy as np
import onnx
import onnxruntime

import mxcy as mx
from mxcy import autograd
from mxcy.graph.storage_types import makes_sparse
from mxcy.ndarray import register
from mxcy.onnx.mx2onnx import registry
from tests.ops.test_records import RECORDS, attrs_of, draw, samples_of, to_array
from tests.symbol.test_operators import bits, symbol_of

#: tested opsets; the last one is the newest of onnx
OPSETS = (12, 13, 17, 18, 21, onnx.defs.onnx_opset_version())
#: element types that ONNX Runtime supports nearly everywhere
KINDS = ("float32", "int32", "int64", "bool")
TOLERANCE = {"float32": 1e-5, "float64": 1e-5, "float16": 4e-3}
#: how many steps quantized numbers may be away: quotients may be halfway between two, and numbers
#: of 32 bits have no more than the 24 of floats
STEPS = {np.dtype("int8"): 1, np.dtype("uint8"): 1, np.dtype("int32"): 512}
#: (record, sample) -> why ONNX Runtime's result differs
EXCEPTIONS = {
    ("_contrib_MultiBoxDetection", 1): "what nms_topk leaves unsorted is sorted in the file",
    ("_contrib_quantize_v2", 9): "nothing has no range",
    ("_contrib_quantized_pooling", 8): "a window of padding alone, where extents are free",
    ("_npi_pad", 2): "it reflects no reflections",
    ("_npi_pad", 3): "it reflects no reflections",
    ("_npi_pad", 5): "it reflects no reflections",
    ("_npi_prod", 5): "its products of integers saturate where extents are free",
    **{
        (name, index): "it does not look for nan"
        for name in ("_npi_argmax", "_npi_argmin", "argmax", "argmin")
        for index in (6, 7)
    },
}


def session(path):
    """A quiet session on one thread."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def cases(pattern="."):
    """(record, index, sample, dtype) of all samples with a converter and a deterministic result."""
    registry.load()
    for name, record in RECORDS:
        if not re.search(pattern, name):
            continue
        if record.onnx is None or record.eager is not None or record.uses_rng and name != "Dropout":
            continue
        for index, sample in enumerate(samples_of(record)):
            attrs = record.schema.intern(name, attrs_of(record, sample))
            if (
                (name, index) in EXCEPTIONS
                or sample.train
                or makes_sparse(record, attrs, len(sample.inputs))
            ):
                continue
            given = sample.dtypes or record.dtypes
            for dtype in [kind for kind in KINDS if kind in given] or given[:1]:
                yield record, index, sample, dtype


class Refused(Exception):
    """ONNX Runtime has no kernel for a type, or ONNX has no counterpart."""


def check(record, index, sample, dtype, opset, dynamic, path):
    """Export one sample, run the file, and compare; raises `Refused` if it cannot run."""
    values = draw(record, sample, dtype)
    if dynamic and opset < 14 and any(v.size == 0 for v in values):
        raise Refused("they: extents of 0 are not told from those that are kept")
    symbol = symbol_of(record, sample, len(values))
    eager = [to_array(v) for v in values]
    states = [int(name[2:]) for name in symbol.list_auxiliary_states()]
    with autograd.predict_mode():
        expected = register.function(record)(*[to_array(v) for v in values], **sample.attrs)
    expected = expected if isinstance(expected, list) else [expected]
    params = {f"in{i}": eager[i] for i in states}
    data = [i for i in range(len(values)) if i not in states]
    try:
        mx.onnx.export_model(
            symbol,
            params,
            [values[i].shape for i in data],
            [values[i].dtype for i in data],
            str(path),
            dynamic=dynamic,
            opset_version=opset,
        )
    except NotImplementedError as error:
        raise Refused(f"we: {error}") from None
    try:
        ran = session(str(path))
    except Exception as error:
        if "NOT_IMPLEMENTED" in str(error) or "Type Error: Type 'tensor" in str(error):
            raise Refused(f"they: {error}") from None
        raise
    taken = {port.name for port in ran.get_inputs()}
    feed = {f"in{i}": values[i] for i in data if f"in{i}" in taken}
    actual = ran.run(None, feed)
    assert len(actual) == len(expected)
    for theirs, ours in zip(actual, expected, strict=True):
        ours = np.asarray(bits(ours))
        assert theirs.dtype == ours.dtype
        assert theirs.shape == ours.shape
        tolerance = TOLERANCE.get(str(ours.dtype), 0)
        if ours.dtype in STEPS and any(v.dtype == np.float32 for v in values):
            away = np.abs(theirs.astype(np.int64) - ours)
            assert (away <= STEPS[ours.dtype]).all()
            continue
        np.testing.assert_allclose(theirs, ours, rtol=tolerance, atol=tolerance)
