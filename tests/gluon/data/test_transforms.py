"""Transforms of images; the operators behind them are compared with MXNet in tests/ops/golden."""

import numpy as np
import pytest

import mxcy as mx
from mxcy.gluon.data import ArrayDataset, DataLoader
from mxcy.gluon.data.vision import transforms


def image(height, width, channels=3, dtype="uint8"):
    values = np.random.RandomState(0).randint(0, 256, (height, width, channels))
    return mx.nd.array(values, dtype=dtype)


def same(array, values):
    np.testing.assert_allclose(array.asnumpy(), values, rtol=1e-5)


def test_tensors():
    x = image(4, 6)
    values = x.asnumpy().transpose(2, 0, 1).astype("float32") / 255
    same(transforms.ToTensor()(x), values)
    composed = transforms.Compose(
        [transforms.ToTensor(), transforms.Normalize(0.5, (0.1, 0.2, 0.4))]
    )
    hybrid = transforms.HybridCompose([transforms.ToTensor(), transforms.Normalize([0.5], 0.25)])
    same(composed(x), (values - 0.5) / np.array([0.1, 0.2, 0.4]).reshape(3, 1, 1))
    for _ in range(2):
        same(hybrid(x), (values - 0.5) / 0.25)
    assert transforms.Cast("float16")(x).dtype == np.float16
    with pytest.raises(mx.MXNetError, match="image_normalize"):
        transforms.Normalize((1, 2), 1)(mx.nd.ones((3, 2, 2)))


def test_sizes():
    x = image(8, 12)
    assert transforms.Resize((6, 4))(x).shape == (4, 6, 3)
    assert transforms.Resize(6, keep_ratio=True)(x).shape == (6, 9, 3)
    assert transforms.Resize(6, interpolation=0)(x).shape == (6, 6, 3)
    with pytest.raises(mx.MXNetError, match="_image_resize.*interp: expected 0"):
        mx.nd.image.resize(x, 6, interp=5)
    same(transforms.CropResize(1, 2, 4, 3)(x), x.asnumpy()[2:5, 1:5])
    assert transforms.CropResize(1, 2, 4, 3, (8, 7))(x).shape == (7, 8, 3)
    expected = mx.image.imresize(x[2:5, 1:5], 8, 7, 2)
    same(transforms.CropResize(1, 2, 4, 3, (8, 7), 2)(x), expected.asnumpy())
    for by_opencv in (
        transforms.Resize(6, interpolation=2),
        transforms.Resize(6, keep_ratio=True, interpolation=2),
        transforms.CropResize(1, 2, 4, 3, (8, 7), 2),
        transforms.CenterCrop(20, 2),
    ):
        assert isinstance(by_opencv(x.as_np_ndarray()), mx.np.ndarray)


@pytest.mark.parametrize("interpolation", [2, 3, 4])
@pytest.mark.parametrize("dtype", ["uint8", "float32"])
@pytest.mark.parametrize("channels", [1, 3])
def test_interpolation_of_opencv(interpolation, dtype, channels):
    images = mx.nd.array(
        np.random.RandomState(7).randint(0, 256, (3, 8, 12, channels)), dtype=dtype
    )
    expected = np.stack([mx.image.imresize(x, 5, 9, interpolation).asnumpy() for x in images])
    for resize in (
        transforms.Resize((5, 9), interpolation=interpolation),
        transforms.CropResize(0, 0, 12, 8, (5, 9), interpolation),
        transforms.RandomResizedCrop((5, 9), (1, 1), (1.5, 1.5), interpolation),
    ):
        same(resize(images), expected)
        resize.hybridize()
        same(resize(images), expected)
        same(resize(images[1]), expected[1])


@pytest.mark.parametrize("interpolation", [2, 3, 4])
def test_interpolation_of_many_channels(interpolation):
    images = mx.nd.array(np.random.RandomState(7).randint(0, 256, (8, 12, 600)), dtype="uint8")
    resized = mx.nd.image.resize(images, (5, 9), interp=interpolation)
    for first in (0, 5, 597):
        few = mx.image.imresize(images[:, :, first : first + 3], 5, 9, interpolation)
        same(resized[:, :, first : first + 3], few.asnumpy())


