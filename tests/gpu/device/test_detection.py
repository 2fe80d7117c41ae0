"""Boxes and regions on gpu(0) against the CPU; more than a block has threads."""

import numpy as np
import pytest

import mxcy as mx
from mxcy.base import MXNetError

GPU = mx.gpu(0)


def boxes(rng, *shape, size=0.2):
    low = rng.uniform(0, 0.8, (*shape, 2))
    return np.concatenate([low, low + rng.uniform(0.01, size, (*shape, 2))], axis=-1)


def check(function, *arrays, tolerance=1e-12, gradients=False):
    """Compare results, and gradients of the first array, with the CPU's."""
    results = []
    for ctx in (mx.cpu(), GPU):
        given = [mx.nd.array(values, ctx=ctx, dtype="float64") for values in arrays]
        given[0].attach_grad()
        with mx.autograd.record():
            outs = function(*given)
            outs = outs if isinstance(outs, list) else [outs]
        if gradients:
            rng = np.random.default_rng(9)
            heads = [mx.nd.array(rng.uniform(-1, 1, o.shape), ctx=ctx, dtype=o.dtype) for o in outs]
            mx.autograd.backward(outs, heads)
            outs = [*outs, given[0].grad]
        assert all(out.context == ctx for out in outs)
        results.append([out.asnumpy() for out in outs])
    for wanted, result in zip(*results, strict=True):
        np.testing.assert_allclose(result, wanted, rtol=tolerance, atol=tolerance)
    return results[1]


@pytest.mark.parametrize("topk", [-1, 300])
@pytest.mark.parametrize(
    "forms", [("corner", "corner"), ("center", "corner"), ("corner", "center")]
)
def test_suppression(topk, forms):
    rng = np.random.default_rng(0)
    scores = rng.integers(0, 90, (2, 700, 1)) / 90  # many are equal
    kinds = rng.integers(0, 3, (2, 700, 1))
    rows = np.concatenate([kinds, scores, boxes(rng, 2, 700)], axis=-1)
    attrs = {"overlap_thresh": 0.3, "valid_thresh": 0.1, "id_index": 0, "background_id": 1}
    (out,) = check(
        lambda x: mx.nd.contrib.box_nms(
            x, topk=topk, in_format=forms[0], out_format=forms[1], **attrs
        ),
        rows,
        gradients=True,
    )[:1]
    assert 20 < (out[0, :, 1] > 0).sum() < 600


def test_overlaps():
    rng = np.random.default_rng(1)
    check(mx.nd.contrib.box_iou, boxes(rng, 40), boxes(rng, 3, 30))


def test_single_shot_detector():
    """Targets and detections, with and without hard negative mining."""
    rng = np.random.default_rng(2)
    anchors = mx.nd.contrib.MultiBoxPrior(
        mx.nd.zeros((1, 1, 12, 10)), sizes=(0.2, 0.35), ratios=(1, 2, 0.5)
    ).asnumpy()
    labels = np.full((3, 9, 5), -1.0)
    for image, count in enumerate((9, 4, 0)):
        labels[image, :count, 0] = rng.integers(0, 4, count)
        labels[image, :count, 1:] = boxes(rng, count, size=0.4)
    labels[0, 5] = labels[0, 3]  # two boxes that want the same anchor
    scores = rng.standard_normal((3, 5, anchors.shape[1]))
    for ratio in (-1.0, 3.0):
        _, mask, classes = check(
            lambda a, b, c, r=ratio: mx.nd.contrib.MultiBoxTarget(
                a, b, c, negative_mining_ratio=r, negative_mining_thresh=0.4
            ),
            anchors,
            labels,
            scores,
            tolerance=1e-10,
        )
        assert mask.any()
        assert (classes > 0).any()
    moves = rng.standard_normal((3, 4 * anchors.shape[1]))
    probabilities = np.exp(scores) / np.exp(scores).sum(1, keepdims=True)
    for attrs in ({}, {"nms_topk": 100, "force_suppress": True, "background_id": 2, "clip": False}):
        (found,) = check(
            lambda p, m, a, attrs=attrs: mx.nd.contrib.MultiBoxDetection(
                p, m, a, threshold=0.25, nms_threshold=0.3, **attrs
            ),
            probabilities,
            moves,
            anchors,
            tolerance=1e-10,
        )
        assert (found[..., 0] >= 0).any()


@pytest.mark.parametrize("iou_loss", [False, True])
def test_proposals(iou_loss):
    rng = np.random.default_rng(3)
    scores = rng.uniform(0, 1, (2, 24, 8, 9))
    moves = rng.standard_normal((2, 48, 8, 9)) / (0.1 if iou_loss else 4)
    sizes = [[120.0, 140.0, 1.0], [100.0, 90.0, 1.5]]
    attrs = {"scales": (1, 2, 4, 8), "ratios": (0.5, 1, 2), "rpn_pre_nms_top_n": 500}
    attrs |= {"rpn_post_nms_top_n": 60, "rpn_min_size": 8, "threshold": 0.5, "output_score": True}
    check(
        lambda s, m, i: mx.nd.contrib.MultiProposal(s, m, i, iou_loss=iou_loss, **attrs),
        scores,
        moves,
        sizes,
        tolerance=1e-10,
    )


