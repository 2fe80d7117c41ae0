"""Operations per second of products and convolutions, compared with cuBLAS and cuDNN."""

import numpy as np

import mxcy as mx
from mxcy import autograd
from tests.gpu.hardware.contenders import device_wait, on_cupy, torch
from tests.gpu.hardware.notes import begun
from tests.gpu.hardware.timing import Contest

GPU = mx.gpu(0)
#: batch, channels, height, filters, kernel, stride, groups
CONVOLUTIONS = (
    (32, 64, 56, 64, 3, 1, 1),
    (32, 256, 56, 64, 1, 1, 1),
    (32, 512, 7, 512, 3, 1, 1),
    (32, 3, 224, 64, 7, 2, 1),
    (32, 96, 56, 96, 3, 1, 96),
)


def told(notes, table, what, operations, contest):
    """Note the rates of a contest, and ours relative to the best."""
    rates = {who: operations / seconds / 1e12 for who, seconds in contest.times().items()}
    ours = rates.pop("ours")
    best = max(rates.values(), default=ours)
    notes.row(table, what=what, TFLOP_s=ours, **rates, of_best=ours / best)


def gemm(notes, n, dtype):
    """C = A B of square matrices; some rows are checked in float64."""
    rng = np.random.default_rng(n)
    a, b = (mx.nd.array(rng.standard_normal((n, n)), ctx=GPU, dtype=dtype) for _ in range(2))
    c = mx.nd.dot(a, b).asnumpy()[:4].astype("float64")
    wanted = a[:4].asnumpy().astype("float64") @ b.asnumpy().astype("float64")
    error = np.linalg.norm(c - wanted) / np.linalg.norm(wanted)
    limit = {"float16": 2e-3, "float32": 1e-5, "float64": 1e-13}[dtype]
    if not error <= limit:
        notes.wrong(f"product of {n} x {n} {dtype}: relative error {error:.2g} > {limit}")
    contest = Contest(notes.is_small)
    contest.enter("ours", lambda: mx.nd.dot(a, b), mx.nd.waitall)
    x, y = on_cupy(a), on_cupy(b)
    contest.enter("cuBLAS", lambda: x @ y, device_wait)
    told(notes, "products of matrices", f"{n} {dtype}", 2 * n**3, contest)


def convolution(notes, batch, channels, height, filters, kernel, stride, groups):
    """A convolution and both gradients."""
    pad, out = kernel // 2, -(-height // stride)
    operations = 2 * batch * filters * out * out * channels // groups * kernel * kernel
    x = mx.nd.random.normal(shape=(batch, channels, height, height), ctx=mx.cpu())
    w = mx.nd.random.normal(shape=(filters, channels // groups, kernel, kernel), ctx=mx.cpu())
    x, w = x.as_in_context(GPU), w.as_in_context(GPU)
    settings = {
        "kernel": (kernel,) * 2,
        "stride": (stride,) * 2,
        "pad": (pad,) * 2,
        "num_filter": filters,
        "num_group": groups,
        "no_bias": True,
    }
    y = mx.nd.Convolution(x, w, **settings)
    g = mx.nd.ones_like(y)
    x.attach_grad()
    w.attach_grad()

    def both_ways():
        with autograd.record():
            z = mx.nd.Convolution(x, w, **settings)
        z.backward(g)

    forward, backward = Contest(notes.is_small), Contest(notes.is_small)
    forward.enter("ours", lambda: mx.nd.Convolution(x, w, **settings), mx.nd.waitall)
    backward.enter("ours", both_ways, mx.nd.waitall)
    if torch():
        module = torch()
        p, q = (module.as_tensor(on_cupy(v), device="cuda").requires_grad_() for v in (x, w))
        conv = module.nn.functional.conv2d

        def theirs():
            p.grad = q.grad = None
            r = conv(p, q, stride=stride, padding=pad, groups=groups)
            r.backward(module.ones_like(r))

        for name, allowed in (("cuDNN", False), ("cuDNN, TF32", True)):

            def forwards(allowed=allowed):
                module.backends.cudnn.allow_tf32 = allowed
                with module.no_grad():
                    conv(p, q, stride=stride, padding=pad, groups=groups)

            def backwards(allowed=allowed):
                module.backends.cudnn.allow_tf32 = allowed
                theirs()

            forward.enter(name, forwards, module.cuda.synchronize)
            backward.enter(name, backwards, module.cuda.synchronize)
    what = f"{batch}x{channels}x{height}x{height}, {filters} of {kernel}x{kernel}/{stride}"
    what += f", {groups} groups" if groups > 1 else ""
    told(notes, "convolutions, float32", what, operations, forward)
    told(notes, "convolutions and gradients, float32", what, 3 * operations, backward)


def main(notes):
    """Note rates of several sizes."""
    for n in (8,) if notes.is_small else (1024, 4096):
        for dtype in ("float32", "float16", "float64"):
            notes.tried(f"product {n} {dtype}", gemm, notes, n, dtype)
    for shape in ((2, 2, 5, 2, 3, 1, 1),) if notes.is_small else CONVOLUTIONS:
        notes.tried(f"convolution {shape}", convolution, notes, *shape)


if __name__ == "__main__":
    from tests.gpu.standin.seam import put_under_cupy

    put_under_cupy()
    main(begun())
