"""Deformable convolutions; MXNet has those with a mask on GPUs only."""

from tests.ops.golden.case import Case, draw

__all__ = ["FAMILY"]

_SHAPE = {"kernel": (3, 3), "num_filter": 4, "pad": (1, 1)}
_GROUPS = {
    "kernel": (3, 2),
    "num_filter": 4,
    "num_group": 2,
    "num_deformable_group": 2,
    "stride": (2, 1),
    "dilate": (1, 2),
    "pad": (1, 0),
}


def plain():
    def case(*inputs, **attrs):
        last = (3,) if len(inputs) > 3 else ()
        return Case("contrib.DeformableConvolution", *inputs, wrt=(0, 1, 2, *last), tol=20, **attrs)

    weight, bias = draw(4, 3, 3, 3), draw(4)
    yield "bias", case(draw(2, 3, 4, 5), draw(2, 18, 4, 5, low=-2, high=2), weight, bias, **_SHAPE)
    yield ("still", case(draw(2, 3, 4, 5), 0 * draw(2, 18, 4, 5), weight, no_bias=True, **_SHAPE))
    moves = draw(1, 24, 4, 4, low=-2, high=2)
    yield "groups", case(draw(1, 4, 7, 6), moves, draw(4, 2, 3, 2), no_bias=True, **_GROUPS)


FAMILY = (plain,)
