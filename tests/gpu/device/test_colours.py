"""Random changes of colours and crops on the device."""

import numpy as np
import pytest

import mxcy as mx
from mxcy.gluon.data.vision import transforms
from tests.gpu.device.test_images import GPU, check, drawn
from tests.gpu.device.test_launches import work_of
from tests.gpu.standin.seam import is_chosen

#: operator with arguments that leave nothing to chance -> launches
FIXED = {
    ("random_brightness", (1.3, 1.3)): 2,
    ("random_contrast", (0.4, 0.4)): 3,
    ("random_contrast", (1.7, 1.7)): 3,
    ("random_saturation", (0.2, 0.2)): 2,
    ("random_hue", (0.6, 0.6)): 2,
    ("random_hue", (2.3, 2.3)): 2,
    ("random_color_jitter", (0, 0, 0, 0)): 2,
    ("adjust_lighting", ((0.2, -0.5, 0.4),)): 1,
    ("random_lighting", (0.0,)): 2,
}


@pytest.mark.parametrize("dtype", ["uint8", "float32", "float64", "float16", "int32"])
@pytest.mark.parametrize(("name", "arguments"), FIXED)
def test_changes_are_those_of_the_cpu(name, arguments, dtype):
    function = getattr(mx.nd.image, name)
    tolerance = {"uint8": 1, "int32": 1, "float16": 2**-6}.get(dtype, 1e-3)
    for shape in ((5, 7, 3), (4, 3, 1), (30, 40, 3)):
        values = drawn(shape, dtype)
        check(lambda a: function(a, *arguments), values, tolerance, FIXED[name, arguments])


def on_device(values):
    return mx.nd.array(values, ctx=GPU, dtype=values.dtype)


def test_amounts_are_drawn_between_their_bounds():
    values = np.full((2, 2, 3), 10, "float32")
    mx.random.seed(2)
    factors = [
        mx.nd.image.random_brightness(on_device(values), 0.5, 1.5).asnumpy() / 10 for _ in range(60)
    ]
    assert all(np.ptp(factor) < 1e-6 for factor in factors)
    factors = [factor.mean() for factor in factors]
    assert 0.5 <= min(factors) < 0.6
    assert 1.4 < max(factors) <= 1.5
    mx.random.seed(2)
    again = mx.nd.image.random_brightness(on_device(values), 0.5, 1.5).asnumpy().mean() / 10
    assert again == pytest.approx(factors[0])


def solved(values, result):
    """Return the factors of contrast and saturation that lead to a result, in either order."""
    differences = values[0, 0, 0] - values[0, 0, 2], result[0, 0, 0] - result[0, 0, 2]
    product = differences[1] / differences[0]
    weight = (result[0, 0, 2] - result[0, 1, 2]) / (values[0, 0, 2] - values[0, 1, 2])
    contrast = product + (weight - product) / 0.114
    return contrast, product / contrast


def test_jitter_changes_in_random_order():
    values = np.array([[[10, 30, 50], [90, 20, 10]]], "float64")
    cpu = mx.nd.array(values, ctx=mx.cpu(), dtype="float64")
    mx.random.seed(1)
    found = []
    for _ in range(40):
        result = mx.nd.image.random_color_jitter(on_device(values), 0, 0.5, 0.4, 0).asnumpy()
        contrast, saturation = solved(values, result)
        assert 0.5 <= contrast <= 1.5
        assert 0.6 <= saturation <= 1.4
        steps = (mx.nd.image.random_contrast, contrast), (mx.nd.image.random_saturation, saturation)
        errors = []
        for (first, one), (second, other) in (steps, steps[::-1]):
            wanted = second(first(cpu, one, one), other, other).asnumpy()
            errors.append(np.abs(wanted - result).max())
        assert min(errors) < 0.02
        found.append(int(np.argmin(errors)))
    assert 8 < sum(found) < 32


