"""Winograd convolution against float64: image edges, channels, threads, fused operations."""

import numpy as np
import pytest

from mxcy import nd
from mxcy.base import MXNetError
from mxcy.ops.core.infer import Spec
from mxcy.ops.core.record import REGISTRY
from tests.ops.fused.fused_conv import ACTIVATIONS, BLOCK, Problem
from tests.ops.kernel_call import library, query_kernel, run_kernel

TOLERANCE = 1e-5
KERNELS = [(3, 3), (5, 5), (1, 3), (3, 1), (1, 7), (7, 1)]


@pytest.mark.parametrize("pad", [(0, 0), (1, 1), (2, 2), (0, 2)])
@pytest.mark.parametrize("source", [(3, 3), (4, 9), (7, 7), (8, 8), (13, 6), (17, 22)])
def test_maps_of_any_size(source, pad):
    problem = Problem(2, BLOCK, BLOCK, source, pad=pad)
    assert problem.error(problem.run("conv_winograd")) < TOLERANCE


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("source", [(1, 1), (3, 5), (7, 7), (13, 6), (14, 14)])
@pytest.mark.parametrize("tile", [0, 5, 96])
def test_small_tiles(source, tile, threads):
    problem = Problem(2, 3 * BLOCK, 5 * BLOCK, source, tile=tile, other=True, act="relu")
    assert problem.error(problem.run("conv_winograd_small", threads)) < TOLERANCE


@pytest.mark.parametrize(
    "source, kernel, reason",
    [((40, 40), (3, 3), "number of pixels"), ((7, 7), (5, 5), "not 3 x 3")],
)
def test_small_tiles_refuse(source, kernel, reason):
    problem = Problem(1, BLOCK, BLOCK, source, kernel=kernel)
    with pytest.raises(RuntimeError, match=reason):
        problem.run("conv_winograd_small")


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("source", [(5, 5), (13, 9), (14, 14), (35, 35)])
@pytest.mark.parametrize("tile", [0, 3])
def test_large_tiles(source, tile, threads):
    problem = Problem(2, 3 * BLOCK, 5 * BLOCK, source, tile=tile, other=True, act="relu")
    assert problem.error(problem.run("conv_winograd_large", threads)) < TOLERANCE


def test_deep_sums_of_large_tiles_stay_accurate():
    problem = Problem(1, 512, 64, (14, 14))
    assert problem.error(problem.run("conv_winograd_large")) < 2 * TOLERANCE


@pytest.mark.parametrize(
    "source, kernel, reason", [((28, 28), (3, 3), "fewer products"), ((5, 5), (5, 5), "not 3 x 3")]
)
def test_large_tiles_refuse(source, kernel, reason):
    problem = Problem(1, BLOCK, BLOCK, source, kernel=kernel)
    with pytest.raises(RuntimeError, match=reason):
        problem.run("conv_winograd_large")


STRIDED = ["conv_winograd_strided", "conv_winograd_strided_small"]


@pytest.mark.parametrize("kernel", STRIDED)
@pytest.mark.parametrize("pad", [(0, 0), (1, 1), (2, 2), (0, 2)])
@pytest.mark.parametrize("source", [(3, 3), (4, 9), (7, 7), (8, 8), (13, 6), (17, 22)])
def test_steps_of_two(source, pad, kernel):
    problem = Problem(2, 2 * BLOCK, 3 * BLOCK, source, pad=pad, stride=(2, 2), other=True)
    for threads in (1, 2):
        assert problem.error(problem.run(kernel, threads)) < TOLERANCE


@pytest.mark.parametrize("kernel", STRIDED)
def test_deep_sums_at_steps_of_two_stay_accurate(kernel):
    problem = Problem(1, 512, 64, (14, 14), stride=(2, 2))
    assert problem.error(problem.run(kernel)) < TOLERANCE


@pytest.mark.parametrize("stride", [(1, 1), (1, 2), (3, 3)])
def test_other_steps_are_refused(stride):
    problem = Problem(1, BLOCK, BLOCK, (8, 8), stride=stride)
    with pytest.raises(RuntimeError, match="the stride is not 2"):
        problem.run("conv_winograd_strided")


