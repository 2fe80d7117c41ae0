"""Box transforms match MXNet 2.0.0b1 (golden/boxes.json); image loaders."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

import mxcy as mx
from mxcy.gluon.contrib.data import vision
from mxcy.gluon.contrib.data.vision.transforms.bbox import bbox, utils

GOLDEN = Path(__file__).parent / "golden"
sys.path.insert(0, str(GOLDEN))
from boxes import BOXES, FUNCTIONS, TRANSFORMS, function, overlaps, transform  # noqa: E402

sys.path.remove(str(GOLDEN))
CONTENT = json.loads((GOLDEN / "boxes.json").read_text())


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name):
    np.testing.assert_allclose(function(utils, name), CONTENT["functions"][name], rtol=1e-6)


def test_overlaps():
    np.testing.assert_allclose(overlaps(utils), CONTENT["overlaps"], rtol=1e-6)
    with pytest.raises(IndexError, match="at least length 4"):
        utils.bbox_iou(BOXES[:, :3], BOXES)


@pytest.mark.parametrize("name", TRANSFORMS)
def test_transforms(name):
    if name == "resize_cubic":
        pytest.importorskip("cv2", reason="images are resized by OpenCV")
    for actual, expected in zip(
        transform(mx, bbox, name), CONTENT["transforms"][name], strict=True
    ):
        assert actual[0] == expected[0]
        np.testing.assert_allclose(actual[1], expected[1], rtol=1e-3)
        np.testing.assert_allclose(actual[2], expected[2], rtol=1e-5)


def test_single_boxes():
    assert utils.bbox_xywh_to_xyxy((1, 2, 3, 0)) == (1, 2, 3, 2)
    assert utils.bbox_xyxy_to_xywh([1, 2, 3, 4]) == (1, 2, 3, 3)
    assert utils.bbox_clip_xyxy((-1, 2, 30, 40), 20, 30) == (0, 2, 19, 29)
    clipped = utils.bbox_clip_xyxy(np.array([[-1, 2, 30, 40], [1, 1, 2, 2]]), 20, 30)
    assert clipped.tolist() == [[0, 2, 19, 29], [1, 1, 2, 2]]
    with pytest.raises(IndexError, match="must have 4 elements, given 3"):
        utils.bbox_clip_xyxy((1, 2, 3), 5, 5)
    with pytest.raises(TypeError, match="given int"):
        utils.bbox_xyxy_to_xywh(3)


def test_bad_arguments():
    image, boxes = mx.nd.zeros((4, 4, 3)), mx.nd.zeros((1, 4))
    with pytest.raises(AssertionError, match=r"requires shape of \(N, 4\+\)"):
        bbox.ImageBboxRandomFlipLeftRight(1)(image, mx.nd.zeros((1, 3)))
    with pytest.raises(ValueError, match="fill has 2 values for 3 channels"):
        bbox.ImageBboxRandomExpand(1, fill=(1, 2))(image, boxes)
    with pytest.raises(ValueError, match=r"\(height, width, channels\)"):
        bbox.ImageBboxResize(2, 2)(image[0], boxes)
    with pytest.raises(AssertionError, match="crop is empty"):
        bbox.ImageBboxCrop((0, 0, 0, 1))
    with pytest.raises(ValueError, match="requires length 4"):
        utils.bbox_crop(BOXES, (1, 2))
    with pytest.raises(AssertionError, match="one of path_imgrec"):
        vision.ImageDataLoader(1, (3, 4, 4))
    label = vision.dataloader.BboxLabelTransform()
    with pytest.raises(ValueError, match="should be >= 5, given 4"):
        label(image, np.array([2, 4, 0, 0, 0, 0]))
    with pytest.raises(ValueError, match="Broken label of size 6"):
        label(image, np.array([2, 5, 0, 0, 0, 0]))


@pytest.fixture
def folder(tmp_path):
    cv2 = pytest.importorskip("cv2", reason="images are read by OpenCV")
    random = np.random.RandomState(0)
    for number in range(4):
        pixels = random.randint(0, 256, (20 + number, 30, 3)).astype("uint8")
        cv2.imwrite(str(tmp_path / f"{number}.png"), pixels)
    return tmp_path


def test_images_are_loaded(folder):
    files = [[float(number), f"{number}.png"] for number in range(4)]
    loader = vision.ImageDataLoader(
        3,
        (3, 16, 12),
        imglist=files,
        path_root=str(folder),
        resize=18,
        rand_crop=True,
        rand_mirror=True,
        mean=True,
        std=True,
        brightness=0.1,
        pca_noise=0.1,
        rand_gray=0.5,
    )
    assert len(loader) == 2
    images, labels = next(iter(loader))
    assert images.shape == (3, 3, 16, 12) and images.dtype == np.float32
    assert labels.asnumpy().ravel().tolist() == [0, 1, 2]
    part = vision.ImageDataLoader(
        4,
        (3, 8, 8),
        imglist=files,
        path_root=str(folder),
        num_parts=2,
        part_index=1,
        aug_list=[mx.gluon.data.vision.transforms.Resize(8)],
    )
    ((images, labels),) = part
    assert images.shape == (2, 8, 8, 3)
    assert labels.asnumpy().ravel().tolist() == [2, 3]


def test_boxes_are_loaded(folder):
    one, two = [1, 0.1, 0.2, 0.5, 0.6], [2, 0, 0, 1, 1]
    files = [[[2, 5, *one], "0.png"], [[2, 5, *one, *two], "1.png"]]
    loader = vision.ImageBboxDataLoader(2, (3, 40, 60), imglist=files, path_root=str(folder))
    ((images, boxes),) = loader
    assert images.shape == (2, 3, 40, 60)
    expected = [[6, 8, 30, 24, 1], [-1] * 5], [[6, 8, 30, 24, 1], [0, 0, 60, 40, 2]]
    np.testing.assert_allclose(boxes.asnumpy(), expected, rtol=1e-5)
    loader = vision.ImageBboxDataLoader(
        2,
        (3, 40, 60),
        imglist=files,
        path_root=str(folder),
        rand_crop=0.5,
        rand_pad=0.5,
        rand_mirror=True,
        hue=0.1,
        mean=True,
    )
    for images, boxes in loader:
        assert images.shape == (2, 3, 40, 60)
        assert boxes.shape[0] == 2 and boxes.shape[2] == 5
