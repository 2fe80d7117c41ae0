"""CUDA source on the CPU: correct kernels run, faulty ones raise errors that name the fault."""

from pathlib import Path

import numpy as np
import pytest

from tests.gpu.standin.compiler import LaunchError, Module, kernel_names

TEXTS = Path(__file__).parent / "texts"
ORDERS = [("forward", 0), ("backward", 0), ("shuffled", 1), ("shuffled", 2)]


def load(name, *options):
    return Module((TEXTS / f"{name}.cu").read_text(), options)


def softmax_of(x):
    e = np.exp(x - x.max(1, keepdims=True), dtype=np.float64)
    return e / e.sum(1, keepdims=True)


@pytest.mark.parametrize(("order", "seed"), ORDERS)
@pytest.mark.parametrize("threads", [32, 256, 1024])
def test_softmax(order, seed, threads):
    x = np.random.default_rng(1).standard_normal((5, 1003), np.float32) * 5
    y = np.full_like(x, np.nan)
    args = [x, y, np.int32(1003)]
    load("softmax").run("softmax", (5,), (threads,), args, order=order, seed=seed)
    np.testing.assert_allclose(y, softmax_of(x), rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize(("order", "seed"), ORDERS)
def test_matrix_product(order, seed):
    m, n, k = 50, 70, 45
    rng = np.random.default_rng(2)
    a, b, bias = (rng.standard_normal(s, np.float32) for s in ((m, k), (k, n), (n,)))
    c = np.full((m, n), np.nan, np.float32)
    args = [a, b, bias, c, *map(np.int32, (m, n, k))]
    load("gemm").run("gemm_bias_relu", (3, 2), (32, 8), args, order=order, seed=seed)
    np.testing.assert_allclose(c, np.maximum(a @ b + bias, 0), rtol=1e-4, atol=1e-5)


def test_a_forgotten_barrier_shows_in_some_order():
    x = np.random.default_rng(1).standard_normal((4, 1003), np.float32) * 5
    module, results = load("softmax", "-DWITHOUT_SECOND_BARRIER"), set()
    for order, seed in [*ORDERS, *(("shuffled", seed) for seed in range(3, 12))]:
        y = np.full_like(x, np.nan)
        module.run("softmax", (4,), (256,), [x, y, np.int32(1003)], order=order, seed=seed)
        results.add(y.tobytes())
    assert len(results) > 1


def test_shared_memory_of_both_kinds_and_atomics():
    text = """
    extern "C" __global__ void histogram(const int* x, int* bins, int n, int k) {
      extern __shared__ int counts[];
      __shared__ int undefined;
      for (int i = threadIdx.x; i < k; i += blockDim.x) counts[i] = 0;
      __syncthreads();
      for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&counts[x[i]], 1);
      __syncthreads();
      for (int i = threadIdx.x; i < k; i += blockDim.x) atomicAdd(&bins[i], counts[i]);
      if (threadIdx.x == 0 && undefined != -1) __trap();
      __syncthreads();
      undefined = 7;
    }"""
    x = np.random.default_rng(3).integers(0, 10, 5000).astype(np.int32)
    bins = np.zeros(10, np.int32)
    args = [x, bins, np.int32(5000), np.int32(10)]
    Module(text).run("histogram", (3,), (128,), args, shared_bytes=40)
    np.testing.assert_array_equal(bins, np.bincount(x, minlength=10))


def test_votes_and_shuffles():
    text = """
    extern "C" __global__ void lanes(int* out) {
      const unsigned all = 0xffffffffu;
      const int lane = threadIdx.x;
      int* mine = out + lane * 7;
      mine[0] = __shfl_down_sync(all, lane, 4);
      mine[1] = __shfl_up_sync(all, lane, 4, 8);
      mine[2] = __shfl_xor_sync(all, lane, 1);
      mine[3] = __shfl_sync(all, lane, 3, 16);
      mine[4] = __popc(__ballot_sync(all, lane % 3 == 0));
      mine[5] = __syncthreads_count(lane < 5) * 10 + __syncthreads_and(lane >= 0);
      mine[6] = __any_sync(all, lane == 31) * 10 + __all_sync(all, lane < 31);
    }"""
    out = np.zeros((32, 7), np.int32)
    Module(text).run("lanes", (1,), (32,), [out])
    lane = np.arange(32)
    np.testing.assert_array_equal(out[:, 0], np.where(lane < 28, lane + 4, lane))
    np.testing.assert_array_equal(out[:, 1], np.where(lane % 8 < 4, lane, lane - 4))
    np.testing.assert_array_equal(out[:, 2], lane ^ 1)
    np.testing.assert_array_equal(out[:, 3], lane // 16 * 16 + 3)
    assert out[:, 4:].tolist() == [[11, 51, 10]] * 32


BAD = {
    "if (threadIdx.x < 7) __syncthreads(); else {\n __syncthreads(); }": "at the barrier of line",
    "if (threadIdx.x & 1) p[0] = __shfl_sync(0xffffffffu, p[1], 0);": "returned",
    "if (threadIdx.x & 1) p[0] = __shfl_sync(0xffffffffu, p[1], 0); __syncthreads();": "for ever",
    "if (threadIdx.x) p[0] = __shfl_sync(1u, p[1], 0);": "lacks the calling lane",
    "__trap(); __syncwarp();": "__trap",
    "*(float4*)p = *(float4*)(p + 1);": "illegal or misaligned",
    "__syncthreads(); p[1ll << 44] = 0;": "thread 63,0,0: illegal",
}


@pytest.mark.parametrize("body", BAD)
def test_bad_kernels(body):
    module = Module('extern "C" __global__ void bad(float* p) {' + body + "}")
    with pytest.raises(LaunchError, match=BAD[body]):
        module.run("bad", (1,), (64,), [np.zeros(4, np.float32)])


def test_launches_are_checked():
    module, x = load("softmax"), np.zeros(8, np.float32)
    with pytest.raises(LaunchError, match="argument 2 has 8 bytes, not 4"):
        module.run("softmax", (1,), (32,), [x, x, np.int64(8)])
    with pytest.raises(LaunchError, match="takes 3 arguments, got 2"):
        module.run("softmax", (1,), (32,), [x, x])
    with pytest.raises(LaunchError, match="invalid launch configuration"):
        module.run("softmax", (1,), (2048,), [x, x, np.int32(8)])


def test_text_that_does_not_compile():
    with pytest.raises(LaunchError, match=r"kernel\.cu:2.*undeclared|kernel\.cu:2"):
        Module('extern "C" __global__ void f(float* p) {\n p[0] = unknown; }')


def test_names_of_kernels():
    kernel = "__global__ void __launch_bounds__(64) a(int n) {}"
    text = f"// __global__ void no(\n{kernel}\n/* __global__ void no( */"
    assert kernel_names(text) == ["a"]
