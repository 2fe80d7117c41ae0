"""Damaged images."""

import numpy as np

import mxcy as mx
from tests.fuzz.damage import damaged, generator
from tests.fuzz.harness import SANITIZED, expected

COUNT = 500
_COMMON = (".jpg", ".png", ".bmp", ".webp")
#: OpenCV reads beyond its arrays when writing some of these, which stops a sanitizer
_RARE = (".tiff", ".ppm", ".gif", ".hdr", ".jp2", ".ras")
_images = []


def prepare():
    """Encode an image in all common formats."""
    import cv2

    cv2.utils.logging.setLogLevel(cv2.utils.logging.LOG_LEVEL_SILENT)
    pixels = np.random.RandomState(0).randint(0, 255, (20, 17, 3)).astype(np.uint8)
    for ending in _COMMON if SANITIZED else (*_COMMON, *_RARE):
        if cv2.haveImageWriter("x" + ending):
            done, content = cv2.imencode(ending, pixels)
            if done:
                _images.append(content.tobytes())


def case(seed):
    """Decode an image in one of several ways."""
    rng = generator(seed)
    content = damaged(rng.choice(_images), rng)
    with expected():
        rng.choice(_WAYS)(content)


_WAYS = (
    lambda content: mx.image.imdecode(content).wait_to_read(),
    lambda content: mx.image.imdecode(content, flag=0, to_rgb=False).wait_to_read(),
    lambda content: mx.nd.imdecode(content).wait_to_read(),
    lambda content: mx.recordio.unpack_img(bytes(24) + content),
)
