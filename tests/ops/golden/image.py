"""Calls of operators on images."""

import numpy as np

from .case import Case, normal


def pixels(*shape):
    return np.random.RandomState(7).randint(0, 256, shape).astype("uint8")


def tensors():
    yield "bytes", Case("image.to_tensor", pixels(4, 5, 3))
    yield "batch", Case("image.to_tensor", pixels(2, 3, 2, 1))
    yield "floats", Case("image.to_tensor", normal(2, 3, 3) * 100)
    each = {"mean": (0.485, 0.456, 0.406), "std": (0.229, 0.224, 0.225)}
    yield "normalize", Case("image.normalize", normal(3, 4, 5), wrt=(0,), **each)
    yield "normalize-batch", Case("image.normalize", normal(2, 3, 4, 5), wrt=(0,), **each)
    yield "normalize-gray", Case("image.normalize", normal(1, 2, 3), mean=(0.5,), std=(0.25,))
    yield "normalize-one", Case("image.normalize", normal(3, 2, 3), mean=(0.5,), std=(0.25,))


def parts():
    # MXNet leaves the middle column of images of odd width unset when it flips them.
    for name in ("flip_left_right", "flip_top_bottom"):
        yield name, Case(f"image.{name}", pixels(4, 6, 3))
        yield f"{name}-floats", Case(f"image.{name}", normal(2, 4, 1))
    part = {"x": 1, "y": 2, "width": 3, "height": 2}
    yield "crop", Case("image.crop", pixels(5, 6, 3), **part)
    yield "crop-batch", Case("image.crop", normal(2, 4, 5, 1), wrt=(0,), **part)


def sizes():
    # Bytes that are enlarged may differ by one in MXNet, depending on the processor.
    for shape, size in (
        ((10, 12, 3), (9, 7)),
        ((10, 12, 3), (6, 5)),
        ((33, 47, 1), (24, 24)),
        ((5, 5, 3), (1, 1)),
    ):
        name = "x".join(map(str, (*shape, *size)))
        yield f"bytes-{name}", Case("image.resize", pixels(*shape), size=size)
        yield f"floats-{name}", Case("image.resize", normal(*shape), size=size)
        yield f"nearest-{name}", Case("image.resize", pixels(*shape), size=size, interp=0)
    yield "larger", Case("image.resize", normal(4, 3, 2), size=(7, 9))
    yield "batch", Case("image.resize", pixels(2, 8, 6, 3), size=(5, 4))
    for shape in ((10, 14, 3), (14, 10, 3)):
        for keep in (False, True):
            name = f"side-{shape[0]}-{keep}"
            yield name, Case("image.resize", pixels(*shape), size=8, keep_ratio=keep)


FAMILY = (tensors, parts, sizes)
