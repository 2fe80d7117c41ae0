"""Bandwidth of memory-bound kernels relative to a device copy."""

import numpy as np

import mxcy as mx
from tests.gpu.hardware.contenders import device_wait, on_cupy
from tests.gpu.hardware.notes import begun
from tests.gpu.hardware.timing import Contest

GPU = mx.gpu(0)


def fused(x):
    """A hybridized chain of pointwise operators on `x`."""
    net = mx.gluon.nn.HybridLambda(lambda F, a: F.tanh(F.sigmoid(a * 2 + 1) * a))
    net.hybridize(static_alloc=True)
    return lambda: net(x)


def works(rows, columns):
    """Yield (name, bytes moved, our call, CuPy's call or None) for a float32 matrix."""
    rng = np.random.default_rng(0)
    x = mx.nd.array(rng.standard_normal((rows, columns)), ctx=GPU)
    y, half = mx.nd.zeros_like(x), x.astype("float16")
    gamma = mx.nd.ones((columns,), ctx=GPU)
    size, (a, b) = 4 * rows * columns, (on_cupy(x), on_cupy(y))
    nd = mx.nd
    yield "copy", 2 * size, lambda: nd.identity(x, out=y), lambda: b.__setitem__(..., a)
    yield "add", 3 * size, lambda: nd.broadcast_add(x, x, out=y), None
    yield "exp", 2 * size, lambda: nd.exp(x, out=y), None
    yield "exp of float16", size, lambda: nd.exp(half), None
    yield "fused chain", 2 * size, fused(x), None
    yield "cast to float16", 1.5 * size, lambda: nd.cast(x, dtype="float16"), None
    yield "transpose", 2 * size, lambda: nd.transpose(x), lambda: a.T.copy()
    yield "sum of rows", size, lambda: nd.sum(x, axis=1), lambda: a.sum(1)
    yield "sum of columns", size, lambda: nd.sum(x, axis=0), lambda: a.sum(0)
    yield "sum", size, lambda: nd.sum(x), lambda: a.sum()
    yield "softmax", 2 * size, lambda: nd.softmax(x), None
    yield "LayerNorm", 2 * size, lambda: nd.LayerNorm(x, gamma, gamma), None


def copies(notes, size):
    """Copies between the host and the device."""
    values = np.ones(size // 4, "float32")
    pinned, there = mx.nd.array(values, ctx=mx.cpu_pinned(0)), mx.nd.array(values, ctx=GPU)
    here = mx.nd.array(values)
    contest = Contest(notes.is_small)
    contest.enter("host to device", lambda: here.copyto(there), mx.nd.waitall)
    contest.enter("pinned to device", lambda: pinned.copyto(there), mx.nd.waitall)
    contest.enter("device to host", lambda: there.copyto(here), mx.nd.waitall)
    contest.enter("device to pinned", lambda: there.copyto(pinned), mx.nd.waitall)
    for name, seconds in contest.times().items():
        notes.row("copies", what=name, megabytes=size / 1e6, gigabytes_s=size / seconds / 1e9)


def kernels(notes, rows, columns):
    """Measure all kernels at a size."""
    best = None
    for name, moved, ours, theirs in works(rows, columns):
        if notes.left <= 0:
            notes.row("left out", what=name, why="no time")
            continue
        contest = Contest(notes.is_small)
        contest.enter("ours", ours, mx.nd.waitall)
        if theirs:
            contest.enter("CuPy", theirs, device_wait)
        times = contest.times()
        rates = {who: moved / seconds / 1e9 for who, seconds in times.items()}
        best = best or max(rates.values())  # the first is the copy
        notes.row(
            f"{rows} x {columns} float32",
            what=name,
            gigabytes_s=rates["ours"],
            CuPy=rates.get("CuPy", ""),
            of_copy=rates["ours"] / best,
        )


def main(notes):
    """Note rates at several sizes."""
    sizes = [(4, 32)] if notes.is_small else [(4096, 4096), (32768, 1024), (256, 1024)]
    for rows, columns in sizes:
        notes.tried(f"{rows} x {columns}", kernels, notes, rows, columns)
    notes.tried("copies", copies, notes, 4096 if notes.is_small else 1 << 28)


if __name__ == "__main__":
    from tests.gpu.standin.seam import put_under_cupy

    put_under_cupy()
    main(begun())
