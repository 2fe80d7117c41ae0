"""Seeded damage to the bytes of files."""

import random
import struct

__all__ = ["damaged", "generator"]

_NUMBERS = (0, 1, 2, 3, 7, 127, 128, 255, 256, 32767, 65535, 2**31 - 1, 2**31, 2**32 - 1, 2**40)
_NUMBERS += (2**62, 2**63 - 1, 2**63, 2**64 - 1)
_WORDS = (
    b"null",
    b"NaN",
    b"-1",
    b"1e999",
    b"{}",
    b"[]",
    b'""',
    b"\xff\xfe",
    b"\0" * 8,
    b"[" * 2000,
    b'{"a":' * 1000,
    b"9" * 400,
    b"\xc3\x28",
    b"\n",
    b"\t",
    b",",
    b"-",
    b".",
    b" ",
    b"1:1",
)


def generator(seed):
    """The random generator of a case."""
    return random.Random(seed)


def damaged(content, rng, most=4):
    """Apply one to `most` changes to a file: bits, bytes, numbers, cuts, copies, words."""
    content = bytearray(content)
    for _ in range(rng.randint(1, most)):
        rng.choice(_CHANGES)(content, rng)
    return bytes(content)


def _place(content, rng):
    # Sizes are in headers.
    return rng.randrange(min(len(content), rng.choice((16, 128, len(content) + 1))) + 1)


def _flip(content, rng):
    if content:
        place = min(_place(content, rng), len(content) - 1)
        content[place] ^= 1 << rng.randrange(8)


def _byte(content, rng):
    if content:
        place = min(_place(content, rng), len(content) - 1)
        content[place] = rng.choice((0, 1, 255, rng.randrange(256)))


def _number(content, rng):
    form = rng.choice(("<I", ">I", "<Q", "<H", "<i"))
    size = struct.calcsize(form)
    value = rng.choice(_NUMBERS) % 2 ** (8 * size)
    place = _place(content, rng)
    content[place : place + size] = struct.pack(form.upper(), value)


def _cut(content, rng):
    del content[_place(content, rng) :]


def _remove(content, rng):
    place = _place(content, rng)
    del content[place : place + rng.choice((1, 2, 4, 8, 60))]


def _repeat(content, rng):
    first, size = _place(content, rng), rng.choice((1, 4, 8, 60, 400))
    place = _place(content, rng)
    content[place:place] = content[first : first + size] * rng.choice((1, 1, 2, 50))


def _word(content, rng):
    place = _place(content, rng)
    content[place : place + rng.choice((0, 1, 4))] = rng.choice(_WORDS)


def _digits(content, rng):
    places = [i for i, byte in enumerate(content) if 48 <= byte <= 57]
    if places:
        place = rng.choice(places)
        number = str(rng.choice((*_NUMBERS, -1, -7, 1.5, "1e400"))).encode()
        content[place : place + 1] = number


_CHANGES = (_flip, _byte, _number, _number, _cut, _remove, _repeat, _word, _digits)
