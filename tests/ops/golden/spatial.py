"""Calls of the spatial sampling operators."""

from tests.ops.golden.case import Case, draw

__all__ = ["FAMILY"]

_IMAGE = draw(2, 3, 5, 6)
_THETA = draw(2, 6, low=-1.2, high=1.2)


def grid():
    yield (
        "affine",
        Case(
            "GridGenerator", _THETA, wrt=(0,), tol=4, transform_type="affine", target_shape=(4, 3)
        ),
    )
    flow = draw(2, 2, 4, 5, low=-3, high=3)
    yield "warp", Case("GridGenerator", flow, wrt=(0,), tol=4, transform_type="warp")


def sampler():
    def case(data, grid):
        return Case("BilinearSampler", data, grid, wrt=(0, 1), tol=20)

    yield "inside", case(_IMAGE, draw(2, 2, 4, 7, low=-0.95, high=0.95))
    yield "outside", case(_IMAGE, draw(2, 2, 12, 13, low=-1.7, high=1.7))
    yield "far", case(_IMAGE, draw(2, 2, 3, 4, low=-1e4, high=1e4))


def transformer():
    def case(shape):
        return Case(
            "SpatialTransformer",
            _IMAGE,
            _THETA,
            wrt=(0, 1),
            tol=20,
            target_shape=shape,
            transform_type="affine",
            sampler_type="bilinear",
        )

    yield "smaller", case((3, 4))
    yield "larger", case((11, 13))


FAMILY = (grid, sampler, transformer)
