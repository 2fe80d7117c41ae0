"""Random image transforms: references against kernels, bounds, crops, errors, symbols.

Random numbers are compared with MXNet's in golden/image_random.py.
"""

import numpy as np
import pytest

import mxcy as mx
from mxcy._library import front
from mxcy.ops.core.record import REGISTRY

PIXELS = np.random.RandomState(0).randint(0, 256, (6, 7, 3)).astype("float32")
FIXED = {
    "random_brightness": {"min_factor": 0.7, "max_factor": 0.7},
    "random_contrast": {"min_factor": 1.4, "max_factor": 1.4},
    "random_saturation": {"min_factor": 0.2, "max_factor": 0.2},
    "random_hue": {"min_factor": 0.6, "max_factor": 0.6},
    "random_flip_left_right": {"p": 1.0},
    "random_flip_top_bottom": {"p": 1.0},
    "random_lighting": {"alpha_std": 0.0},
    "random_color_jitter": {"brightness": 0, "contrast": 0, "saturation": 0, "hue": 0},
}


def picture(dtype="float32", channels=3):
    return mx.nd.array(PIXELS[..., :channels], dtype=dtype)


@pytest.mark.parametrize("name", FIXED)
@pytest.mark.parametrize(("dtype", "channels"), [("float32", 3), ("float32", 1), ("uint8", 3)])
def test_kernels_match_references_without_randomness(name, dtype, channels):
    record = REGISTRY[f"_image_{name}"]
    x = picture(dtype, channels)
    (want,), ran = front.execute(record, (x,), FIXED[name], kernel="ref")
    assert ran == "ref"
    got = getattr(mx.nd.image, name)(x, **FIXED[name])
    tolerance = 1 if dtype == "uint8" else 1e-2
    np.testing.assert_allclose(got.asnumpy(), want.numpy_view(), atol=tolerance, rtol=0)
    assert got.dtype == x.dtype


def test_probabilities_of_flips():
    x = picture()
    for p, least, most in ((0.0, 0, 0), (0.2, 20, 60), (0.9, 160, 195), (1.0, 200, 200)):
        mx.random.seed(5)
        flipped = [(mx.nd.image.random_flip_top_bottom(x, p=p) != x).max() for _ in range(200)]
        assert least <= sum(float(value.asscalar()) for value in flipped) <= most


def test_noise_of_lighting_has_the_asked_deviation():
    x = mx.nd.zeros((1, 1, 3))
    mx.random.seed(1)
    drawn = np.array(
        [mx.nd.image.random_lighting(x, alpha_std=2.0).asnumpy().ravel() for _ in range(2000)]
    )
    directions = mx.nd.image.adjust_lighting
    parts = np.array([directions(x, alpha=row).asnumpy().ravel() for row in np.eye(3).tolist()])
    np.testing.assert_allclose(np.cov(drawn.T), 4 * parts.T @ parts, rtol=0.15)


@pytest.mark.parametrize("batch", [(), (2,)])
def test_parts_lie_where_they_may(batch):
    across, down = np.meshgrid(np.arange(50), np.arange(40))
    places = np.broadcast_to(np.stack([across, down], -1), (*batch, 40, 50, 2))
    x = mx.nd.array(places, dtype="float32")
    corners = []
    for _ in range(60):
        part = mx.nd.image.random_crop(
            x, width=10, height=20, xrange=(0.25, 0.75), yrange=(0.5, 0.5)
        ).asnumpy()
        assert part.shape == (*batch, 20, 10, 2)
        left, top = part[(0,) * (len(batch) + 2)]
        np.testing.assert_array_equal(
            part[..., 0] - left, np.broadcast_to(np.arange(10), part.shape[:-1])
        )
        assert top == 10 and 10 <= left < 30
        corners.append(left)
    assert max(corners) - min(corners) > 10


def test_small_images_are_enlarged():
    x = picture("uint8")
    whole = mx.nd.image.random_crop(x, width=14, height=12)
    np.testing.assert_array_equal(whole.asnumpy(), mx.nd.image.resize(x, size=(14, 12)).asnumpy())


def test_resized_parts_have_the_asked_area_and_ratio():
    across, down = np.meshgrid(np.arange(200), np.arange(100))
    x = mx.nd.array(np.stack([across, down], -1), dtype="float32")
    lefts = set()
    for _ in range(40):
        part = mx.nd.image.random_resized_crop(
            x, width=64, height=32, area=(0.125, 0.125), ratio=(1.0, 1.0), interp=0
        ).asnumpy()
        width = part[0, -1, 0] - part[0, 0, 0]
        assert part.shape == (32, 64, 2) and 46 <= width < 50  # a square of 50 times 50
        lefts.add(part[0, 0, 0])
    assert len(lefts) > 10
    # No such part fits: the greatest of the result's shape is in the middle.
    middle = mx.nd.image.random_resized_crop(
        x, width=100, height=100, area=(1.0, 1.0), ratio=(1.0, 1.0), interp=0
    ).asnumpy()
    np.testing.assert_array_equal(middle[0, :, 0], np.arange(50, 150))


@pytest.mark.parametrize(
    ("name", "attrs", "message"),
    [
        ("random_hue", {"min_factor": -1, "max_factor": 1}, "min_factor: expected at least 0"),
        ("random_lighting", {"alpha_std": -1}, "alpha_std: expected at least 0"),
        ("adjust_lighting", {"alpha": (1, 2)}, "alpha: expected 3 numbers"),
        ("random_flip_left_right", {"p": 1.5}, "p: expected a probability"),
        ("random_crop", {"width": 0, "height": 2}, "width, height: not positive"),
        ("random_crop", {"width": 1, "height": 2, "xrange": (0, 2)}, "xrange: expected two"),
        ("random_crop", {"width": 1, "height": 2, "interp": 5}, "interp: expected 0"),
        ("random_resized_crop", {"width": 1, "height": 2, "area": (-1, 1)}, "area: expected two"),
    ],
)
def test_refusals(name, attrs, message):
    with pytest.raises(mx.MXNetError, match=f"_image_{name}.*{message}"):
        getattr(mx.nd.image, name)(picture(), **attrs)


def test_images_have_one_or_three_channels():
    for x, message in (
        (mx.nd.ones((2, 3, 2)), "1 or 3 channels"),
        (mx.nd.ones((2, 2)), "an image"),
    ):
        with pytest.raises(mx.MXNetError, match=f"random_brightness.*data: expected {message}"):
            mx.nd.image.random_brightness(x, 0.5, 1.0)


def test_symbols_draw_the_same_numbers():
    data = mx.sym.var("data")
    names = ("min_factor", "max_factor")
    net = mx.sym.image.random_hue(data, **dict(zip(names, (0.2, 0.8), strict=True)))
    net = mx.sym.load_json(mx.sym.image.random_flip_left_right(net).tojson())
    mx.random.seed(9)
    x = mx.nd.image.random_flip_left_right(mx.nd.image.random_hue(picture(), 0.2, 0.8))
    mx.random.seed(9)
    (y,) = net.eval(data=picture())
    np.testing.assert_array_equal(y.asnumpy(), x.asnumpy())
