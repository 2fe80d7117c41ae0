"""Proposals of regions."""

import numpy as np

from tests.ops.golden.case import Case, array, draw

__all__ = ["FAMILY"]

_ATTRS = {"scales": (2, 4), "ratios": (0.5, 1, 2), "rpn_min_size": 8, "output_score": True}


def _scores(batch):
    """Scores of which no two are equal."""
    count = batch * 12 * 4 * 5
    order = np.random.RandomState(3).permutation(count).reshape(batch, 12, 4, 5)
    return (order / count).astype("float32")


def proposal():
    def case(info=(60, 78, 1), **attrs):
        moves = draw(1, 24, 4, 5, low=-0.4, high=0.4)
        return Case(
            "contrib.Proposal", _scores(1), moves, array(info), tol=4, **{**_ATTRS, **attrs}
        )

    yield "few", case(rpn_post_nms_top_n=10)
    yield "all", case(rpn_post_nms_top_n=90, threshold=0.5)
    yield "best", case(rpn_pre_nms_top_n=12, rpn_post_nms_top_n=20)
    yield "margin", case((40, 50, 1.5), rpn_post_nms_top_n=20, rpn_min_size=16)
    yield "corners", case(rpn_post_nms_top_n=10, iou_loss=True)
    yield "plain", case(rpn_post_nms_top_n=10, output_score=False)


def multi():
    def case(**attrs):
        moves, info = draw(2, 24, 4, 5, low=-0.4, high=0.4), array([60, 78, 1], [40, 50, 1.5])
        return Case("contrib.MultiProposal", _scores(2), moves, info, tol=4, **{**_ATTRS, **attrs})

    yield "few", case(rpn_post_nms_top_n=10)
    yield "all", case(rpn_post_nms_top_n=90, threshold=0.5)
    yield "corners", case(rpn_post_nms_top_n=10, iou_loss=True)


FAMILY = (proposal, multi)
