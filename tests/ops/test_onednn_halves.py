"""16-bit floats by oneDNN: close to the exact result, or rejected with a reason."""

import numpy as np
import pytest

import mxcy as mx
from mxcy._library import front, onednn
from mxcy.base import MXNetError
from mxcy.ops.core.record import find

if onednn.version() is None:
    pytest.skip("oneDNN is not installed", allow_module_level=True)

CONV = {"kernel": (3, 3), "num_filter": 16, "pad": (1, 1)}
#: operator, shapes, attributes, oneDNN's kernel
CALLS = {
    "dot": ("dot", [(40, 33), (33, 48)], {}, "gemm_onednn"),
    "dot transposed": (
        "dot",
        [(33, 40), (48, 33)],
        {"transpose_a": True, "transpose_b": True},
        "gemm_onednn",
    ),
    "batch_dot": ("batch_dot", [(3, 20, 32), (3, 32, 24)], {}, "gemm_onednn"),
    "dense": ("FullyConnected", [(32, 48), (20, 48), (20,)], {"num_hidden": 20}, "fc_onednn_plain"),
    "convolution": (
        "Convolution",
        [(2, 16, 9, 8), (16, 16, 3, 3), (16,)],
        CONV,
        "conv_onednn_plain",
    ),
    "pixels": (
        "Convolution",
        [(2, 16, 9, 8), (16, 16, 1, 1)],
        {"kernel": (1, 1), "num_filter": 16, "no_bias": True},
        "conv_onednn_plain",
    ),
    "groups": (
        "Convolution",
        [(2, 32, 9, 8), (16, 16, 3, 3)],
        {**CONV, "num_group": 2, "no_bias": True},
        "conv_onednn_plain",
    ),
    "deconvolution": (
        "Deconvolution",
        [(2, 16, 5, 6), (16, 16, 4, 4)],
        {"kernel": (4, 4), "num_filter": 16, "stride": (2, 2)},
        "conv_onednn_data",
    ),
    "by data": (
        "_conv_data",
        [(2, 16, 9, 8), (16, 16, 3, 3)],
        {**CONV, "spatial": (9, 8)},
        "conv_onednn_data",
    ),
    "by weight": ("_conv_weight", [(2, 16, 9, 8), (2, 16, 9, 8)], CONV, "conv_onednn_weight"),
}
UNITS = {"float16": 2.0**-11, "bfloat16": 2.0**-8}


def arrays(shapes, dtype):
    """Arrays of a type, and the same numbers in float64."""
    rng = np.random.default_rng(4)
    actual = [mx.nd.array(rng.uniform(-1, 1, s).astype("float32")).astype(dtype) for s in shapes]
    return actual, [x.astype("float32").asnumpy().astype("float64") for x in actual]


def in_hardware(dtype):
    """Whether the CPU has products of a type, according to the system."""
    with open("/proc/cpuinfo") as file:
        flags = next((line for line in file if line.startswith("flags")), "").split()
    wanted = {"bfloat16": {"amx_bf16", "avx512_bf16"}, "float16": {"amx_fp16"}}[dtype]
    return bool(wanted & set(flags))


@pytest.mark.parametrize("dtype", UNITS)
@pytest.mark.parametrize("call", CALLS)
def test_sums_are_exact_but_for_one_rounding(call, dtype):
    name, shapes, attrs, kernel = CALLS[call]
    record = find(name)
    ins, wide = arrays(shapes, dtype)
    try:
        outs, ran = front.execute(record, tuple(ins), dict(attrs), kernel=kernel)
    except MXNetError as refused:
        assert f"no {dtype} products" in str(refused) or "refused: oneDNN" in str(refused)
        assert not in_hardware(dtype)
        return
    assert ran == kernel
    want = record.ref(record.schema.intern(name, dict(attrs)), np, *wide)
    scale = np.abs(want).max()
    actual = outs[0].astype("float32").asnumpy()
    np.testing.assert_allclose(actual / scale, want / scale, atol=UNITS[dtype])


@pytest.mark.skipif(not in_hardware("bfloat16"), reason="the CPU has no products of bfloat16")
def test_taken_where_the_cpu_multiplies_them(run_python):
    code = """
import mxcy as mx
x = mx.nd.ones((64, 64)).astype("bfloat16")
mx.nd.dot(x, x)
mx.nd.FullyConnected(x, x, num_hidden=64, no_bias=True)
mx.nd.FullyConnected(x[:2], x, num_hidden=64, no_bias=True)
"""
    said = run_python(code, MXCY_VERBOSE="dispatch", MXNET_ONEDNN_ENABLED="1")
    assert "-> gemm_onednn" in said and "-> fc_onednn_plain" in said
    assert "few rows do not pay for weights in another order" in said


def test_refusals_name_the_reason(run_python):
    code = """
import mxcy as mx
x = mx.nd.ones((64, 64)).astype("bfloat16")
print(mx.nd.dot(x, x).astype("float32").asnumpy()[0, 0])
"""
    said = run_python(
        code, MXCY_VERBOSE="dispatch", MXNET_ONEDNN_ENABLED="1", ONEDNN_MAX_CPU_ISA="AVX512_CORE"
    )
    assert "64.0" in said and "-> gemm gemm_onednn refused: " in said
    assert "no bfloat16 products" in said or "refused: oneDNN" in said
