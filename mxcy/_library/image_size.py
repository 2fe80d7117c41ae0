"""Image sizes from file headers, checked before an image is decoded."""

import struct
from typing import Any

__all__ = ["least_bytes", "pixel_size"]

_PNG = b"\x89PNG\r\n\x1a\n"
_JPEG = b"\xff\xd8"
# Start-of-frame markers; C4, C8 and CC are tables.
_JPEG_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_JPEG_ALONE = frozenset((0x01, *range(0xD0, 0xD9)))  # markers without a segment
_PNG_CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
_DEFLATE = 1032  # the highest compression ratio


def pixel_size(content: Any) -> tuple[int, int] | None:
    """Read width and height of a PNG, JPEG, GIF, BMP or WebP image.

    Parameters
    ----------
    content : bytes-like
        The content of the file.

    Returns
    -------
    tuple of int or None
        None for other formats and for damaged headers.
    """
    content = memoryview(content).cast("B")
    head = bytes(content[:32])
    try:
        if head.startswith(_PNG):
            return struct.unpack_from(">2I", head, 16)
        if head.startswith(_JPEG):
            return _jpeg_size(content)
        if head[:6] in (b"GIF87a", b"GIF89a"):
            return struct.unpack_from("<2H", head, 6)
        if head.startswith(b"BM"):
            width, height = struct.unpack_from("<2i", head, 18)
            return abs(width), abs(height)
        if head.startswith(b"RIFF") and head[8:12] == b"WEBP":
            return _webp_size(head)
    except struct.error:
        pass
    return None


def least_bytes(content: bytes, width: int, height: int) -> int:
    """The minimum size in bytes of a PNG image with these dimensions; 0 for other formats."""
    head = bytes(memoryview(content).cast("B")[:26])
    if not head.startswith(_PNG) or len(head) < 26:
        return 0
    bits = head[24] * _PNG_CHANNELS.get(head[25], 1)
    return (width * bits + 7) // 8 * height // _DEFLATE


def _jpeg_size(content: bytes) -> tuple[int, int] | None:
    place = 2
    while place + 9 <= len(content):
        if content[place] != 0xFF:
            return None
        marker = content[place + 1]
        if marker == 0xFF or marker in _JPEG_ALONE:
            place += 1 if marker == 0xFF else 2
            continue
        if marker in _JPEG_FRAMES:
            height, width = struct.unpack_from(">2H", content, place + 5)
            return width, height
        (length,) = struct.unpack_from(">H", content, place + 2)
        place += 2 + length
    return None


def _webp_size(head: bytes) -> tuple[int, int] | None:
    if head[12:16] == b"VP8X":
        width, height = head[24:27], head[27:30]
        return int.from_bytes(width, "little") + 1, int.from_bytes(height, "little") + 1
    if head[12:16] == b"VP8L":
        (bits,) = struct.unpack_from("<I", head, 21)
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    width, height = struct.unpack_from("<2H", head, 26)
    return width & 0x3FFF, height & 0x3FFF