def test_jitter_of_bytes():
    """All changes: three launches, and results differ."""
    image, jitter = on_device(drawn((12, 10, 3), "uint8")), mx.nd.image.random_color_jitter
    results = {jitter(image, 0.3, 0.3, 0.3, 0.3).asnumpy().tobytes() for _ in range(10)}
    assert len(results) == 10
    if is_chosen():
        assert work_of(jitter, image, 0.3, 0.3, 0.3, 0.3) == (3, 0)


def test_noise_of_lighting_has_the_given_deviation():
    x = mx.nd.zeros((1, 1, 3), ctx=GPU)
    mx.random.seed(1)
    noise = [mx.nd.image.random_lighting(x, alpha_std=2.0).asnumpy().ravel() for _ in range(1500)]
    parts = np.array(
        [mx.nd.image.adjust_lighting(x, alpha=row).asnumpy().ravel() for row in np.eye(3).tolist()]
    )
    np.testing.assert_allclose(np.cov(np.array(noise).T), 4 * parts.T @ parts, rtol=0.2)


def test_gradients_pass_through():
    image = on_device(drawn((4, 5, 3), "float32"))
    image.attach_grad()
    with mx.autograd.record():
        out = mx.nd.image.random_contrast(image, 0.5, 1.5)
    out.backward(out)
    np.testing.assert_array_equal(image.grad.asnumpy(), out.asnumpy())


AUGMENTED = {
    "RandomBrightness": (transforms.RandomBrightness(0.3), 2),
    "RandomContrast": (transforms.RandomContrast(0.3), 3),
    "RandomSaturation": (transforms.RandomSaturation(0.3), 2),
    "RandomHue": (transforms.RandomHue(0.3), 2),
    "RandomColorJitter": (transforms.RandomColorJitter(0.1, 0.1, 0.1, 0.1), 3),
    "RandomLighting": (transforms.RandomLighting(0.3), 2),
}


@pytest.mark.parametrize("name", AUGMENTED)
def test_colour_transforms_stay_on_the_device(name):
    transform, count = AUGMENTED[name]
    image = on_device(drawn((9, 11, 3), "uint8"))
    for hybridize in (False, True):
        transform.hybridize(hybridize)
        results = [transform(image) for _ in range(3)]
        assert all(result.context == GPU and result.dtype == np.uint8 for result in results)
        assert len({result.asnumpy().tobytes() for result in results}) == 3
        if is_chosen():
            assert work_of(transform, image) == (count, 0)


#: transform, its most launches, and its copies: of the padding
CROPS = {
    "RandomCrop": (transforms.RandomCrop((5, 4)), 1, 0),
    "RandomCrop with padding": (transforms.RandomCrop((12, 10), pad=2, pad_value=7), 2, 1),
    "RandomCrop of a small image": (transforms.RandomCrop((20, 30)), 2, 0),
    "RandomResizedCrop": (transforms.RandomResizedCrop((6, 3)), 2, 0),
}


@pytest.mark.parametrize("name", CROPS)
def test_crops_are_those_of_the_cpu(name):
    """Positions are drawn on the CPU, so both devices crop the same."""
    transform, most, copied = CROPS[name]
    values, kept = drawn((9, 11, 3), "uint8"), []
    for ctx in (mx.cpu(), GPU):
        image = mx.nd.array(values, ctx=ctx, dtype="uint8")
        mx.random.seed(3)
        with ctx:
            results = [transform(image) for _ in range(8)]
        assert all(result.context == ctx for result in results)
        kept.append([result.asnumpy() for result in results])
    np.testing.assert_array_equal(kept[1], kept[0])
    if is_chosen():
        launches, copies = work_of(transform, image)
        assert 1 <= launches <= most
        assert copies == copied


def test_gray():
    image = on_device(drawn((4, 5, 3), "uint8"))
    gray = transforms.RandomGray(p=1)(image)
    weighted = image.asnumpy().astype("float32") @ np.float32([0.21, 0.72, 0.07])
    assert gray.context == GPU
    assert np.abs(gray.asnumpy() - weighted[..., None]).max() <= 1
    np.testing.assert_array_equal(transforms.RandomGray(p=0)(image).asnumpy(), image.asnumpy())