@pytest.mark.parametrize("pad", [(0, 0), (3, 3), (1, 2)])
@pytest.mark.parametrize("source", [(7, 7), (8, 13), (33, 22), (64, 50)])
@pytest.mark.parametrize("channels", [1, 3, 4])
def test_first_layers_by_phases(channels, source, pad):
    problem = Problem(
        2,
        channels,
        3 * BLOCK,
        source,
        (7, 7),
        pad,
        (2, 2),
        act="relu",
        in_block=0,
        bias=channels > 1,
    )
    for threads in (1, 2):
        assert problem.error(problem.run("conv_winograd_phases", threads)) < TOLERANCE


@pytest.mark.parametrize(
    "change, reason",
    [
        ({"kernel": (3, 3)}, "not 7 x 7"),
        ({"stride": (1, 2)}, "steps are not 2"),
        ({"dilate": (2, 2)}, "dilated"),
        ({"channels": 5}, "up to 4 channels"),
        ({"channels": BLOCK, "in_block": BLOCK}, "plain image"),
        ({"out_block": 0}, "not blocked"),
        ({"other": True}, "sums"),
    ],
)
def test_phases_refuse(change, reason):
    taken = {"channels": 3, "kernel": (7, 7), "stride": (2, 2), "in_block": 0, **change}
    problem = Problem(1, filters=BLOCK, source=(32, 32), **taken)
    with pytest.raises(MXNetError, match=reason):
        problem.run("conv_winograd_phases")


@pytest.mark.parametrize("source", [(1, 1), (2, 1), (1, 12)])
def test_maps_smaller_than_the_kernel(source):
    problem = Problem(3, BLOCK, 2 * BLOCK, source)
    assert problem.error(problem.run("conv_winograd")) < TOLERANCE


