"""The boxes of single-shot detectors."""

import numpy as np

from tests.ops.golden.case import Case, draw

__all__ = ["FAMILY"]


def prior():
    def case(**attrs):
        return Case("contrib.MultiBoxPrior", draw(1, 2, 3, 4), **attrs)

    yield "one", case()
    yield "several", case(sizes=(0.5, 0.3), ratios=(1.0, 2.0, 0.5))
    yield "first ratio", case(sizes=(0.5, 0.3), ratios=(2.0, 1.0))
    yield "clipped", case(sizes=(0.9,), clip=True, steps=(0.4, 0.3), offsets=(0.1, 0.9))


def _anchors():
    rng = np.random.RandomState(1)
    low = rng.uniform(0, 0.6, (1, 16, 2))
    return np.concatenate([low, low + rng.uniform(0.1, 0.5, (1, 16, 2))], -1).astype("float32")


_LABELS = np.full((3, 4, 6), -1.0, "float32")
_LABELS[0, 0] = 1, 0.1, 0.1, 0.5, 0.6, 0
_LABELS[0, 1] = 0, 0.5, 0.4, 0.9, 1.0, 0
_LABELS[1, 0] = 2, 0.3, 0.2, 0.7, 0.9, 0


def target():
    def case(**attrs):
        scores = draw(3, 4, 16, low=-2, high=2)
        return Case("contrib.MultiBoxTarget", _anchors(), _LABELS, scores, tol=4, **attrs)

    yield "plain", case()
    yield "low threshold", case(overlap_threshold=0.2)
    yield "mining", case(overlap_threshold=0.3, negative_mining_ratio=2.0)
    yield "at least", case(negative_mining_ratio=1.0, minimum_negative_samples=5, ignore_label=-7.0)
    yield "mining threshold", case(negative_mining_ratio=1.0, negative_mining_thresh=0.3)
    yield "variances", case(variances=(1.0, 1.0, 0.5, 0.25))


def detection():
    def case(**attrs):
        rng = np.random.RandomState(4)
        chances = rng.dirichlet(np.ones(4), (2, 16)).transpose(0, 2, 1).astype("float32")
        offsets = rng.normal(size=(2, 64)).astype("float32")
        return Case("contrib.MultiBoxDetection", chances, offsets, _anchors(), tol=4, **attrs)

    yield "plain", case()
    yield "suppressed", case(nms_threshold=0.2)
    yield "forced", case(nms_threshold=0.2, force_suppress=True)
    yield "likely", case(threshold=0.5)
    yield "best", case(nms_topk=5, nms_threshold=0.3)
    yield "unclipped", case(clip=False, variances=(0.2, 0.2, 0.1, 0.1))


FAMILY = (prior, target, detection)
