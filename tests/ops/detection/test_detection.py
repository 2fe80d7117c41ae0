"""Detection and spatial kernels against the references, on inputs larger than the samples."""

import numpy as np
import pytest

from mxcy._library import front
from mxcy.base import MXNetError
from mxcy.ops.core.record import find
from tests.ops.test_records import to_array

RNG = np.random.default_rng(5)


def draw(*shape, low=-1.0, high=1.0):
    return RNG.uniform(low, high, shape)


def boxes(*shape, size=100.0):
    low = draw(*shape, 2, low=0, high=0.7 * size)
    return np.concatenate([low, low + draw(*shape, 2, low=0.02 * size, high=0.3 * size)], -1)


def rows(batch, count):
    """Scored boxes of three classes, with many equal scores."""
    kind = RNG.integers(-1, 3, (batch, count, 1))
    return np.concatenate(
        [kind, RNG.integers(0, 40, (batch, count, 1)) / 40, boxes(batch, count)], -1
    )


def regions(count, images, size=100.0):
    return np.concatenate([RNG.integers(0, images, (count, 1)), boxes(count, size=size)], -1)


def flat(batch, anchors):
    """Probabilities of four classes, and offsets, for a detector."""
    scores = draw(batch, 4, anchors, low=0)
    return scores / scores.sum(1, keepdims=True), draw(batch, 4 * anchors, low=-0.5, high=0.5)


def ordered(*shape):
    """Distinct numbers from [0, 1)."""
    count = int(np.prod(shape))
    return RNG.permutation(count).reshape(shape) / count


def turned(count, images):
    """Rotated regions of 100 x 100 pixels, some partly outside."""
    return np.concatenate(
        [
            RNG.integers(-1, images, (count, 1)),
            draw(count, 2, low=0, high=100),
            draw(count, 2, low=1, high=60),
            draw(count, 1, low=-90, high=90),
        ],
        -1,
    )


def labelled(batch, count):
    """Boxes of classes, the last one unused, with a number more than needed."""
    actual = np.concatenate(
        [RNG.integers(0, 4, (batch, count, 1)), boxes(batch, count, size=1), draw(batch, count, 1)],
        -1,
    )
    actual[:, -1, 0] = -1
    return actual


# Two boxes that are alike compete for an anchor; the third image has none.
TARGETS = (boxes(1, 203, size=1), labelled(3, 7), ordered(3, 5, 203))
TARGETS[1][0, 3, 1:5] = TARGETS[1][0, 5, 1:5]
TARGETS[1][2, 0, 0] = -1
MOVED = {
    "pooled_size": 7,
    "group_size": 3,
    "output_dim": 5,
    "spatial_scale": 0.25,
    "part_size": 2,
    "sample_per_part": 3,
    "trans_std": 0.2,
}
PROPOSALS = (
    ordered(2, 12, 9, 11),
    draw(2, 24, 9, 11, low=-0.4, high=0.4),
    np.array([[140, 170, 1.0], [100, 120, 1.5]]),
)
SCALES = {"scales": (2, 4), "ratios": (0.5, 1, 2)}

WINDOWS = {"around": {"w": 20, "symmetric": True}, "before": {"w": 33, "symmetric": False}}
WIDTHS = {"around": 41, "before": 34}
DILATION = np.array([1, 3, 150], "int32")

