"""Sliding-window attention, new in MXNet 2.0."""

import numpy as np

from tests.ops.golden.case import Case, draw

__all__ = ["FAMILY"]

_DILATION = np.array([1, 2], "int32")
_SIDES = {"both": {"w": 2, "symmetric": True}, "left": {"w": 3, "symmetric": False}}


def _cases(name, *inputs, wrt):
    for side, attrs in _SIDES.items():
        places = 2 * attrs["w"] + 1 if attrs["symmetric"] else attrs["w"] + 1
        arrays = [make(places) if callable(make) else make for make in inputs]
        yield (
            side,
            Case(f"contrib.sldwin_atten_{name}", *arrays, wrt=wrt, version=2, tol=4, **attrs),
        )


def score():
    return _cases("score", draw(2, 7, 2, 3), draw(2, 7, 2, 3, seed=1), _DILATION, wrt=(0, 1))


def context():
    yield from _cases(
        "context", lambda n: draw(2, 7, 2, n), draw(2, 7, 2, 4, seed=1), _DILATION, wrt=(0, 1)
    )


def mask():
    lengths = np.array([7, 4], "int32")
    yield from _cases("mask_like", lambda n: draw(2, 7, 2, n), _DILATION, lengths, wrt=())


FAMILY = (score, context, mask)
