"""Calls that once crashed, hung or raised Python's own errors, by operator name."""

import json

import numpy as np
import pytest

import mxcy as mx
from mxcy.base import MXNetError

nd = mx.nd


def zeros(*shape, dtype="float32"):
    return nd.array(np.zeros(shape, dtype), dtype=dtype)


def run_json(op, attrs, *arrays):
    """Run one operator that a symbol's JSON names, on arrays; its first output."""
    n = len(arrays)
    nodes = [{"op": "null", "name": f"x{i}", "inputs": []} for i in range(n)]
    texts = {name: str(value) for name, value in attrs.items()}
    nodes.append(
        {"op": op, "name": "node", "attrs": texts, "inputs": [[i, 0, 0] for i in range(n)]}
    )
    text = json.dumps({"nodes": nodes, "arg_nodes": list(range(n)), "heads": [[n, 0, 0]]})
    symbol = mx.sym.load_json(text)
    outs = symbol.bind(mx.cpu(), {f"x{i}": x for i, x in enumerate(arrays)}).forward()
    return outs[0].asnumpy()


BOX = nd.array([[0, 0, 0, 3, 3]])
IMAGE = nd.array(np.arange(16).reshape(1, 1, 4, 4))
ALIGN = {"pooled_size": (2, 2), "spatial_scale": 1.0}
CONV = {"kernel": (3, 3), "num_filter": 2}

#: internal operators as a file may name them: attributes, inputs, and what the message tells
INTERNAL = {
    "_backward_pad": (
        {"mode": "edge", "pad_width": (0, 0, 0, 0, 1, 1, 1, 1), "shape": (1, 1, 9, 9)},
        (zeros(1, 1, 4, 4),),
        "data",
    ),
    "_backward_take": ({"axis": 0, "mode": "clip", "shape": (9, 9)}, (zeros(2), zeros(50)), "grad"),
    "_backward_along": ({"axis": 1, "shape": (4, 3)}, (zeros(8), zeros(4)), "grad"),
    "_backward_diag": ({"shape": (3, 4)}, (zeros(99),), "data"),
    "_backward_slice": ({"begin": (0,), "end": (9,), "shape": (3,)}, (zeros(9),), "data"),
    "_backward_SequenceLast": ({"axis": 0, "shape": (9, 9)}, (zeros(2), zeros(9)), "grad"),
    "_take_along": ({"axis": 1, "taken": 900}, (zeros(2, 3), zeros(2, 3)), "index"),
    "_modulated_deformable_convolution_grad": (
        CONV,
        (
            zeros(1, 2, 9, 9),
            zeros(1, 1, 4, 4),
            zeros(1, 18, 2, 2),
            zeros(1, 9, 2, 2),
            zeros(2, 1, 3, 3),
        ),
        "grads",
    ),
    "_deformable_convolution_grad": (
        CONV,
        (zeros(1, 2, 2, 2), zeros(1, 1, 4, 4), zeros(1), zeros(2, 1, 3, 3)),
        "offset",
    ),
    "_roi_align_grad": (ALIGN, (zeros(1, 1, 9, 9), BOX, IMAGE), "grads"),
    "_rroi_align_grad": (ALIGN, (zeros(1, 1, 2, 2), BOX, IMAGE), "rois"),
    "_roi_pooling_grad": ({}, (zeros(1, 1, 2, 2), BOX, zeros(1), IMAGE), "places"),
    "_prelu_grad": ({}, (zeros(2), zeros(2, 3), zeros(3)), "grad"),
    "_leaky_grad": ({"act_type": "leaky"}, (zeros(1), zeros(2, 3)), "grad"),
    "_activation_grad": ({"act_type": "relu"}, (zeros(1), zeros(2, 3)), "grad"),
    "_correlation_grad": ({}, (zeros(1), IMAGE, IMAGE), "grads"),
    "_bilinear_sampler_grad": ({}, (zeros(1), IMAGE, zeros(1, 2, 3, 3)), "grads"),
    "_softmax_output_grad": ({}, (zeros(4, 5), zeros(1)), "label"),
    "_pooling_grad": ({"kernel": (2, 2)}, (zeros(1), IMAGE, zeros(1, 1, 3, 3)), "grad"),
    "_conv_data": ({**CONV, "spatial": (99, 99)}, (zeros(1, 2, 2, 2), zeros(2, 1, 3, 3)), "grad"),
    "_conv_weight": (CONV, (IMAGE, zeros(1, 2, 9, 9)), "grad"),
    "_embedding_grad": ({"input_dim": 3}, (zeros(2, 3), zeros(50)), "grad"),
    "_strided_dot": (
        {
            "sizes": (1, 1, 2, 2, 2),
            "lhs_place": (0, 0, 0, 2, 1),
            "rhs_place": (7, 0, 0, 2, 1),
            "out_place": (0, 0, 0, 2, 1),
            "shape": (2, 2),
        },
        (zeros(2, 2), zeros(2, 2)),
        "rhs_place",
    ),
    "_split_v2": ({"indices": (0,), "sections": 2**31 - 1}, (zeros(4),), "sections"),
    "_sg_onednn_conv": (
        {**CONV, "no_bias": True, "algo": "fc_onednn", "packed": 1},
        (IMAGE, zeros(1, dtype="uint8")),
        "algo",
    ),
}


