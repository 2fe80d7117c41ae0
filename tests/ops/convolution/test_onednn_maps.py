"""Convolution, its two gradients, and deconvolution, by oneDNN on plain arrays."""

import numpy as np
import pytest

from mxcy._library import onednn
from mxcy.ops.core.infer import Spec
from mxcy.ops.core.record import REGISTRY
from tests.ops.convolution.test_conv import PROBLEMS, prepared
from tests.ops.kernel_call import query_kernel, run_kernel

if onednn.version() is None:
    pytest.skip("oneDNN is not installed", allow_module_level=True)

SHARED = ("kernel", "stride", "dilate", "pad", "num_filter", "num_group")
DECONVOLUTIONS = [sample for sample in REGISTRY["Deconvolution"].samples]


def check(operator, attrs, ins, like):
    """Run oneDNN's kernel of an operator, whether or not it is the best one."""
    record = REGISTRY[operator]
    kernel = next(k for k in record.kernels if "onednn" in k.name)
    wide = [x.astype(np.float64) for x in ins]
    expected = record.ref(attrs, np, *wide)
    out = np.full(like, np.nan, np.float32)
    specs = [Spec(x.shape, 0) for x in ins], [Spec(out.shape, 0)]
    params = kernel.struct.pack(**kernel.params(attrs, *specs))
    for threads in (1, 2):
        workspace = query_kernel(kernel.name, ins, [out], params, "workspace")
        run_kernel(kernel.name, ins, [out], params, threads=threads, workspace=workspace)
        scale = max(1, np.abs(expected).max())
        np.testing.assert_allclose(out, expected, rtol=0, atol=1e-5 * scale)
        out[:] = np.nan


@pytest.mark.parametrize("problem", PROBLEMS)
def test_maps(problem):
    a, data, weight, bias, grad = prepared(problem, "float32")
    shared = {name: getattr(a, name) for name in SHARED}
    for operator, ins, like, more in (
        ("Convolution", (data, weight, bias), grad, {"no_bias": False}),
        ("Convolution", (data, weight), grad, {"no_bias": True}),
        ("_conv_data", (grad, weight), data, {"spatial": data.shape[2:]}),
        ("_conv_weight", (data, grad), weight, {}),
    ):
        attrs = REGISTRY[operator].schema.intern(operator, {**shared, **more})
        check(operator, attrs, ins, like.shape)


@pytest.mark.parametrize("number", range(len(DECONVOLUTIONS)))
def test_deconvolution(number):
    sample, rng = DECONVOLUTIONS[number], np.random.default_rng(number)
    record = REGISTRY["Deconvolution"]
    attrs = record.schema.intern("Deconvolution", sample.attrs)
    ins = [rng.uniform(-1, 1, shape).astype(np.float32) for shape in sample.inputs]
    (out,) = record.infer(attrs, [Spec(x.shape, 0) for x in ins])
    check("Deconvolution", attrs, ins, out.shape)


@pytest.mark.parametrize(
    "kernel, shape, filters",
    (("conv_onednn_plain", (2, 16, 9, 9), 8), ("conv_im2col", (2, 16, 9, 9), 8)),
)
def test_chosen_where_faster(run_python, kernel, shape, filters):
    size = (3, 3) if "onednn" in kernel else (1, 1)
    code = f"""
import mxcy as mx
x = mx.nd.ones({shape})
mx.nd.Convolution(x, mx.nd.ones(({filters}, {shape[1]}, *{size})), kernel={size},
                  num_filter={filters}, no_bias=True)
"""
    assert f"-> {kernel}" in run_python(code, MXCY_VERBOSE="dispatch", MXNET_ONEDNN_ENABLED="1")