@pytest.mark.parametrize("kernel", KERNELS[1:])
@pytest.mark.parametrize("source", [(3, 5), (8, 17), (17, 12)])
@pytest.mark.parametrize("same", [True, False])
def test_other_kernels(kernel, source, same):
    pad = tuple(k // 2 if same else 3 for k in kernel)
    problem = Problem(2, 2 * BLOCK, BLOCK, source, kernel=kernel, pad=pad, other=True, act="relu")
    for threads in (1, 2):
        assert problem.error(problem.run("conv_winograd", threads)) < TOLERANCE


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("tile", [-1, 0, 1, 5, 40, 1000])
@pytest.mark.parametrize("blocks", [(1, 1), (2, 3), (3, 6), (5, 9)])
def test_channels_and_cuts(blocks, tile, threads):
    problem = Problem(3, blocks[0] * BLOCK, blocks[1] * BLOCK, (14, 11), tile=tile)
    assert problem.error(problem.run("conv_winograd", threads)) < TOLERANCE


@pytest.mark.parametrize("kernel", KERNELS)
def test_deep_sums_stay_accurate(kernel):
    problem = Problem(1, 512, 64, (14, 14), kernel=kernel, pad=tuple(k // 2 for k in kernel))
    # The largest acceptable error is 1e-4; more points cost some digits.
    limit = TOLERANCE if max(kernel) == 3 else 4 * TOLERANCE
    assert problem.error(problem.run("conv_winograd")) < limit


def test_team_larger_than_the_workspace():
    problem = Problem(2, 2 * BLOCK, 3 * BLOCK, (20, 20))
    before = library().mx_threads()
    library().mx_set_threads(1)
    try:
        assert problem.error(problem.run("conv_winograd", threads=2)) < TOLERANCE
    finally:
        library().mx_set_threads(before)


def test_no_images():
    assert Problem(0, BLOCK, BLOCK, (8, 8)).run("conv_winograd", 2).shape == (0, BLOCK, 8, 8)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("act", list(ACTIVATIONS))
@pytest.mark.parametrize("other", [False, True])
def test_epilogues(act, other, threads):
    problem = Problem(2, BLOCK, 3 * BLOCK, (9, 9), other=other, act=act)
    problem.weight *= 0.1  # exp and square stay in range
    assert problem.error(problem.run("conv_winograd", threads)) < TOLERANCE


def test_without_bias():
    problem = Problem(1, BLOCK, BLOCK, (9, 9), bias=False, other=True, act="relu")
    assert problem.error(problem.run("conv_winograd")) < TOLERANCE


@pytest.mark.parametrize("threads", [1, 2])
def test_sum_in_place(threads):
    problem = Problem(2, BLOCK, 3 * BLOCK, (10, 7), other=True, act="relu")
    out = problem.run("conv_winograd", threads, in_place=True)
    assert problem.error(out) < TOLERANCE


def test_same_bits_for_any_team():
    problem = Problem(2, 2 * BLOCK, 4 * BLOCK, (15, 15))
    one, two = (problem.run("conv_winograd", threads) for threads in (1, 2))
    np.testing.assert_array_equal(one, two)


@pytest.fixture(params=[5, 32])
def large_team(request):
    """The number of threads of a team larger than the machine."""
    before = library().mx_threads()
    library().mx_set_threads(request.param)
    yield request.param
    library().mx_set_threads(before)


@pytest.mark.parametrize("kernel", ["conv_winograd", "conv_winograd_small", *STRIDED])
@pytest.mark.parametrize("blocks", [(8, 8), (4, 9), (2, 1), (16, 16)])
@pytest.mark.parametrize("source", [(1, 1), (7, 7), (14, 14), (28, 13)])
def test_large_teams_compute_the_same_bits(source, blocks, kernel, large_team):
    channels, filters = (n * BLOCK for n in blocks)
    stride = (2, 2) if "strided" in kernel else (1, 1)
    problem = Problem(2, channels, filters, source, stride=stride, other=True, act="relu")
    out = problem.run(kernel, large_team)
    np.testing.assert_array_equal(out, problem.run(kernel, 1))
    assert problem.error(out) < TOLERANCE


@pytest.mark.parametrize("kernel", KERNELS[1:])
def test_large_teams_with_other_kernels(kernel, large_team):
    pad = tuple(k // 2 for k in kernel)
    problem = Problem(1, 8 * BLOCK, 9 * BLOCK, (17, 17), kernel=kernel, pad=pad, other=True)
    one, many = (problem.run("conv_winograd", threads) for threads in (1, large_team))
    np.testing.assert_array_equal(one, many)


def test_nan_stays_in_its_tiles():
    problem = Problem(1, BLOCK, BLOCK, (12, 12), act="relu")
    problem.data[0, 3, 6, 6] = np.nan
    out = problem.run("conv_winograd")
    assert np.isnan(out[0, :, 5:8, 5:8]).all()
    touched = np.isnan(out).any(axis=(0, 1))
    assert touched[4:8, 4:8].all()
    assert touched.sum() == 16


@pytest.mark.parametrize("kernel", KERNELS)
def test_rotated_weights_give_the_gradient_of_the_data(kernel):
    common = dict(kernel=kernel, bias=False)
    forward = Problem(2, 2 * BLOCK, 3 * BLOCK, (9, 11), pad=(0, 0), **common)
    around = tuple(k - 1 for k in kernel)
    gradient = Problem(2, 3 * BLOCK, 2 * BLOCK, forward.out_shape[2:], pad=around, **common)
    gradient.weight = forward.weight
    out = gradient.run("conv_winograd", pack="conv_winograd_pack_turned")
    gradient.weight = forward.weight.transpose(1, 0, 2, 3)[:, :, ::-1, ::-1]
    assert gradient.error(out) < TOLERANCE
    assert out.shape == forward.data.shape


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (dict(kernel=(2, 2)), "3 x 3"),
        (dict(stride=(2, 2)), "stride"),
        (dict(dilate=(2, 2)), "dilated"),
        (dict(groups=2), "groups"),
        (dict(in_block=0), "blocked"),
    ],
)
def test_refusals(change, reason):
    problem = Problem(1, 2 * BLOCK, 2 * BLOCK, (9, 9), **change)
    with pytest.raises(MXNetError, match=f"conv_winograd: .*{reason}"):
        problem.run("conv_winograd")


def plain_kernel(operator):
    """The kernel of an operator on plain arrays."""
    return next(k for k in REGISTRY[operator].kernels if "winograd" in str(k.name))


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("channels", [(BLOCK, 2 * BLOCK), (20, 37)])
def test_plain_arrays(channels, kernel, bias, threads):
    rng = np.random.default_rng(3)
    pad = tuple(k // 2 for k in kernel)
    data, weight, add = (
        rng.uniform(-1, 1, shape).astype(np.float32)
        for shape in ((3, channels[0], 14, 9), (*channels[::-1], *kernel), channels[1:])
    )
    ins = [data, weight, add][: 2 + bias]
    attrs = dict(kernel=kernel, pad=pad, num_filter=channels[1], no_bias=not bias)
    forward = run_plain("Convolution", attrs, ins, (3, channels[1], 14, 9), threads)
    assert forward < TOLERANCE
    grad = rng.uniform(-1, 1, (3, channels[1], 14, 9)).astype(np.float32)
    del attrs["no_bias"]
    attrs["spatial"] = data.shape[2:]
    assert run_plain("_conv_data", attrs, [grad, weight], data.shape, threads) < TOLERANCE


def run_plain(operator, attrs, ins, shape, threads):
    """The error of an operator's Winograd kernel on plain arrays."""
    record = REGISTRY[operator]
    a = record.schema.intern(operator, attrs)
    out = np.full(shape, np.nan, np.float32)
    kernel = plain_kernel(operator)
    specs = [Spec(x.shape, 0) for x in ins], [Spec(shape, 0)]
    params = kernel.struct.pack(**kernel.params(a, *specs))
    workspace = query_kernel(kernel.name, ins, [out], params, "workspace")
    run_kernel(kernel.name, ins, [out], params, threads=threads, workspace=workspace)
    answer = record.ref(a, np, *(x.astype(np.float64) for x in ins))
    return np.abs(out - answer).max() / np.abs(answer).max()


def test_many_images_go_in_slices():
    rng = np.random.default_rng(4)
    data = rng.uniform(-1, 1, (40, 64, 80, 80)).astype(np.float32)
    weight = rng.uniform(-1, 1, (16, 64, 3, 3)).astype(np.float32)
    whole = nd.Convolution(
        nd.array(data), nd.array(weight), kernel=(3, 3), num_filter=16, no_bias=True
    )
    for image in (0, 17, 39):
        one = nd.Convolution(
            nd.array(data[image : image + 1]),
            nd.array(weight),
            kernel=(3, 3),
            num_filter=16,
            no_bias=True,
        )
        np.testing.assert_array_equal(whole[image].asnumpy(), one[0].asnumpy())


def test_eager_calls_choose_winograd_where_faster(run_python):
    told = run_python(
        """
import mxcy as mx
for channels, size in ((16, 32), (16, 8), (4, 32)):
    data, weight = mx.nd.ones((2, channels, size, size)), mx.nd.ones((16, channels, 3, 3))
    mx.nd.Convolution(data, weight, kernel=(3, 3), num_filter=16, no_bias=True)
""",
        MXCY_VERBOSE="dispatch",
    )
    chosen = ["-> conv_winograd_plain" in line for line in told.splitlines() if "Conv" in line]
    assert chosen == [True, False, False]


def test_other_instruction_sets(numbers_at_level):
    errors = numbers_at_level(
        """
from tests.ops.fused.fused_conv import BLOCK, Problem
for kernel, pad in (((3, 3), (1, 1)), ((1, 7), (0, 3)), ((5, 5), (2, 2))):
    problem = Problem(2, BLOCK, 3 * BLOCK, (13, 10), kernel, pad, other=True, act="relu")
    print(problem.error(problem.run("conv_winograd")))
    print(problem.error(problem.run("conv_blocked")))
"""
    )
    assert len(errors) == 6
    assert max(errors) < TOLERANCE
