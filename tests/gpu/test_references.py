"""Every record's reference with ``xp=cupy`` against NumPy."""

from importlib.util import find_spec

import numpy as np
import pytest

if find_spec("cupy") is None or find_spec("Cython") is None:
    reason = "CuPy and Cython are not installed; make test-gpu installs them"
    pytest.skip(reason, allow_module_level=True)

from tests.ops.test_records import RECORDS, draw, draws, full_attrs, samples_of  # noqa: E402

#: CuPy's message if it needs machine code of one of NVIDIA's libraries -> the library
LIBRARIES = {
    "cusolver": "cuSOLVER",
    "nvjitlink": "cuSOLVER",
    "radix_sort": "Thrust",
    "cufft": "cuFFT",
    "curand": "cuRAND",
    "cusparse": "cuSPARSE",
    "thrust": "Thrust",
    "cub": "CUB",
    "cublas": "a function of cuBLAS that the stand-in lacks",
    "cudaErrorInsufficientDriver": "a function of CUDA's runtime that the stand-in lacks",
}


#: CuPy's message for a reference that it cannot run -> reason
UNFIT = {
    "Implicit conversion to a NumPy array": "it passes device arrays to NumPy",
    "Unsupported type <class 'list'>": "it builds an array from a list of device scalars",
    "Unsupported type <class 'numpy.ndarray'>": "it mixes host and device arrays",
    "module 'cupy' has no attribute": "a function of NumPy that CuPy lacks",
    "NotImplementedError": "xp.vectorize of a function of math",
}


def first_samples():
    """Yield the first sample of each deterministic record with a reference."""
    for name, record in RECORDS:
        samples = samples_of(record)
        if record.eager is None and record.ref is not None and samples:
            if not draws(record, samples[0]):
                yield pytest.param(record, samples[0], id=name)


def results(record, sample, xp, inputs):
    inputs, attrs = [xp.asarray(values) for values in inputs], full_attrs(record, sample)
    with np.errstate(all="ignore"):
        outputs = (
            record.ref(attrs, xp, inputs) if record.variadic else record.ref(attrs, xp, *inputs)
        )
    return list(outputs) if isinstance(outputs, (tuple, list)) else [outputs]


def explanation(error, reasons):
    """Look up an exception, or one of its causes, in a table of messages."""
    while error is not None:
        text = f"{type(error).__name__} {type(error).__module__} {error}".lower()
        for word, reason in reasons.items():
            if word.lower() in text:
                return reason
        error = error.__cause__ or error.__context__
    return None


@pytest.mark.timeout(300)  # CuPy compiles each new function
@pytest.mark.parametrize(("record", "sample"), list(first_samples()))
@pytest.mark.filterwarnings("ignore")
def test_reference(cupy, record, sample):
    dtypes = sample.dtypes or record.dtypes
    dtype = "float32" if "float32" in dtypes else dtypes[0]
    if dtype == "bfloat16":
        pytest.skip("CuPy has no bfloat16")
    inputs = draw(record, sample, dtype)
    expected = results(record, sample, np, inputs)
    try:
        outputs = results(record, sample, cupy, inputs)
        arrays = [None if output is None else output.get() for output in outputs]
    except Exception as error:
        if library := explanation(error, LIBRARIES):
            pytest.skip(f"needs {library}")
        if reason := explanation(error, UNFIT):
            pytest.xfail(reason)
        raise
    assert len(arrays) == len(expected)
    for array, values in zip(arrays, expected, strict=True):
        if values is not None:
            assert array.shape == np.shape(values)
            np.testing.assert_allclose(array, values, rtol=2e-4, atol=2e-5)
