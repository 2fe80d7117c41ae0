"""Write ``boxes.json``: results of real MXNet 2.0.0b1's box transforms.

With a Python that has MXNet 2.0.0b1: ``python tests/gluon/golden/boxes.py``
"""

import json
import random
from pathlib import Path

import numpy as np

FILE = Path(__file__).parent / "boxes.json"
BOXES = np.array(
    [[10, 5, 30, 25, 1], [0, 0, 8, 9, 0], [20, 20, 39, 29, 2], [35, 2, 38, 28, 1]], "float32"
)
IMAGE = np.random.RandomState(0).randint(0, 256, (30, 40, 3)).astype("uint8")

#: name -> (function, its arguments behind the boxes)
FUNCTIONS = {
    "crop": ("bbox_crop", [(5, 5, 20, 20)]),
    "crop_centers": ("bbox_crop", [(5, 5, 20, 20), False]),
    "crop_open": ("bbox_crop", [(12, None, None, 20)]),
    "crop_nothing": ("bbox_crop", [(None, None, None, None)]),
    "flip_x": ("bbox_flip", [(40, 30), True]),
    "flip_both": ("bbox_flip", [(40, 30), True, True]),
    "resize": ("bbox_resize", [(40, 30), (20, 60)]),
    "translate": ("bbox_translate", [3, -2]),
    "to_corners": ("bbox_xywh_to_xyxy", []),
    "to_sizes": ("bbox_xyxy_to_xywh", []),
}
#: name -> (transform, options)
TRANSFORMS = {
    "flip": ("ImageBboxRandomFlipLeftRight", {"p": 1}),
    "crop": ("ImageBboxCrop", {"crop": (4, 3, 30, 20)}),
    "crop_too_large": ("ImageBboxCrop", {"crop": (4, 3, 36, 20)}),
    "random_crop": ("ImageBboxRandomCropWithConstraints", {"p": 1}),
    "random_crop_seldom": ("ImageBboxRandomCropWithConstraints", {"p": 0.1}),
    "expand": ("ImageBboxRandomExpand", {"p": 1, "fill": (1, 2, 3)}),
    "expand_freely": ("ImageBboxRandomExpand", {"p": 1, "keep_ratio": False, "max_ratio": 2}),
    "resize": ("ImageBboxResize", {"width": 20, "height": 24}),
    "resize_cubic": ("ImageBboxResize", {"width": 20, "height": 24, "interp": 2}),
}


def function(utils, name):
    """The result of a function of boxes."""
    kind, arguments = FUNCTIONS[name]
    boxes = BOXES[:, :4] if "xywh" in kind or "iou" in kind else BOXES
    return np.asarray(getattr(utils, kind)(boxes.copy(), *arguments)).tolist()


def overlaps(utils):
    """The overlap of boxes, in pixels and as a fraction."""
    return [utils.bbox_iou(BOXES, BOXES[:2], offset).tolist() for offset in (0, 1)]


def transform(mx, boxes, name):
    """Shape, sums of parts and boxes of a transformed image, for three seeds."""
    kind, options = TRANSFORMS[name]
    collected = []
    for seed in range(3):
        random.seed(seed)
        np.random.seed(seed)
        step = getattr(boxes, kind)(**options)
        image, kept = step(mx.nd.array(IMAGE, dtype="uint8"), mx.nd.array(BOXES))
        pixels = image.asnumpy().astype(int)
        collected.append(
            [list(pixels.shape), pixels.sum(axis=(0, 1)).tolist(), kept.asnumpy().tolist()]
        )
    return collected


def main():
    """Run MXNet and write the file."""
    import mxnet as mx
    from mxnet.gluon.contrib.data.vision.transforms.bbox import bbox, utils

    assert mx.__version__.startswith("2.")
    mx.npx.reset_np()
    content = {
        "functions": {name: function(utils, name) for name in FUNCTIONS},
        "overlaps": overlaps(utils),
        "transforms": {name: transform(mx, bbox, name) for name in TRANSFORMS},
    }
    FILE.write_text(json.dumps(content, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
