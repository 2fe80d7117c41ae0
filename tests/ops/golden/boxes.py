"""Calls of the operators on bounding boxes."""

import numpy as np

from tests.ops.golden.case import Case, array

__all__ = ["FAMILY"]


def _boxes(*shape, seed=0):
    rng = np.random.RandomState(seed)
    low = rng.uniform(0, 0.6, (*shape, 2))
    return np.concatenate([low, low + rng.uniform(0.1, 0.5, (*shape, 2))], -1).astype("float32")


def _rows(*shape, seed=0):
    rng = np.random.RandomState(seed + 9)
    kind = rng.randint(0, 3, (*shape, 1))
    score = rng.uniform(0, 1, (*shape, 1))
    return np.concatenate([kind, score, _boxes(*shape, seed=seed)], -1).astype("float32")


def iou():
    yield "corner", Case("contrib.box_iou", _boxes(5), _boxes(2, 3, seed=1))
    yield "center", Case("contrib.box_iou", _boxes(5), _boxes(4, seed=1), format="center")
    yield "apart", Case("contrib.box_iou", array(0, 0, 1, 1)[None], array(2, 2, 3, 3)[None])


def nms():
    def case(*shape, **attrs):
        return Case("contrib.box_nms", _rows(*shape), wrt=(0,), **attrs)

    yield "plain", case(12, overlap_thresh=0.3)
    yield "kinds", case(2, 12, overlap_thresh=0.2, id_index=0)
    yield "forced", case(12, overlap_thresh=0.2, id_index=0, force_suppress=True)
    yield "background", case(12, overlap_thresh=0.2, id_index=0, background_id=1)
    left_out = _rows(12)
    left_out[::4, 0] = -1
    yield "left out", Case("contrib.box_nms", left_out, overlap_thresh=0.2, id_index=0, wrt=(0,))
    yield "best", case(12, overlap_thresh=0.3, topk=4)
    yield "valid", case(12, overlap_thresh=0.3, valid_thresh=0.4)
    yield "to center", case(12, overlap_thresh=0.3, out_format="center")
    yield "from center", case(12, overlap_thresh=0.1, in_format="center", out_format="corner")


def matching():
    scores = np.random.RandomState(3).uniform(0, 1, (2, 4, 3)).astype("float32")
    yield "falling", Case("contrib.bipartite_matching", scores, threshold=0.2)
    yield "rising", Case("contrib.bipartite_matching", scores, threshold=0.6, is_ascend=True)
    yield "some", Case("contrib.bipartite_matching", scores[0], threshold=1e-12, topk=2)


def offsets():
    yield (
        "encode",
        Case(
            "contrib.box_encode",
            array([1, -1, 0, 1], [0, 1, 1, -1]),
            array([0, 2, 1, 2], [1, 1, 0, 2]),
            _boxes(2, 4),
            _boxes(2, 3, seed=2),
            array(0, 0.1, 0.2, 0),
            array(0.1, 0.1, 0.2, 0.2),
        ),
    )
    data = np.random.RandomState(5).normal(size=(2, 4, 4)).astype("float32")
    yield "decode", Case("contrib.box_decode", data, _boxes(1, 4), std0=0.1, std1=0.2, std3=0.5)
    yield "clip", Case("contrib.box_decode", data, _boxes(1, 4), clip=0.3, format="corner")


FAMILY = (iou, nms, matching, offsets)
