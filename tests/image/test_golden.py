"""Images, augmenters and iterators match real MXNet 1.9.1."""

import numpy as np
import pytest

import mxcy as mx
from tests.image import cases

pytest.importorskip("cv2", reason="images need the extra 'image'")
pytestmark = pytest.mark.filterwarnings("ignore:Skip Det")


@pytest.fixture(scope="module")
def golden():
    return cases.golden()


def limit(array):
    """The tolerance of results: versions of OpenCV round bytes differently."""
    if array.size < 10:  # a position, a pad
        return 0
    return 1.01 if np.abs(array).max() > 5 else 0.02


@pytest.mark.parametrize("group", cases.GROUPS, ids=lambda group: group.__name__)
def test_like_real_mxnet(group, golden):
    expected = {k: v for k, v in golden.items() if k.startswith(group.__name__ + " ")}
    actual = cases.answers(mx, group)
    assert expected and list(actual) == list(expected)
    wrong = []
    for name, array in actual.items():
        want = expected[name]
        if array.shape != want.shape or array.dtype != want.dtype:
            wrong.append(f"{name}: {array.dtype} {array.shape}, not {want.dtype} {want.shape}")
            continue
        difference = np.abs(array.astype(float) - want.astype(float)).max()
        if difference > limit(want):
            wrong.append(f"{name}: differs by {difference}")
    assert not wrong, "\n".join(wrong)


def test_borders_of_one_number():
    image = mx.nd.zeros((2, 3, 3), dtype="uint8")
    bordered = mx.image.copyMakeBorder(image, 1, 0, 0, 2, values=7).asnumpy()
    assert (bordered[1:, :3] == 0).all() and bordered.sum() == 7 * (bordered.size - image.size)
