"""Test images, and image files written without OpenCV."""

import struct
import zlib

import numpy as np

__all__ = ["picture", "png"]


def picture(height, width, seed=0, channels=3):
    """An image with smooth colours and some edges, uint8."""
    rng = np.random.RandomState(seed)
    y, x = np.mgrid[:height, :width]
    planes = []
    for _ in range(channels):
        a, b, c = rng.uniform(0.05, 0.4, 3)
        plane = 128 + 90 * np.sin(a * x + b * y + 6 * c) + 30 * (x * c > y)
        planes.append(np.clip(plane, 0, 255))
    return np.stack(planes, -1).astype(np.uint8)


def png(pixels):
    """A PNG file of an image (height, width, 1 or 3), red first."""
    height, width, channels = pixels.shape
    lines = b"".join(b"\0" + line.tobytes() for line in pixels)
    head = struct.pack(">IIBBBBB", width, height, 8, {1: 0, 3: 2}[channels], 0, 0, 0)
    chunks = [(b"IHDR", head), (b"IDAT", zlib.compress(lines)), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in chunks
    )
