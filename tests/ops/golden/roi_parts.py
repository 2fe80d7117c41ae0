"""Position-sensitive and rotated region pooling."""

import numpy as np

from tests.ops.golden.case import Case, draw

__all__ = ["FAMILY"]

_IMAGES = draw(2, 16, 12, 10)


def _regions(seed=0):
    rng = np.random.RandomState(seed)
    low = rng.uniform(-1, 14, (6, 2))
    number = rng.randint(0, 2, (6, 1))
    return np.concatenate([number, low, low + rng.uniform(0, 12, (6, 2))], 1).astype("float32")


def sensitive():
    def case(**attrs):
        return Case("contrib.PSROIPooling", _IMAGES, _regions(), wrt=(0,), tol=4, **attrs)

    yield "groups", case(spatial_scale=0.5, output_dim=4, pooled_size=2)
    yield "shared", case(spatial_scale=0.7, output_dim=4, pooled_size=3, group_size=2)
    yield "many", case(spatial_scale=0.25, output_dim=1, pooled_size=7, group_size=4)


def deformable():
    def case(*inputs, **attrs):
        wrt = (0, 2) if inputs else (0,)
        return Case(
            "contrib.DeformablePSROIPooling",
            _IMAGES,
            _regions(),
            *inputs,
            wrt=wrt,
            tol=20,
            output_dim=4,
            group_size=2,
            **attrs,
        )

    yield "still", case(spatial_scale=0.5, pooled_size=2, no_trans=True, sample_per_part=3)
    moves = draw(6, 4, 3, 3)
    yield "moved", case(moves, spatial_scale=0.7, pooled_size=3, sample_per_part=2, trans_std=0.1)
    yield (
        "parts",
        case(draw(6, 2, 2, 2), spatial_scale=0.5, pooled_size=4, part_size=2, trans_std=0.2),
    )


def turned():
    def case(**attrs):
        rng = np.random.RandomState(1)
        number, turn = rng.randint(0, 2, (6, 1)), rng.uniform(-100, 100, (6, 1))
        places = rng.uniform(0, 20, (6, 2)), rng.uniform(0, 16, (6, 2))
        regions = np.concatenate([number, *places, turn], 1).astype("float32")
        return Case("contrib.RROIAlign", _IMAGES, regions, tol=20, **attrs)

    yield "plain", case(pooled_size=(3, 2), spatial_scale=0.5)
    yield "samples", case(pooled_size=(2, 2), spatial_scale=0.7, sampling_ratio=2)


FAMILY = (sensitive, deformable, turned)
