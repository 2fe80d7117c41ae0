"""Calls of UpSampling."""

from .case import Case, normal


def nearest():
    shared = {"sample_type": "nearest", "scale": 2}
    yield "one", Case("UpSampling", normal(2, 3, 2, 4), num_args=1, wrt=(0,), **shared)
    images = normal(1, 2, 4, 4), normal(1, 3, 2, 2)
    yield "concat", Case("UpSampling", *images, num_args=2, wrt=(0, 1), **shared)
    images = normal(1, 2, 2, 4), normal(1, 2, 4, 8)
    yield (
        "sum",
        Case("UpSampling", *images, num_args=2, multi_input_mode="sum", wrt=(0, 1), **shared),
    )


def bilinear():
    for scale in (2, 3, 4):
        extent = 2 * scale - scale % 2
        yield (
            str(scale),
            Case(
                "UpSampling",
                normal(2, 3, 3, 2),
                normal(3, 1, extent, extent),
                sample_type="bilinear",
                scale=scale,
                num_filter=3,
                num_args=2,
                wrt=(0, 1),
            ),
        )


FAMILY = (nearest, bilinear)
