"""Pooling of regions."""

import numpy as np

from tests.ops.golden.case import Case, draw

__all__ = ["FAMILY"]

_IMAGES = draw(2, 8, 12, 10)


def _regions(seed=0):
    rng = np.random.RandomState(seed)
    low = rng.uniform(-1, 14, (6, 2))
    number = rng.randint(0, 2, (6, 1))
    return np.concatenate([number, low, low + rng.uniform(0, 12, (6, 2))], 1).astype("float32")


def pooling():
    def case(**attrs):
        return Case("ROIPooling", _IMAGES, _regions(), wrt=(0,), **attrs)

    yield "half", case(pooled_size=(3, 2), spatial_scale=0.5)
    yield "many bins", case(pooled_size=(7, 7), spatial_scale=0.7)


def align():
    def case(**attrs):
        return Case("contrib.ROIAlign", _IMAGES, _regions(), wrt=(0,), tol=4, **attrs)

    yield "plain", case(pooled_size=(3, 2), spatial_scale=0.5)
    yield "samples", case(pooled_size=(2, 2), spatial_scale=0.7, sample_ratio=2)
    yield "aligned", case(pooled_size=(2, 3), spatial_scale=0.7, aligned=True, sample_ratio=3)
    yield "sensitive", case(pooled_size=(2, 2), spatial_scale=0.5, position_sensitive=True)


FAMILY = (pooling, align)
