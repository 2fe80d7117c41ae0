"""Environment variables of memory, random numbers and fusion on CUDA devices, in own processes."""

import sys

import pytest

from tests.env.run import python
from tests.gpu.device.test_graphs import ROOT
from tests.gpu.standin.build import build_driver
from tests.gpu.standin.seam import is_chosen

pytestmark = pytest.mark.skipif(not is_chosen(), reason="it asks the stand-in what it was given")

MIB, MEMORY = 1 << 20, 1 << 30
START = f"""
import json, sys
sys.path[:0] = {[ROOT, *filter(None, sys.path)]!r}
from tests.gpu.standin.seam import put_under_cupy
put_under_cupy()
import mxcy as mx
from tests.gpu.device.test_launches import counts
gpu, pinned = contexts = mx.gpu(0), mx.cpu_pinned(0)
def each(function):
    print(json.dumps([function(ctx) for ctx in contexts]))
def rounded(*sizes):
    each(lambda ctx: [mx.storage.round_size(ctx, n) for n in sizes])
"""


def run(code, gpu=None, pinned=None, **variables):
    """Run a program; `gpu` and `pinned` are the ends of names and values of pools' variables."""
    for family, settings in (("GPU", gpu), ("CPU_PINNED", pinned)):
        for name, value in (settings or {}).items():
            variables[f"MXNET_{family}_{name}"] = value
    variables |= {"MXCY_CUDA_DRIVER": str(build_driver()), "MXCY_STANDIN_MEMORY": str(MEMORY)}
    return python(START + code, **variables)


REUSE = """
def reuse(ctx):
    before = counts().taken
    array = mx.nd.empty((1000,), ctx=ctx)
    first = array.address
    del array
    again = mx.nd.empty((1001,), ctx=ctx)
    now = mx.storage.stats(ctx)
    taken = counts().taken - before if ctx == gpu else now["misses"]
    return [now["strategy"], first == again.address, taken, now["hits"]]
each(reuse)
"""


def test_pool_type():
    naive, other = ["Naive", True, 1, 1], ["Round", True, 1, 1]
    assert run(REUSE, None, {"MEM_POOL_TYPE": "Round"}).value == [naive, other]
    device, host = run(REUSE, {"MEM_POOL_TYPE": "Unpooled"}).value
    assert [device[0], *device[2:]] == ["Unpooled", 2, 0]  # the driver was asked twice
    assert host == naive


def test_rounding():
    """Of small sizes to pages, of large ones to `LARGE_ALLOC_ROUND_SIZE`."""
    code = f"rounded(1, 4097, {MIB} + 1, 3 * {MIB} + 1)"
    page, large = "MEM_POOL_PAGE_SIZE", "MEM_LARGE_ALLOC_ROUND_SIZE"
    assert run(code, {page: "8192"}, {large: str(MIB)}).value == [
        [8192, 8192, MIB + 8192, 4 * MIB],
        [4096, 8192, 2 * MIB, 4 * MIB],
    ]
    assert run(code, {large: str(MIB)}, {page: "64"}).value == [
        [4096, 8192, 2 * MIB, 4 * MIB],
        [64, 4160, MIB + 64, 4 * MIB],
    ]


def test_round_linear_cutoff():
    name, code = "MEM_POOL_ROUND_LINEAR_CUTOFF", f"rounded(5 * {MIB}, 40 * {MIB})"
    both = {"MEM_POOL_TYPE": "Round"}  # a power of two, or a multiple of one from the cutoff on
    low, high = [5 * MIB, 40 * MIB], [8 * MIB, 40 * MIB]
    assert run(code, {**both, name: "20"}, {**both, name: "22"}).value == [low, high]
    assert run(code, both, {**both, name: "20"}).value == [[8 * MIB, 48 * MIB], low]


def test_reserve():
    """With all memory reserved, each miss returns what the pool kept to the driver."""
    code = """
def use(ctx):
    total = mx.context.gpu_memory_info(0)[1] if ctx == gpu else mx.storage.memory_info()[1]
    for n in (10, 10, 2000, 10, 3000):
        mx.nd.empty((n,), ctx=ctx)
    now = mx.storage.stats(ctx)
    return [now["flushes"], now["misses"], now["limit"] / total]
each(use)
"""
    plain, everything, name = [0, 3, pytest.approx(0.05)], [4, 4, 1], "MEM_POOL_RESERVE"
    assert run(code, {name: "100"}).value == [everything, plain]
    assert run(code, None, {name: "100"}).value == [plain, everything]


def test_temp_copy():
    code = """
pool, most = mx.storage.pool_of(gpu), mx.resource.stats(gpu)["temp"]
held = [pool.take_temp(1000) for _ in range(most)]
print(json.dumps([most, mx.resource.stats(gpu)["temp_bytes"], counts().taken]))
"""
    assert run(code).value == [1, 4096, 1]
    assert run(code, MXNET_GPU_TEMP_COPY="3").value == [3, 3 * 4096, 3]


DRAWS = """
def drawn(function, seed):
    mx.random.seed(seed, ctx=gpu)
    return [function().asnumpy().tolist() for _ in range(7)]
def uniform():
    return mx.nd.random.uniform(shape=(9,), ctx=gpu)
def dropout():
    return mx.nd.Dropout(mx.nd.ones((99,), ctx=gpu), p=0.5, mode="always")
def both():
    dropout()
    return uniform()
stats = mx.resource.stats(gpu)
draws = [drawn(function, 5) for function in (uniform, dropout, both)]
assert draws == [drawn(function, 5) for function in (uniform, dropout, both)]
print(json.dumps([stats["random"], stats["dropout"], draws]))
"""


def test_random_copies():
    def program(**variables):
        random, dropout, draws = run(DRAWS, **variables).value
        return (random, dropout), draws

    copies, (uniform, dropped, both) = program()
    assert copies == (4, 4)
    assert both == uniform  # Dropout has streams of its own
    assert all(draws.count(draw) == 1 for draws in (uniform, dropped) for draw in draws)
    copies, (of_two, dropped_by_one, _) = program(
        MXNET_GPU_PARALLEL_RAND_COPY="2", MXNET_GPU_CUDNN_DROPOUT_STATE_COPY="1"
    )
    assert copies == (2, 1)
    # Sets are used in turn, from the same one on, and a set is the same among two or four.
    assert of_two[:2] == uniform[:2]
    assert of_two[2] not in uniform[:4]
    assert dropped_by_one[0] == dropped[0]
    assert dropped_by_one[1] not in dropped[:4]


FUSED = """
net = mx.gluon.nn.HybridLambda(lambda F, a: F.tanh(F.sigmoid(a * 2 + 1) * a))
net.hybridize()
array = mx.nd.ones((4, 6), ctx=gpu)
net(array).wait_to_read()
before = counts().launches
net(array).wait_to_read()
print(json.dumps(counts().launches - before))
"""


def test_fusion(tmp_path):
    fused = run(FUSED, MXNET_HOME=str(tmp_path), MXNET_FUSION_VERBOSE="1")
    assert fused.value == 1
    source = next(text for text in fused.err.split("mxcy compiles for") if "k_sigmoid" in text)
    assert "k_tanh" in source.partition("__global__")[2]  # one program
    alone = run(FUSED, MXNET_HOME=str(tmp_path), MXNET_USE_FUSION="0")
    assert alone.value > 2
    assert "mxcy compiles for" not in alone.err