def test_interpolation_by_size():
    x = image(8, 12)
    for size, chosen in (((6, 4), 3), ((18, 12), 2), ((18, 4), 1)):
        part = transforms.RandomResizedCrop(size, (1, 1), (1.5, 1.5), 9)(x)
        same(part, mx.image.imresize(x, *size, chosen).asnumpy())
    with pytest.raises(ValueError, match="Unknown interp method 5"):
        transforms.CenterCrop(20, 5)(x)


def test_center_crop():
    x = image(5, 5)
    same(transforms.CenterCrop(2)(x), x.asnumpy()[1:3, 1:3])  # as MXNet 1.9.1 does
    same(transforms.CenterCrop((4, 2))(x), x.asnumpy()[1:3, 0:4])
    assert transforms.CenterCrop((10, 20))(x).shape == (20, 10, 3)


def test_hybridized_center_crop_fits_into_small_images():
    x, crop = image(5, 9), transforms.CenterCrop((10, 20))
    expected = crop(x)
    crop.hybridize()
    same(crop(x), expected.asnumpy())
    same(expected, mx.image.center_crop(x, (10, 20), 1)[0].asnumpy())


@pytest.mark.parametrize("numpy_arrays", [False, True])
def test_crops_of_batches(numpy_arrays):
    values = np.arange(2 * 9 * 11 * 3, dtype="float32").reshape(2, 9, 11, 3)
    x = mx.np.array(values) if numpy_arrays else mx.nd.array(values)
    same(transforms.CenterCrop((5, 4))(x), values[:, 2:6, 3:8])
    for crop in (
        transforms.RandomCrop((5, 4)),
        transforms.RandomCrop((5, 4), pad=(0, 1)),
        transforms.RandomResizedCrop((5, 4)),
    ):
        for _ in range(8):
            mx.random.seed(7)
            batch = crop(x)
            mx.random.seed(7)
            single = crop(x[1])
            assert batch.shape == (2, 4, 5, 3) and type(batch) is type(x)
            same(batch[1], single.asnumpy())


def test_random_parts_stay_inside():
    mx.random.seed(1)
    x = image(9, 7)
    every = x.asnumpy()
    places = {
        (top, left): every[top : top + 4, left : left + 5] for top in range(6) for left in range(3)
    }
    collected = set()
    for _ in range(100):
        part = transforms.RandomCrop((5, 4))(x).asnumpy()
        collected |= {place for place, values in places.items() if (values == part).all()}
    assert len(collected) > 12
    for _ in range(20):
        part = transforms.RandomResizedCrop((6, 3))(x)
        assert part.shape == (3, 6, 3) and part.dtype == np.uint8
    assert transforms.RandomResizedCrop(4, scale=(2, 3))(x).shape == (4, 4, 3)


def test_margins():
    x = image(2, 3)
    for pad, shape in ((1, (4, 5)), ((1, 0), (4, 3)), ((1, 2, 0, 3), (5, 6))):
        padded = transforms.RandomCrop(shape[::-1], pad=pad, pad_value=7)(x).asnumpy()
        assert padded.shape == (*shape, 3)
        assert (padded[0] == 7).all() and padded.sum() == x.asnumpy().sum(dtype=int) + 7 * (
            padded.size - x.size
        )


@pytest.mark.parametrize(
    ("kind", "axis"), [(transforms.RandomFlipLeftRight, 1), (transforms.RandomFlipTopBottom, 0)]
)
def test_flips(kind, axis):
    x = image(3, 5)
    turned = np.flip(x.asnumpy(), axis)
    same(kind(p=1)(x), turned)
    same(kind(p=0)(x), x.asnumpy())
    mx.random.seed(0)
    count = sum((kind()(x).asnumpy() == turned).all() for _ in range(100))
    assert 30 < count < 70