@pytest.mark.parametrize("name", INTERNAL)
def test_graph_files_with_mismatched_shapes_are_refused(name):
    attrs, arrays, argument = INTERNAL[name]
    with pytest.raises(MXNetError, match=argument) as caught:
        run_json(name, attrs, *arrays)
    assert name in str(caught.value)


def test_graph_files_with_wrong_numbers_of_inputs_are_refused():
    with pytest.raises(MXNetError, match="inputs"):
        attrs = {"axis": 0, "mode": "clip", "shape": (2, 2)}
        run_json("_backward_take", attrs, zeros(2, 2), zeros(2), zeros(2))


EMPTY = zeros(1, 1, 0, 4)
WEIGHT = zeros(3)

REFUSED = {
    "Convolution": (
        lambda: nd.Convolution(
            IMAGE, zeros(2, 1, 3, 3), no_bias=True, stride=(2**63 - 1, 1), **CONV
        ),
        "stride: expected at most 2147483647",
    ),
    "Pooling": (
        lambda: nd.Pooling(IMAGE, kernel=(2, 2), stride=(1, 2**63 - 1), pooling_convention="full"),
        "stride: expected at most 2147483647",
    ),
    "_contrib_mrcnn_mask_target": (
        lambda: nd.contrib.mrcnn_mask_target(
            zeros(1, 1, 4),
            IMAGE,
            zeros(1, 1, dtype="int32"),
            zeros(1, 1, dtype="int32"),
            num_rois=1,
            num_classes=2,
            mask_size=(2, 2),
            sample_ratio=2**31 - 1,
        ),
        "sample_ratio: expected at most 1024",
    ),
    "SequenceLast": (lambda: nd.SequenceLast(zeros(0, 2, 2)), "steps"),
    "BilinearSampler": (lambda: nd.BilinearSampler(EMPTY, zeros(1, 2, 3, 3)), "pixels"),
    "SpatialTransformer": (
        lambda: nd.SpatialTransformer(
            EMPTY,
            zeros(1, 6),
            target_shape=(2, 2),
            transform_type="affine",
            sampler_type="bilinear",
        ),
        "pixels",
    ),
    "_contrib_ROIAlign": (lambda: nd.contrib.ROIAlign(EMPTY, BOX, **ALIGN), "pixels"),
    "mp_lamb_update_phase2": (
        lambda: nd.mp_lamb_update_phase2(
            WEIGHT.astype("float16"), WEIGHT, zeros(0), zeros(1), WEIGHT, lr=0.1
        ),
        "r1: expected an array with one element",
    ),
    "preloaded_multi_sgd_update": (
        lambda: nd.preloaded_multi_sgd_update(
            WEIGHT, WEIGHT, WEIGHT, WEIGHT, zeros(1), zeros(2), num_weights=2
        ),
        "lrs: expected an array with 2 elements",
    ),
    "_contrib_box_nms": (lambda: nd.contrib.box_nms(zeros(8, 6), coord_start=3), "coord_start"),
    "_contrib_box_decode": (
        lambda: nd.contrib.box_decode(zeros(2, 1, 4), zeros(1, 3, 4)),
        "anchors",
    ),
    "_arange": (lambda: nd.arange(0, np.inf), "finite"),
    "UpSampling": (
        lambda: nd.UpSampling(zeros(1, 1, 0, 2), scale=2, sample_type="nearest"),
        "pixels",
    ),
    "Concat": (lambda: nd.Concat(WEIGHT, WEIGHT, dim=2**40), "dim=1099511627776"),
    "RNN": (
        lambda: nd.RNN(
            zeros(1, 1, 1), WEIGHT, zeros(1, 1, 1), state_size=1, num_layers=2**31, mode="gru"
        ),
        "num_layers",
    ),
    "Crop": (lambda: nd.Crop(IMAGE, num_args=1, h_w=(2, 2), offset=(1,)), "offset"),
    "_zeros": (lambda: nd.zeros((2**40, 2**40)), "out of memory"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refuses(name):
    call, told = REFUSED[name]
    with pytest.raises(MXNetError, match=told) as caught:
        call().wait_to_read()
    assert name in str(caught.value)


def region_of_no_image():
    """64 regions of large images; the last one's image does not exist."""
    regions = np.tile(np.float32([0, 0, 0, 63, 63]), (64, 1))
    regions[-1, 0] = 7
    return nd.ROIPooling(zeros(2, 16, 64, 64), nd.array(regions), (8, 8), 1.0)


def matrix_of_no_factor():
    """64 matrices; the last one is not positive definite."""
    matrices = np.tile(np.eye(64, dtype="float32"), (64, 1, 1))
    matrices[-1, 0, 0] = -1
    return nd.linalg.potrf(nd.array(matrices))


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (region_of_no_image, "image index out of range: 7 in region 63 of 2 images"),
        (matrix_of_no_factor, "argument A: a matrix is not symmetric positive definite"),
    ],
)
def test_a_failure_in_any_thread_tells_its_reason(call, told):
    with pytest.raises(MXNetError, match=told):
        call().wait_to_read()