CASES = {
    "iou": ("_contrib_box_iou", (boxes(5, 7), boxes(41)), {}),
    "iou of centres": ("_contrib_box_iou", (boxes(3), boxes(41)), {"format": "center"}),
    "nms": ("_contrib_box_nms", (rows(2, 203),), {"overlap_thresh": 0.2}),
    "nms by kind": (
        "_contrib_box_nms",
        (rows(2, 203),),
        {"overlap_thresh": 0.2, "id_index": 0, "valid_thresh": 0.1, "topk": 90, "background_id": 1},
    ),
    "nms of all kinds": (
        "_contrib_box_nms",
        (rows(1, 203),),
        {"overlap_thresh": 0.3, "id_index": 0, "force_suppress": True, "out_format": "center"},
    ),
    "nms of centres": (
        "_contrib_box_nms",
        (rows(1, 99),),
        {"overlap_thresh": 0.3, "in_format": "center", "out_format": "corner"},
    ),
    "nms of nothing": ("_contrib_box_nms", (rows(1, 20),), {"valid_thresh": 2}),
    "detection": ("_contrib_MultiBoxDetection", (*flat(2, 150), boxes(1, 150, size=1)), {}),
    "detection of the best": (
        "_contrib_MultiBoxDetection",
        (*flat(2, 150), boxes(1, 150, size=1)),
        {"nms_topk": 60, "threshold": 0.4, "background_id": 2, "nms_threshold": 0.3},
    ),
    "detection of any class": (
        "_contrib_MultiBoxDetection",
        (*flat(1, 150), boxes(1, 150, size=1)),
        {"force_suppress": True, "clip": False, "variances": (0.2, 0.1, 0.3, 0.1)},
    ),
    "proposal": (
        "_contrib_MultiProposal",
        PROPOSALS,
        {**SCALES, "rpn_pre_nms_top_n": 300, "rpn_post_nms_top_n": 60},
    ),
    "proposal of corners": (
        "_contrib_MultiProposal",
        PROPOSALS,
        {**SCALES, "rpn_post_nms_top_n": 400, "iou_loss": True, "rpn_min_size": 24},
    ),
    "align": (
        "_contrib_ROIAlign",
        (draw(2, 3, 25, 30), regions(9, 2)),
        {"pooled_size": (14, 13), "spatial_scale": 0.25},
    ),
    "align by parts": (
        "_contrib_ROIAlign",
        (draw(2, 18, 25, 30), regions(9, 2)),
        {
            "pooled_size": (3, 3),
            "spatial_scale": 0.3,
            "position_sensitive": True,
            "sample_ratio": 2,
            "aligned": True,
        },
    ),
    "align's gradient": (
        "_roi_align_grad",
        (draw(9, 2, 14, 13), regions(9, 2), draw(2, 2, 25, 30)),
        {"pooled_size": (14, 13), "spatial_scale": 0.25},
    ),
    "align's gradient by parts": (
        "_roi_align_grad",
        (draw(9, 2, 3, 3), regions(9, 2), draw(2, 18, 25, 30)),
        {"pooled_size": (3, 3), "spatial_scale": 0.3, "position_sensitive": True, "aligned": True},
    ),
    "pooling": (
        "ROIPooling",
        (draw(2, 3, 25, 30), regions(9, 2, 140)),
        {"pooled_size": (7, 6), "spatial_scale": 0.25},
    ),
    "turned align": (
        "_contrib_RROIAlign",
        (draw(2, 3, 25, 30), turned(9, 2)),
        {"pooled_size": (14, 13), "spatial_scale": 0.25},
    ),
    "turned align's gradient": (
        "_rroi_align_grad",
        (draw(9, 2, 14, 13), turned(9, 2), draw(2, 2, 25, 30)),
        {"pooled_size": (14, 13), "spatial_scale": 0.25, "sampling_ratio": 2},
    ),
    "pooling by parts": (
        "_contrib_PSROIPooling",
        (draw(2, 27, 25, 30), regions(9, 2, 140)),
        {"pooled_size": 7, "group_size": 3, "output_dim": 3, "spatial_scale": 0.25},
    ),
    "pooling's gradient by parts": (
        "_psroi_pooling_grad",
        (draw(9, 3, 7, 7), regions(9, 2, 140), draw(2, 27, 25, 30)),
        {"pooled_size": 7, "group_size": 3, "output_dim": 3, "spatial_scale": 0.25},
    ),
    "parts that move": (
        "_contrib_DeformablePSROIPooling",
        (draw(2, 45, 25, 30), regions(9, 2, 140), draw(9, 4, 2, 2)),
        MOVED,
    ),
    "parts that move, their gradients": (
        "_deformable_psroi_grad",
        (draw(9, 5, 7, 7), draw(2, 45, 25, 30), regions(9, 2, 140), draw(9, 4, 2, 2)),
        MOVED,
    ),
    "targets": ("_contrib_MultiBoxTarget", TARGETS, {}),
    "targets of few anchors": (
        "_contrib_MultiBoxTarget",
        TARGETS,
        {
            "overlap_threshold": 0.7,
            "negative_mining_ratio": 2.5,
            "negative_mining_thresh": 0.3,
            "variances": (0.2, 0.1, 0.3, 0.4),
            "ignore_label": -2,
        },
    ),
    "codes": (
        "_contrib_box_encode",
        (
            RNG.integers(0, 2, (2, 203)),
            RNG.integers(-7, 7, (2, 203)),
            boxes(2, 203),
            boxes(2, 7),
            draw(4),
            draw(4, low=0.1),
        ),
        {},
    ),
    "codes back": (
        "_contrib_box_decode",
        (draw(2, 203, 4), boxes(1, 203)),
        {"format": "corner", "clip": 0.3, "std1": 0.1, "std2": 0.2},
    ),
    "codes of centres back": ("_contrib_box_decode", (draw(2, 203, 4), boxes(2, 203)), {}),
    "sampler": ("BilinearSampler", (draw(2, 3, 9, 8), draw(2, 2, 15, 19, low=-1.5, high=1.5)), {}),
    "sampler's gradient": (
        "_bilinear_sampler_grad",
        (draw(2, 3, 15, 19), draw(2, 3, 9, 8), draw(2, 2, 15, 19, low=-1.5, high=1.5)),
        {},
    ),
    "deformable's gradient": (
        "_modulated_deformable_convolution_grad",
        (
            draw(2, 6, 13, 17),
            draw(2, 4, 13, 17),
            draw(2, 36, 13, 17, low=-3, high=3),
            draw(2, 18, 13, 17),
            draw(6, 2, 3, 3),
        ),
        {
            "kernel": (3, 3),
            "pad": (1, 1),
            "num_filter": 6,
            "num_group": 2,
            "num_deformable_group": 2,
        },
    ),
    "correlation": (
        "Correlation",
        (draw(1, 5, 12, 41), draw(1, 5, 12, 41)),
        {"kernel_size": 3, "max_displacement": 10, "stride2": 2, "pad_size": 10, "stride1": 2},
    ),
    "correlation's gradient": (
        "_correlation_grad",
        (draw(1, 121, 5, 20), draw(1, 5, 12, 41), draw(1, 5, 12, 41)),
        {"kernel_size": 3, "max_displacement": 10, "stride2": 2, "pad_size": 10, "stride1": 2},
    ),
    "larger images": ("_image_resize", (draw(2, 19, 23, 3),), {"size": (57, 31)}),
    "smaller images": ("_image_resize", (draw(2, 119, 83, 1),), {"size": (57, 31)}),
    "images of half the size": ("_image_resize", (draw(18, 24, 4),), {"size": (12, 9)}),
    "nearest pixels": ("_image_resize", (draw(2, 19, 23, 4),), {"size": (57, 11), "interp": 0}),
    "normal images": (
        "_image_normalize",
        (draw(2, 3, 19, 23),),
        {"mean": (0.1, 0.2, 0.3), "std": (0.5, 0.6, 0.7)},
    ),
    "means of parts": (
        "_contrib_AdaptiveAvgPooling2D",
        (draw(2, 3, 19, 23),),
        {"output_size": (5, 9)},
    ),
    "mean of all": ("_contrib_AdaptiveAvgPooling2D", (draw(2, 3, 19, 23),), {}),
    "patches": (
        "im2col",
        (draw(2, 3, 19, 41),),
        {"kernel": (3, 5), "stride": (2, 3), "dilate": (2, 1), "pad": (3, 2)},
    ),
    "patches back": (
        "col2im",
        (draw(2, 36, 760),),
        {"kernel": (3, 4), "pad": (1, 1), "output_size": (19, 41)},
    ),
    "squares": (
        "UpSampling",
        (draw(2, 3, 5, 9), draw(2, 4, 10, 18)),
        {"scale": 4, "sample_type": "nearest", "num_args": 2},
    ),
    "squares summed": (
        "UpSampling",
        (draw(2, 3, 5, 10), draw(2, 3, 15, 30), draw(2, 3, 3, 6)),
        {"scale": 3, "sample_type": "nearest", "num_args": 3, "multi_input_mode": "sum"},
    ),
    "sums of squares": ("_shrink", (draw(2, 3, 15, 27),), {"scale": 3}),
    **{
        f"{name} in windows {attrs}": (operator, (*arrays(WIDTHS[attrs]), DILATION), WINDOWS[attrs])
        for attrs in ("around", "before")
        for name, operator, arrays in (
            (
                "scores",
                "_contrib_sldwin_atten_score",
                lambda places: (draw(2, 143, 3, 9), draw(2, 143, 3, 9)),
            ),
            (
                "contexts",
                "_contrib_sldwin_atten_context",
                lambda places: (draw(2, 143, 3, places), draw(2, 143, 3, 9)),
            ),
            (
                "what steps send",
                "_sldwin_atten_sent",
                lambda places: (draw(2, 143, 3, places), draw(2, 143, 3, 9)),
            ),
        )
    },
    "mask of windows": (
        "_contrib_sldwin_atten_mask_like",
        (draw(2, 143, 3, 41), DILATION, np.array([143, 70], "int32")),
        WINDOWS["around"],
    ),
    "alignments": (
        "CTCLoss",
        (
            draw(40, 3, 20, low=-5, high=5),
            RNG.integers(1, 20, (3, 17)),
            np.array([40, 37, 1]),
            np.array([17, 0, 9]),
        ),
        {"use_data_lengths": True, "use_label_lengths": True},
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_kernel_equals_reference(name):
    operator, inputs, attrs = CASES[name]
    record = find(operator)
    arrays = tuple(
        to_array(values if values.dtype == np.int32 else values.astype(float)) for values in inputs
    )
    kernel = record.kernels[0]
    actual, _ = front.execute(record, arrays, attrs, kernel=kernel.name)
    wanted, _ = front.execute(record, arrays, attrs, kernel="ref")
    for got, want in zip(actual, wanted, strict=True):
        np.testing.assert_allclose(
            got.numpy_view(),
            want.numpy_view(),
            rtol=1e-9,
            atol=1e-9 * np.abs(want.numpy_view()).max(),
        )
        assert np.ptp(want.numpy_view()) > 0 or name == "nms of nothing"


@pytest.mark.parametrize("kernel", ["window_score", "ref"])
def test_windows_without_dilation_are_refused(kernel):
    arrays = (draw(1, 4, 2, 3), draw(1, 4, 2, 3), np.array([1, 0], "int32"))
    record = find("_contrib_sldwin_atten_score")
    with pytest.raises(MXNetError, match="dilation: expected 1 or more"):
        front.execute(record, tuple(map(to_array, arrays)), WINDOWS["around"], kernel=kernel)


@pytest.mark.parametrize("name", ["align", "turned align", "pooling", "pooling by parts"])
def test_regions_of_no_image_are_refused(name):
    operator, (data, rois), attrs = CASES[name]
    rois = rois.copy()
    rois[3, 0] = 2
    arrays = tuple(to_array(values) for values in (data, rois))
    for kernel in (find(operator).kernels[0].name, "ref"):
        with pytest.raises((IndexError, MXNetError), match="image|out of bounds"):
            front.execute(find(operator), arrays, attrs, kernel=kernel)