def test_a_probability_of_application():
    x = image(2, 2)
    turn = transforms.RandomFlipLeftRight(p=1)
    mx.random.seed(0)
    apply = transforms.RandomApply(turn, 0.3)
    changed = sum((apply(x).asnumpy() != x.asnumpy()).any() for _ in range(50))
    assert 5 < changed < 30
    same(
        transforms.HybridRandomApply(transforms.ToTensor(), 1)(x),
        transforms.ToTensor()(x).asnumpy(),
    )
    with pytest.raises(AssertionError, match="HybridBlock"):
        transforms.HybridRandomApply(transforms.Rotate(5))


@pytest.mark.parametrize(
    ("transform", "shape"),
    [
        (transforms.CenterCrop((4, 2)), (2, 4)),
        (transforms.CenterCrop((10, 20)), (20, 10)),
        (transforms.RandomCrop((5, 4)), (4, 5)),
        (transforms.RandomResizedCrop((5, 4)), (4, 5)),
    ],
)
def test_hybridized_crops(transform, shape):
    x = image(8, 12)
    transform.hybridize()
    parts = [transform(x).asnumpy() for _ in range(8)]
    assert parts[0].shape == (*shape, 3)
    is_random = "Random" in type(transform).__name__
    assert any((part != parts[0]).any() for part in parts) == is_random
    if shape == (2, 4):
        same(transform(x), x.asnumpy()[3:5, 4:8])


def test_hybridized_padding():
    transform = transforms.RandomCrop((6, 7), pad=(1, 2), pad_value=9)
    transform.hybridize()
    x = image(5, 2)
    expected = np.pad(x.asnumpy(), ((1, 1), (2, 2), (0, 0)), constant_values=9)
    same(transform(x), expected)


def test_hybridized_choices():
    x = image(6, 4)
    gray = transforms.RandomGray(0.5)
    gray.hybridize()
    turn = transforms.HybridRandomApply(transforms.RandomFlipLeftRight(p=1), 0.5)
    turn.hybridize()
    mx.random.seed(0)
    values = x.asnumpy().astype("float32")
    assert {(gray(x).asnumpy() == values).all() for _ in range(20)} == {True, False}
    assert {(turn(x).asnumpy() == values).all() for _ in range(20)} == {True, False}
    gray = transforms.RandomGray(1)
    gray.hybridize()
    expected = values @ [0.2989, 0.587, 0.114]
    same(gray(x), np.stack([expected] * 3, -1))


@mx.util.use_np
def test_hybrid_compositions():
    """As of MXNet 2, where all of these are HybridBlocks."""
    steps = [
        transforms.Resize(20, keep_ratio=True),
        transforms.CenterCrop(18),
        transforms.RandomCrop(16, pad=2),
        transforms.RandomResizedCrop(8),
        transforms.RandomGray(),
        transforms.ToTensor(),
    ]
    composed = transforms.HybridCompose(steps)
    for _ in range(2):
        result = composed(mx.np.array(image(24, 30).asnumpy()))
        assert type(result) is mx.np.ndarray and result.shape == (3, 8, 8)


