"""`mx.storage` and `mx.resource`: memory use of arrays, operators and training."""

import gc

import numpy as np
import pytest

import mxcy as mx
from mxcy import autograd, gluon, nd
from mxcy.base import MXNetError

KEYS = [
    "strategy",
    "page",
    "large",
    "cutoff",
    "limit",
    "live_bytes",
    "pooled_bytes",
    "peak_bytes",
    "hits",
    "misses",
    "flushes",
]


def change(ctx, action):
    """The result of `action`, and its changes of a pool's statistics."""
    gc.collect()
    nd.waitall()
    before = mx.storage.stats(ctx)
    result = action()
    nd.waitall()  # pending operations keep their arrays alive
    after = mx.storage.stats(ctx)
    return result, {name: after[name] - before[name] for name in KEYS[5:]}


def test_keys_and_contexts():
    assert list(mx.storage.stats()) == KEYS
    assert mx.storage.stats("cpu_pinned(3)")["live_bytes"] == 0
    assert mx.storage.round_size(mx.cpu(), 1) == mx.storage.stats(mx.cpu())["page"]
    with pytest.raises(MXNetError, match=r"gpu\(77\) cannot be used"):
        mx.storage.stats(mx.gpu(77))
    with pytest.raises(TypeError, match="int"):
        mx.storage.stats(3)


@pytest.mark.parametrize("ctx", [mx.cpu(), mx.cpu(9), mx.cpu_pinned(1), mx.context.cpu_shared(1)])
def test_live_bytes_are_the_rounded_sizes_of_arrays(ctx):
    def make():
        shapes = [(3,), (1025,), (600, 700), (), (0, 4), (1500, 1500)]
        arrays = [
            nd.empty(shape, ctx=ctx, dtype=t) for shape in shapes for t in ("float32", "int8")
        ]
        arrays += [nd.array(np.zeros((5000,)), ctx=ctx), arrays[4].astype("float16")]
        if ctx.home == ctx:  # results are never in pinned or shared memory
            arrays.append(arrays[2] + 1)
        return arrays, [arrays[4][3:7], arrays[4].reshape((-1,))]  # views take nothing

    (arrays, views), changes = change(ctx, make)
    sizes = [array.size * np.dtype(array.dtype).itemsize for array in arrays]
    expected = sum(mx.storage.round_size(ctx, size) for size in sizes if size)
    assert changes["live_bytes"] == expected
    assert all(array.context == ctx for array in arrays + views)

    _, changes = change(ctx, arrays.clear)
    assert changes["live_bytes"] == mx.storage.round_size(ctx, sizes[4]) - expected  # the views'
    _, changes = change(ctx, views.clear)
    assert changes["live_bytes"] == -mx.storage.round_size(ctx, sizes[4])


def test_memory_lives_as_long_as_numpy_looks_at_it():
    view = nd.array(np.arange(3000)).numpy_view()[10:20]
    others = [nd.zeros((3000,)) for _ in range(3)]
    np.testing.assert_array_equal(view, np.arange(10, 20))
    del others


@pytest.mark.parametrize("ctx", [mx.cpu(5), mx.cpu_pinned(5)])
def test_empty_cache(ctx):
    ctx.empty_cache()  # of what other tests returned to the pool

    def make():
        kept = nd.ones((10,), ctx=ctx)
        nd.ones((1 << 21,), ctx=ctx)
        nd.waitall()
        assert mx.storage.stats(ctx)["pooled_bytes"] == 8 << 20
        ctx.empty_cache()
        return kept

    kept, changes = change(ctx, make)
    assert mx.storage.stats(ctx)["pooled_bytes"] == 0
    assert (changes["live_bytes"], changes["flushes"]) == (4096, 1)
    assert kept.sum().asscalar() == 10
    mx.cpu(4711).empty_cache()  # nothing was ever there


def test_a_device_remembers_its_peak():
    ctx = mx.cpu(6)
    arrays = [nd.empty((1 << 20,), ctx=ctx, dtype="int8") for _ in range(5)]
    del arrays
    nd.empty((100,), ctx=ctx)
    stats = mx.storage.stats(ctx)
    assert (stats["peak_bytes"], stats["live_bytes"]) == (5 << 20, 0)


def test_training_with_fixed_shapes_takes_its_memory_from_the_pool():
    net = gluon.nn.Sequential()
    net.add(gluon.nn.Conv2D(8, 3, activation="relu"), gluon.nn.MaxPool2D(2), gluon.nn.Dense(10))
    net.initialize()
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1, "momentum": 0.9})
    loss = gluon.loss.SoftmaxCrossEntropyLoss()
    data, label = nd.ones((16, 3, 20, 20)), nd.zeros((16,))

    def step():
        with autograd.record():
            out = loss(net(data), label)
        out.backward()
        trainer.step(16)
        out.wait_to_read()

    for _ in range(3):
        step()
    _, changes = change(mx.cpu(), lambda: [step() for _ in range(5)])
    assert changes["hits"] >= 0.95 * (changes["hits"] + changes["misses"])
    assert changes["hits"] > 50 and changes["peak_bytes"] == 0


def test_operators_borrow_their_workspace():
    ctx = mx.cpu(8)
    data = nd.array(np.random.RandomState(0).rand(2, 16, 30, 30), ctx=ctx)
    weight = nd.array(np.random.RandomState(1).rand(8, 16, 5, 5), ctx=ctx)

    def run():
        with autograd.record():
            weight.attach_grad()
            out = nd.Convolution(data, weight, kernel=(5, 5), num_filter=8, no_bias=True)
        out.backward()
        return weight.grad.asnumpy()

    want = run()
    stats = mx.resource.stats(ctx)
    assert stats["temp"] >= stats["temp_used"] == 1 and stats["temp_bytes"] > 0
    for _ in range(3):
        np.testing.assert_array_equal(run(), want)
    assert mx.resource.stats(ctx) == stats


CHURN = """
import os, resource
import numpy as np
import mxcy as mx
draw = np.random.RandomState(0)
live, rss = [], []
for step in range(6000):
    live.append(mx.nd.ones((int(draw.randint(1, 1 << int(draw.randint(1, 21)))),)))
    if len(live) > 30:
        del live[int(draw.randint(30))]
    if step % 1000 == 999:
        rss.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
print(rss[1], rss[-1])
"""


def test_ever_new_sizes_keep_the_process_small(run_python):
    early, late = map(int, run_python(CHURN).split())
    assert late < early + 125  # of 4 GB in all; the pool alone keeps up to 256 MB