def test_gradients_of_regions_in_no_image_are_refused():
    with pytest.raises(MXNetError, match="rois: image index out of range"):
        run_json("_rroi_align_grad", ALIGN, zeros(1, 1, 2, 2), nd.full((1, 6), 1e30), IMAGE)


def test_infinite_regions_are_pooled():
    rois = nd.array([[0, -np.inf, 0, np.inf, 2], [0, np.nan, 1, 2, 2]])
    assert nd.ROIPooling(IMAGE, rois, **ALIGN).shape == (2, 1, 2, 2)
    assert (nd.contrib.ROIAlign(IMAGE, rois, **ALIGN).asnumpy() == 0).all()


def test_huge_regions_visit_the_image_only():
    rois = nd.array([[0, -1e7, -1e7, 1e7, 1e7]])
    with_points = nd.contrib.ROIAlign(IMAGE, rois, **ALIGN).asnumpy()
    assert np.isfinite(with_points).all() and abs(with_points).max() < 1e-3
    turned = nd.array([[0, 2, 2, 1e7, 1e7, 30]])
    assert np.isfinite(nd.contrib.RROIAlign(IMAGE, turned, **ALIGN).asnumpy()).all()


def test_regions_beyond_the_image_match_the_reference():
    rois = nd.array([[0, -6, -9, 13, 8], [0, 1.5, 1, 40, 2]])
    kernel = nd.contrib.ROIAlign(IMAGE, rois, **ALIGN).asnumpy()
    halves = (array.astype("float16") for array in (IMAGE, rois))
    definition = nd.contrib.ROIAlign(*halves, **ALIGN).asnumpy()
    np.testing.assert_allclose(kernel, definition, rtol=1e-2, atol=1e-2)


@pytest.mark.parametrize("chance", [-0.5, 1.5, np.nan])
def test_impossible_binomial_chances_give_nan(chance):
    drawn = nd.sample_binomial(nd.array([100.0]), nd.array([chance]), shape=4)
    assert np.isnan(drawn.asnumpy()).all()


def test_element_types_that_no_kernel_takes_are_refused_by_name():
    with pytest.raises(MXNetError, match="Activation.*bool"):
        nd.Activation(zeros(2).astype("bool"), act_type="sigmoid").wait_to_read()


def test_offsets_beyond_all_diagonals_have_none():
    matrix = mx.np.ones((3, 4))
    for offset in (-(2**31), -3, 4, 2**31 - 1):
        assert mx.np.trace(matrix, offset).item() == 0
        assert mx.np.diagonal(matrix, offset).shape == mx.np.diag(matrix, offset).shape == (0,)


def test_few_of_very_many_numbers_are_chosen():
    chosen = mx.np.random.choice(2**40, 5, replace=False).asnumpy()
    assert len(set(chosen)) == 5 and chosen.min() >= 0 and chosen.max() < 2**40


def test_differences_of_an_order_beyond_the_extent_are_none():
    assert mx.np.diff(mx.np.ones((2, 3)), n=2**31 - 1).shape == (2, 0)