@pytest.mark.parametrize(
    ("transform", "operator", "arguments"),
    [
        (transforms.RandomBrightness(0.3), "random_brightness", (0.7, 1.3)),
        (transforms.RandomContrast(0.3), "random_contrast", (0.7, 1.3)),
        (transforms.RandomSaturation(2), "random_saturation", (0, 3)),
        (transforms.RandomHue(0.25), "random_hue", (0.75, 1.25)),
        (transforms.RandomColorJitter(0.3, 0.2, 0, 0.1), "random_color_jitter", (0.3, 0.2, 0, 0.1)),
        (transforms.RandomLighting(0.1), "random_lighting", (0.1,)),
        (transforms.RandomFlipLeftRight(), "random_flip_left_right", ()),
        (transforms.RandomFlipTopBottom(), "random_flip_top_bottom", ()),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_draw_what_operators_draw(transform, operator, arguments):
    x = image(4, 5)
    mx.random.seed(3)
    expected = [getattr(mx.nd.image, operator)(x, *arguments).asnumpy() for _ in range(9)]
    assert len({values.tobytes() for values in expected}) > 1
    for hybridize in (False, True):
        transform.hybridize(hybridize)
        mx.random.seed(3)
        for values in expected:
            np.testing.assert_array_equal(transform(x).asnumpy(), values, strict=True)


def test_colour_jitter():
    x = image(3, 4)
    same(transforms.RandomColorJitter()(x), x.asnumpy())
    mx.random.seed(0)
    jitter = transforms.RandomColorJitter(0.3, 0.3, 0.3, 0.3)
    results = {jitter(x).asnumpy().tobytes() for _ in range(10)}
    assert len(results) == 10


def test_in_workers():
    pictures = mx.nd.array(np.random.RandomState(0).randint(0, 256, (6, 10, 10, 3)), dtype="uint8")
    augment = transforms.Compose(
        [transforms.RandomResizedCrop(8), transforms.RandomFlipLeftRight(), transforms.ToTensor()]
    )
    data = ArrayDataset(pictures, list(range(6))).transform_first(augment)
    for images, labels in DataLoader(data, 3, num_workers=2):
        assert images.shape == (3, 3, 8, 8) and images.dtype == np.float32
        assert 0 <= images.min().asscalar() <= images.max().asscalar() <= 1
        assert labels.shape == (3,)


def test_rotations():
    x = transforms.ToTensor()(image(9, 12))
    same(transforms.Rotate(25, zoom_in=True)(x), mx.image.imrotate(x, 25, zoom_in=True).asnumpy())
    batch = mx.nd.stack(x, x)
    assert transforms.Rotate(-30)(batch).shape == (2, 3, 9, 12)
    np.random.seed(3)
    turned = transforms.RandomRotation((-40, 40))(x)
    np.random.seed(3)
    same(turned, mx.image.imrotate(x, np.random.uniform(-40, 40)).asnumpy())
    same(transforms.RandomRotation((-40, 40), rotate_with_proba=0)(x), x.asnumpy())
    pair = transforms.RandomRotation((20, 40))(x, "label")
    assert pair[0].shape == x.shape and pair[1] == "label"
    for rotation in (transforms.Rotate(5), transforms.RandomRotation((5, 6))):
        with pytest.raises(TypeError, match="after ToTensor"):
            rotation(image(4, 4))
    with pytest.raises(ValueError, match="ordered"):
        transforms.RandomRotation((40, 20))
    with pytest.raises(ValueError, match="between 0 and 1"):
        transforms.RandomRotation((20, 40), rotate_with_proba=2)


def test_random_gray():
    x = image(4, 5)
    same(transforms.RandomGray(p=0)(x), x.asnumpy())
    gray = transforms.RandomGray(p=1)(x).asnumpy()
    weighted = x.asnumpy().astype("float32") @ np.float32([0.21, 0.72, 0.07])
    assert gray.dtype == np.uint8 and (abs(gray - weighted[..., None]) <= 1).all()
    assert (gray == gray[..., :1]).all()
    x = x.as_np_ndarray()  # as MXNet 2 has it
    gray = transforms.RandomGray(p=1)(x)
    weighted = x.asnumpy().astype("float32") @ np.float32([0.2989, 0.587, 0.114])
    assert type(gray) is mx.np.ndarray and gray.dtype == "float32"
    np.testing.assert_allclose(gray.asnumpy(), np.repeat(weighted[..., None], 3, 2), rtol=1e-5)
    assert transforms.RandomGray(p=0)(x).dtype == "float32"


def test_image_transforms_have_a_module_of_their_own():
    assert transforms.image.Rotate is transforms.Rotate
    assert "Cast" in transforms.__all__ and "Cast" not in transforms.image.__all__


@pytest.mark.parametrize("size", [(17, 4), (5, 30), (23, 23)])
@pytest.mark.parametrize("channels", [1, 3, 4])
def test_bilinear_bytes_are_those_of_opencv(size, channels):
    images = np.random.RandomState(3).randint(0, 256, (4, 9, 11, channels))
    for values in images:
        x = mx.nd.array(values, dtype="uint8")
        same(mx.nd.image.resize(x, size), mx.image.imresize(x, *size, 1).asnumpy())
