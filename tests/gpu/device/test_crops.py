"""Random crops on the device, where they draw as well."""

import numpy as np
import pytest

import mxcy as mx
from tests.gpu.device.test_images import GPU, check, drawn
from tests.gpu.device.test_launches import work_of
from tests.gpu.standin.seam import is_chosen

#: crops that leave nothing to chance
FIXED = {
    "in the middle": ("random_crop", {"width": 4, "height": 2}),
    "of the same size": ("random_crop", {"width": 9, "height": 6}),
    "of a small image": ("random_crop", {"width": 12, "height": 8}),
    "of half the size": ("random_resized_crop", {"width": 4, "height": 3, "max_trial": 0}),
    "without trials": ("random_resized_crop", {"width": 5, "height": 7, "max_trial": 0}),
    "that cannot fit": ("random_resized_crop", {"width": 5, "height": 7, "area": (2, 3)}),
    "of the whole": (
        "random_resized_crop",
        {"width": 5, "height": 4, "area": (1, 1), "ratio": (1.5, 1.5)},
    ),
}


@pytest.mark.parametrize("dtype", ["uint8", "float32", "float64"])
@pytest.mark.parametrize("interp", [0, 1])
@pytest.mark.parametrize("name", FIXED)
def test_fixed_crops_are_those_of_the_cpu(name, interp, dtype):
    operator, attrs = FIXED[name]
    attrs = {"xrange": (0.5, 0.5), "yrange": (0.5, 0.5), "interp": interp, **attrs}
    function = getattr(mx.nd.image, operator)
    for shape in ((6, 9, 3), (2, 6, 9, 1)):
        values, tolerance = drawn(shape, dtype), {"uint8": 0, "float32": 1e-4, "float64": 1e-4}
        check(lambda a: function(a, **attrs), values, tolerance[dtype], 2)


def positions(height, width):
    """Return an image whose channels are the column and the row of each pixel."""
    rows, columns = np.indices((height, width))
    return mx.nd.array(np.stack([columns, rows], -1), ctx=GPU, dtype="float32")


def test_positions_are_drawn_between_their_bounds():
    image, corners = positions(40, 50), []
    options = {"width": 10, "height": 20, "xrange": (0.25, 0.75), "yrange": (0.0, 0.5)}
    mx.random.seed(1)
    for _ in range(60):
        part = mx.nd.image.random_crop(image, **options).asnumpy()
        np.testing.assert_array_equal(part - part[0, 0], positions(20, 10).asnumpy())
        corners.append(part[0, 0])
    left, top = np.array(corners).T
    assert 10 <= left.min() < 14
    assert 26 < left.max() < 30
    assert 0 <= top.min() < 2
    assert 8 <= top.max() < 10
    assert abs(np.corrcoef(left, top)[0, 1]) < 0.4
    mx.random.seed(1)
    again = mx.nd.image.random_crop(image, **options).asnumpy()[0, 0]
    np.testing.assert_array_equal(again, corners[0])


def test_forms_are_drawn_between_their_bounds():
    image, forms = positions(100, 200), []
    options = {"width": 100, "height": 100, "area": (0.05, 0.2), "ratio": (0.5, 2), "interp": 0}
    mx.random.seed(2)
    for _ in range(80):
        part = mx.nd.image.random_resized_crop(image, **options).asnumpy()
        assert part.min() >= 0
        forms.append(part[-1, -1] - part[0, 0] + 1)
    width, height = np.array(forms).T
    area, ratio = width * height / 20000, width / height
    assert 0.045 < area.min() < 0.07
    assert 0.18 < area.max() < 0.21
    assert 0.47 < ratio.min() < 0.6
    assert 1.7 < ratio.max() < 2.1
    assert 0.3 < (ratio < 1).mean() < 0.7


def test_batches_are_cropped_alike():
    image = positions(12, 10)
    batch = mx.nd.stack(image, image + 100)
    for _ in range(5):
        first, second = mx.nd.image.random_resized_crop(batch, width=3, height=4).asnumpy()
        np.testing.assert_allclose(second, first + 100, rtol=1e-5)


@pytest.mark.parametrize("hybridize", [False, True])
def test_blocks_draw_anew_in_each_run(hybridize):
    block = mx.gluon.nn.HybridLambda(
        lambda F, x: F.image.random_crop(x, width=5, height=5)  # noqa: N803  MXNet's name
    )
    if hybridize:
        block.hybridize()
    image = positions(60, 60)
    assert len({block(image).asnumpy().tobytes() for _ in range(6)}) > 3
    if is_chosen():
        assert work_of(block, image) == (2, 0)


def test_gradients_are_zero():
    image = positions(6, 5)
    image.attach_grad()
    with mx.autograd.record():
        out = mx.nd.image.random_crop(image, width=2, height=2)
    out.backward()
    assert not image.grad.asnumpy().any()
