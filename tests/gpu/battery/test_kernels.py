"""Every record with a kernel on gpu(0) against the CPU: all samples and dtypes."""

import numpy as np
import pytest

import mxcy as mx
from mxcy._base import dtypes
from mxcy._library import front
from mxcy.gpu.library import prepare as prepare_on_device
from tests.ops.test_records import RECORDS, draw, draws, full_attrs, samples_of, to_array

GPU = mx.gpu(0)
#: fraction bits of a dtype -> tolerance between CUDA's functions and ours, in units in the last
#: place of 1
STEPS = {"float16": 2**-9, "bfloat16": 2**-6, "float32": 2e-5, "float64": 1e-11}


def cases():
    for name, record in RECORDS:
        if record.eager is None and record.kernels:
            yield pytest.param(record, id=name)


def arrays_of(inputs, context):
    return tuple(to_array(values).as_in_context(context) for values in inputs)


def runs_on_device(op, attrs, arrays):
    """Return whether a call has launches; else its test would be void."""
    values = op.schema.intern(op.name, attrs)
    specs = [mx.ndarray.infer.Spec(a.shape, a.dtype_code) for a in arrays]
    call = mx.ndarray.prepare.prepare(op, values, specs, front_library())
    return prepare_on_device(call, 0) is not None


def front_library():
    from mxcy._cy import native

    return native


def values_of(array):
    is_bfloat16 = array.dtype_code == dtypes.BFLOAT16
    return array.astype("float32").asnumpy() if is_bfloat16 else array.asnumpy()


@pytest.mark.timeout(900)  # compiles dozens of sources, perhaps on a busy machine
@pytest.mark.parametrize("record", list(cases()))
@pytest.mark.filterwarnings("ignore")
def test_record(record):
    launched = 0
    for sample in samples_of(record):
        if draws(record, sample):
            continue
        for dtype in sample.dtypes or record.dtypes:
            if dtype in ("complex64", "complex128"):
                continue
            inputs = draw(record, sample, dtype)
            attrs = {k: getattr(full_attrs(record, sample), k) for k in record.schema.names}
            here, there = (arrays_of(inputs, c) for c in (mx.cpu(), GPU))
            if not here:
                continue
            if not runs_on_device(record, attrs, there):
                continue
            launched += 1
            expected, _ = front.execute(record, here, attrs)
            results, _ = front.execute(record, there, attrs)
            for result, wanted in zip(results, expected, strict=True):
                assert result.context == GPU
                compare(values_of(result), values_of(wanted), dtype, sample)
            for i in record.mutated(len(here)):
                compare(values_of(there[i]), values_of(here[i]), dtype, sample)
    if not launched:
        pytest.skip("no launches: runs its reference")


def compare(result, wanted, dtype, sample):
    step = STEPS.get(dtype, 1e-5) * max(sample.tol, 1)
    if wanted.dtype == np.float16:
        step = max(step, STEPS["float16"])
    assert result.dtype == wanted.dtype
    if result.dtype.kind in "iub" and dtype not in STEPS:
        # Functions of integers are computed in float and truncated.
        assert np.abs(result.astype(np.int64) - wanted.astype(np.int64)).max(initial=0) <= 1
        return
    np.testing.assert_allclose(result, wanted, rtol=step, atol=step)