def regions(rng, count, images, extent):
    """Return image numbers and boxes, some of which extend beyond the image."""
    low = rng.uniform(-3, extent - 2, (count, 2))
    high = low + rng.uniform(0.2, extent, (count, 2))
    return np.concatenate([rng.integers(0, images, (count, 1)), low, high], axis=-1)


def test_maxima_of_regions():
    rng = np.random.default_rng(4)
    data = rng.integers(0, 6, (2, 3, 18, 20)).astype(float)  # many are equal
    check(
        lambda x, r: mx.nd.ROIPooling(x, r, pooled_size=(4, 3), spatial_scale=0.5),
        data,
        regions(rng, 30, 2, 40),
        gradients=True,
    )


@pytest.mark.parametrize("aligned", [False, True])
@pytest.mark.parametrize("samples", [-1, 2])
@pytest.mark.parametrize("sensitive", [False, True])
def test_points_of_regions(aligned, samples, sensitive):
    rng = np.random.default_rng(5)
    check(
        lambda x, r: mx.nd.contrib.ROIAlign(
            x,
            r,
            pooled_size=(2, 3),
            spatial_scale=0.5,
            sample_ratio=samples,
            position_sensitive=sensitive,
            aligned=aligned,
        ),
        rng.standard_normal((2, 12, 11, 13)),
        regions(rng, 25, 2, 26),
        gradients=True,
        tolerance=1e-11,
    )


@pytest.mark.parametrize("groups", [0, 2])
def test_regions_with_channels_of_their_own(groups):
    rng = np.random.default_rng(6)
    channels = 2 * (groups or 3) ** 2
    check(
        lambda x, r: mx.nd.contrib.PSROIPooling(
            x, r, spatial_scale=0.5, output_dim=2, pooled_size=3, group_size=groups
        ),
        rng.standard_normal((2, channels, 14, 12)),
        regions(rng, 25, 2, 26),
        gradients=True,
    )


POOLINGS = {
    "ROIPooling": lambda x, r: mx.nd.ROIPooling(x, r, pooled_size=(2, 2), spatial_scale=1),
    "ROIAlign": lambda x, r: mx.nd.contrib.ROIAlign(x, r, pooled_size=(2, 2), spatial_scale=1),
    "PSROIPooling": lambda x, r: mx.nd.contrib.PSROIPooling(
        x, r, output_dim=1, pooled_size=2, spatial_scale=1
    ),
}


@pytest.mark.parametrize("name", POOLINGS)
def test_regions_of_no_image(name):
    """The next wait raises the CPU's error."""
    for ctx in (mx.cpu(), GPU):
        x, rois = mx.nd.ones((1, 4, 4, 4), ctx=ctx), mx.nd.array([[3, 0, 0, 2, 2]], ctx=ctx)
        with pytest.raises(MXNetError, match=f"{name}.*image index out of range"):
            POOLINGS[name](x, rois).wait_to_read()
    rois = mx.nd.array([[0, 0, 0, 2, 2]], ctx=GPU)
    assert (POOLINGS[name](x, rois).asnumpy() == 1).all()  # it is raised once


def test_codes_of_boxes():
    rng = np.random.default_rng(7)
    anchors, refs = boxes(rng, 2, 300), boxes(rng, 2, 5)
    samples, matches = rng.integers(0, 2, (2, 300)), rng.integers(0, 5, (2, 300))
    arrays = samples, matches, anchors, refs, [0.1, 0, 0, 0.2], [0.1, 0.1, 0.2, 0.3]
    check(mx.nd.contrib.box_encode, *arrays)
    moves = rng.standard_normal((2, 300, 4))
    for form in ("center", "corner"):
        check(
            lambda a, b, f=form: mx.nd.contrib.box_decode(a, b, 0.1, 0.1, 0.2, 0.2, 1.5, f),
            moves,
            anchors[:1],
        )


@pytest.mark.parametrize("is_ascend", [False, True])
@pytest.mark.parametrize("topk", [-1, 5])
def test_pairs(is_ascend, topk):
    """Best pairs first; ties: the first."""
    scores = np.random.default_rng(8).integers(0, 40, (3, 17, 23)) / 40
    attrs = {"is_ascend": is_ascend, "topk": topk, "threshold": 0.5}
    partner, _ = check(lambda x: mx.nd.contrib.bipartite_matching(x, **attrs), scores)
    assert (partner >= 0).any()
