"""User code: CUDA source, CuPy in custom operators, several GPUs."""

import numpy as np
import pytest

import mxcy as mx
from mxcy import gluon
from mxcy.base import MXNetError

GPU = mx.gpu(0)
AXPY = r"""
extern "C" __global__ void axpy(const float *x, float *y, float alpha) {
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    y[i] += alpha * x[i];
}
"""


def test_the_documented_example():
    module = mx.rtc.CudaModule(AXPY)
    kernel = module.get_kernel("axpy", "const float *x, float *y, float alpha")
    x, y = mx.nd.ones((10,), ctx=GPU), mx.nd.zeros((10,), ctx=GPU)
    kernel.launch([x, y, 3.0], GPU, (1, 1, 1), (10, 1, 1))
    np.testing.assert_array_equal(y.asnumpy(), np.full(10, 3.0, "float32"))
    kernel.launch([x + 1, y, 0.5], GPU, (2, 1, 1), (5, 1, 1))
    np.testing.assert_array_equal(y.asnumpy(), np.full(10, 4.0, "float32"))


def test_instances_of_templates():
    source = """
    template <typename T> __global__ void scale(T *x, T by) { x[threadIdx.x] *= by; }
    """
    module = mx.rtc.CudaModule(source, exports=["scale<double>", "scale<int>"])
    for name, dtype in (("double", "float64"), ("int", "int32")):
        x = mx.nd.arange(4, ctx=GPU, dtype=dtype)
        kernel = module.get_kernel(f"scale<{name}>", f"{name} *x, {name} by")
        kernel.launch([x, 3], GPU, (1, 1, 1), (4, 1, 1))
        np.testing.assert_array_equal(x.asnumpy(), 3 * np.arange(4))


def test_kernels_are_checked():
    with pytest.raises(MXNetError, match="unknown"):
        mx.rtc.CudaModule('extern "C" __global__ void f() { unknown; }')
    module = mx.rtc.CudaModule(AXPY)
    with pytest.raises(MXNetError, match="finding a kernel"):
        module.get_kernel("nothing", "float x")
    with pytest.raises(ValueError, match="invalid parameter"):
        module.get_kernel("axpy", "const float &x")
    with pytest.raises(TypeError, match="bool"):
        module.get_kernel("axpy", "const bool *x, float *y, float alpha")
    kernel = module.get_kernel("axpy", "const float *x, float *y, float alpha")
    x = mx.nd.ones((4,), ctx=GPU)
    one = (1, 1, 1)
    for args, ctx, text in (
        ([x, x], GPU, "expected 3 arguments"),
        ([x, 2.0, 1.0], GPU, "argument 1 must be an NDArray"),
        ([x, x.astype("int32"), 1.0], GPU, "element type float32"),
        ([x, mx.nd.ones((4,)), 1.0], GPU, r"is on cpu\(0\)"),
        ([x, x, 1.0], mx.cpu(), "expected a GPU"),
    ):
        with pytest.raises(MXNetError, match=text):
            kernel.launch(args, ctx, one, one)


def test_cuda_array_interface():
    cupy = pytest.importorskip("cupy")
    array = mx.nd.arange(6, ctx=GPU).reshape((2, 3)) * 2
    view = cupy.asarray(array)
    assert view.data.ptr == array.address
    np.testing.assert_array_equal(view.get(), array.asnumpy())
    assert not hasattr(mx.nd.ones((2,)), "__cuda_array_interface__")


class _Softsign(mx.operator.CustomOp):
    def forward(self, is_train, req, in_data, out_data, aux):
        import cupy

        x, y = cupy.asarray(in_data[0]), cupy.asarray(out_data[0])
        y[...] = x / (1 + cupy.abs(x))

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        import cupy

        g, x, out = (cupy.asarray(a[0]) for a in (out_grad, in_data, in_grad))
        out[...] = g / (1 + cupy.abs(x)) ** 2


@mx.operator.register("softsign_by_cupy")
class _SoftsignProp(mx.operator.CustomOpProp):
    def create_operator(self, ctx, in_shapes, in_dtypes):
        return _Softsign()


def test_a_custom_operator_that_uses_cupy():
    pytest.importorskip("cupy")
    values = np.random.default_rng(0).standard_normal((3, 4)).astype("float32")
    x = mx.nd.array(values, ctx=GPU)
    x.attach_grad()
    with mx.autograd.record():
        y = mx.nd.Custom(x, op_type="softsign_by_cupy") * 2
    y.backward()
    np.testing.assert_allclose(y.asnumpy(), 2 * values / (1 + abs(values)), rtol=1e-5)
    np.testing.assert_allclose(x.grad.asnumpy(), 2 / (1 + abs(values)) ** 2, rtol=1e-5)


@pytest.mark.skipif(mx.num_gpus() < 2, reason="there is one GPU")
@pytest.mark.parametrize("store", ["device", "nccl"])
def test_a_trainer_with_two_gpus(store):
    contexts = [mx.gpu(0), mx.gpu(1)]
    rng = np.random.default_rng(1)
    x, weight = rng.standard_normal((8, 3)).astype("float32"), rng.standard_normal((2, 3))
    results = []
    for devices, kind in ((contexts, store), ([mx.cpu()], "device")):
        net = gluon.nn.Dense(2, in_units=3)
        net.initialize(mx.init.Zero(), ctx=devices)
        net.weight.set_data(mx.nd.array(weight))
        trainer = gluon.Trainer(
            net.collect_params(), "sgd", {"learning_rate": 0.1, "momentum": 0.9}, kvstore=kind
        )
        for _ in range(3):
            with mx.autograd.record():
                parts = gluon.utils.split_and_load(x, devices)
                losses = [(net(part) ** 2).sum() for part in parts]
            mx.autograd.backward(losses)
            trainer.step(8)
        results.append([net.weight.data(ctx).asnumpy() for ctx in devices])
    np.testing.assert_array_equal(*results[0])
    np.testing.assert_allclose(results[0][0], results[1][0], rtol=1e-5, atol=1e-6)


def test_nccl_is_for_gpus():
    store = mx.kv.create("nccl")
    with pytest.raises(mx.MXNetError, match="keeps values on GPUs"):
        store.init(0, mx.nd.ones((2,), ctx=mx.cpu()))
    contexts = [mx.gpu(i % mx.num_gpus()) for i in range(3)]
    store.init(0, mx.nd.zeros((2, 3), ctx=contexts[0]))
    store.push(0, [mx.nd.full((2, 3), i + 1, ctx=ctx) for i, ctx in enumerate(contexts)])
    results = [mx.nd.empty((2, 3), ctx=ctx) for ctx in contexts]
    store.pull(0, results)
    assert all((result.asnumpy() == 6).all() for result in results)


def test_ranges_and_nvidias_profiler(monkeypatch):
    cupy = pytest.importorskip("cupy")
    told = []
    with mx.cuda.nvtx.range("a step"):  # nobody listens
        pass
    for name in ("RangePushC", "RangePop"):
        monkeypatch.setattr(cupy.cuda.nvtx, name, lambda *given: told.append(given))
    for name in ("start", "stop"):
        monkeypatch.setattr(cupy.cuda.profiler, name, lambda name=name: told.append(name))
    mx.cuda.cuda_profiler_start()
    with mx.cuda.nvtx.range("a step", mx.cuda.nvtx.RED):
        pass
    mx.cuda.cuda_profiler_stop()
    assert told == ["start", ("a step", 0xFF000000 + mx.cuda.nvtx.RED), (), "stop"]
