"""Operators on images by our kernels against the CPU."""

import numpy as np
import pytest

import mxcy as mx
from tests.gpu.device.test_launches import work_of
from tests.gpu.standin.seam import is_chosen

GPU = mx.gpu(0)


def drawn(shape, dtype):
    rng = np.random.default_rng(0)
    if dtype in ("uint8", "int32"):
        return rng.integers(0, 256, shape).astype(dtype)
    return rng.uniform(0, 255, shape).astype(dtype)


def check(function, values, tolerance=0.0, count=1):
    """Compare results on both devices; count the launches on the GPU."""
    host, device = (mx.nd.array(values, ctx=c, dtype=values.dtype) for c in (mx.cpu(), GPU))
    expected, result = function(host), function(device)
    assert result.context == GPU
    assert result.dtype == expected.dtype
    result, expected = (a.asnumpy().astype("float64") for a in (result, expected))
    np.testing.assert_allclose(result, expected, rtol=tolerance, atol=tolerance)
    if is_chosen():
        assert work_of(function, device) == (count, 0)


@pytest.mark.parametrize("dtype", ["uint8", "int32", "float32", "float16", "float64", "int64"])
@pytest.mark.parametrize("shape", [(5, 7, 3), (2, 4, 9, 1), (30, 2, 4)])
def test_to_tensor(shape, dtype):
    check(mx.nd.image.to_tensor, drawn(shape, dtype), 1e-7)


@pytest.mark.parametrize("dtype", ["uint8", "float32", "float64"])
@pytest.mark.parametrize("interp", [0, 1])
@pytest.mark.parametrize("size", [(4, 9), 3, (14, 10), (5, 3), (7, 5), 1])
def test_resize(size, interp, dtype):
    for shape in ((5, 7, 3), (2, 6, 10, 1)):
        values, tolerance = drawn(shape, dtype), {"uint8": 0, "float32": 1e-4, "float64": 1e-9}
        check(lambda a: mx.nd.image.resize(a, size=size, interp=interp), values, tolerance[dtype])


@pytest.mark.parametrize("keep_ratio", [False, True])
def test_resize_of_the_shorter_side(keep_ratio):
    values = drawn((6, 9, 3), "float32")
    check(lambda a: mx.nd.image.resize(a, size=4, keep_ratio=keep_ratio), values, 1e-4)


OTHERS = {
    "normalize": (lambda a: mx.nd.image.normalize(a, mean=(1, 2, 3), std=(4, 5, 6)), (3, 4, 5)),
    "normalize a batch": (lambda a: mx.nd.image.normalize(a, mean=2, std=3), (2, 1, 4, 5)),
    "crop": (lambda a: mx.nd.image.crop(a, 1, 2, 3, 2), (5, 6, 3)),
    "crop a batch": (lambda a: mx.nd.image.crop(a, 0, 1, 3, 2), (2, 5, 6, 3)),
    "flip_left_right": (mx.nd.image.flip_left_right, (5, 6, 3)),
    "flip_top_bottom": (mx.nd.image.flip_top_bottom, (5, 6, 3)),
}


@pytest.mark.parametrize("name", OTHERS)
def test_others(name):
    function, shape = OTHERS[name]
    check(function, drawn(shape, "float32"), 1e-5)


@pytest.mark.parametrize("name", ["to_tensor", *OTHERS])
def test_gradients(name):
    function, shape = {"to_tensor": (mx.nd.image.to_tensor, (5, 7, 3)), **OTHERS}[name]
    kept = []
    for ctx in (mx.cpu(), GPU):
        array = mx.nd.array(drawn(shape, "float32"), ctx=ctx)
        array.attach_grad()
        for _ in range(2):
            with mx.autograd.record():
                out = function(array)
            head = mx.nd.array(drawn(out.shape, "float32"), ctx=ctx)
            if is_chosen():
                assert work_of(out.backward, head)[1] == 0
            else:
                out.backward(head)
        kept.append(array.grad.asnumpy())
    np.testing.assert_allclose(kept[1], kept[0], rtol=1e-6)


@pytest.mark.parametrize("axis, name", [(1, "left_right"), (0, "top_bottom")])
def test_random_flips(axis, name):
    values = drawn((4, 5, 3), "uint8")
    array = mx.nd.array(values, ctx=GPU, dtype="uint8")
    function = getattr(mx.nd.image, f"random_flip_{name}")

    def flips(p):
        """Return which of 40 calls flip; they do it as a whole or not at all."""
        mx.random.seed(1)
        results = [function(array, p=p).asnumpy() for _ in range(40)]
        for result in results:
            assert any(np.array_equal(result, v) for v in (values, np.flip(values, axis)))
        return [not np.array_equal(result, values) for result in results]

    assert not any(flips(0))
    assert all(flips(1))
    assert 8 < sum(flips(0.5)) < 32
    assert flips(0.5) == flips(0.5)
    if is_chosen():
        assert work_of(function, array) == (2, 0)


def test_transforms_of_gluon():
    """A composition as for validation, on the device."""
    transforms = mx.gluon.data.vision.transforms
    chain = transforms.Compose(
        [
            transforms.Resize(12),
            transforms.CenterCrop(8),
            transforms.ToTensor(),
            transforms.Normalize([0.5, 0.4, 0.3], [0.2, 0.3, 0.4]),
        ]
    )
    values = drawn((15, 20, 3), "uint8")
    results = [chain(mx.nd.array(values, ctx=c, dtype="uint8")) for c in (mx.cpu(), GPU)]
    assert results[1].context == GPU
    np.testing.assert_allclose(results[1].asnumpy(), results[0].asnumpy(), rtol=1e-5, atol=1e-6)
