"""im2col and col2im in two dimensions; MXNet fails in one and three."""

from tests.ops.golden.case import Case, draw

__all__ = ["FAMILY"]

_WINDOW = {"kernel": (3, 2), "stride": (2, 1), "dilate": (1, 2), "pad": (1, 2)}


def columns():
    def case(*shape, **attrs):
        return Case("im2col", draw(*shape), wrt=(0,), **attrs)

    yield "plain", case(2, 3, 4, 5, kernel=(2, 3))
    yield "window", case(1, 2, 5, 6, **_WINDOW)


def image():
    def case(*shape, **attrs):
        return Case("col2im", draw(*shape), wrt=(0,), tol=2, **attrs)

    yield "plain", case(2, 18, 9, kernel=(2, 3), output_size=(4, 5))
    yield "window", case(1, 12, 24, output_size=(5, 6), **_WINDOW)


FAMILY = (columns, image)
