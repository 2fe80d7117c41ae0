"""Quantized operators beyond MXNet's values: intended differences, properties, errors."""

import numpy as np
import pytest

import mxcy as mx
from mxcy.base import MXNetError
from mxcy.ops.core.record import REGISTRY, find

contrib = mx.nd.contrib


def _nd(values, dtype="float32"):
    return mx.nd.array(np.asarray(values, dtype), dtype=dtype)


def _pair(low, high):
    return _nd([low]), _nd([high])


@pytest.mark.parametrize("kind, levels", [("int8", 127), ("uint8", 255)])
def test_quantize_dequantize_error_is_below_a_step(kind, levels):
    rng = np.random.default_rng(0)
    for scale in (1e-20, 1e-3, 1, 1e4, 1e30):
        data = rng.normal(size=(7, 33)).astype("float32") * np.float32(scale)
        data = abs(data) if kind == "uint8" else data
        back = contrib.dequantize(*contrib.quantize_v2(_nd(data), out_type=kind)).asnumpy()
        assert abs(back - data).max() <= abs(data).max() / levels


@pytest.mark.parametrize("low, high", [(0, 255), (-10, 255), (-255, 0)])
def test_quantize_maps_the_largest_magnitude_to_255(low, high):
    data = _nd([0.5, 1.5, 2.5, 128.5, 200.4, 254.5, 255, 300, -3])
    numbers, *limits = contrib.quantize(data, *_pair(low, high), out_type="uint8")
    assert numbers.asnumpy().tolist() == [0, 2, 2, 128, 200, 254, 255, 255, 0]
    assert [limit.asscalar() for limit in limits] == [low, high]


def test_all_zeros_stay_zero():
    for kind in ("int8", "uint8"):
        numbers, low, high = contrib.quantize_v2(mx.nd.zeros((2, 3)), out_type=kind)
        assert not numbers.asnumpy().any()
        assert not contrib.dequantize(numbers, low, high).asnumpy().any()
    numbers, low, high = contrib.quantize_v2(mx.nd.ones((2, 3))[:0])
    assert numbers.shape == (0, 3) and low.asscalar() == high.asscalar() == 0


def test_convolutions_and_dense_layers_stand_for_the_float_ones():
    rng = np.random.default_rng(1)
    data, weight = rng.normal(size=(2, 4, 9, 9)), rng.normal(size=(6, 4, 3, 3)) / 6
    data, bias = np.maximum(data, 0), rng.normal(size=6)
    inputs = [_nd(x) for x in (data, weight, bias)]
    want = mx.nd.Convolution(*inputs, kernel=(3, 3), num_filter=6).asnumpy()
    for kind in ("int8", "uint8"):
        parts = [contrib.quantize_v2(inputs[0], out_type=kind)]
        parts += [contrib.quantize(x, x.min(), x.max(), out_type="int8") for x in inputs[1:]]
        arrays, ranges = [p[0] for p in parts], [r for p in parts for r in p[1:]]
        sums = contrib.quantized_conv(*arrays, *ranges, kernel=(3, 3), num_filter=6)
        actual = contrib.dequantize(*contrib.requantize(*sums)).asnumpy()
        assert abs(actual - want).max() < 0.03 * abs(want).max()
    data, weight = data.reshape(2, -1), rng.normal(size=(6, 324)) / 18
    inputs = [_nd(x) for x in (data, weight, bias)]
    want = mx.nd.FullyConnected(*inputs, num_hidden=6).asnumpy()
    for kind in ("int8", "uint8"):
        parts = [contrib.quantize_v2(inputs[0], out_type=kind)]
        parts += [contrib.quantize(x, x.min(), x.max(), out_type="int8") for x in inputs[1:]]
        arrays, ranges = [p[0] for p in parts], [r for p in parts for r in p[1:]]
        sums = contrib.quantized_fully_connected(*arrays, *ranges, num_hidden=6)
        actual = contrib.dequantize(*contrib.requantize(*sums)).asnumpy()
        assert abs(actual - want).max() < 0.03 * abs(want).max()


@pytest.mark.parametrize(
    ("kind", "low", "expected"),
    [("int8", -2, [647, -244, 331, -5]), ("uint8", 0, [1297, -490, 664, -10])],
)
def test_biases_are_truncated_as_in_mxnet(kind, low, expected):
    bias, weight = _nd([127, -48, 65, -1], "int8"), mx.nd.zeros((4, 3), dtype="int8")
    ranges = (*_pair(low, 2), *_pair(-0.5, 0.3), *_pair(-0.01, 0.04))
    data = mx.nd.zeros((1, 3), dtype=kind)
    sums = contrib.quantized_fully_connected(data, weight, bias, *ranges, num_hidden=4)
    assert sums[0].asnumpy().tolist() == [expected]


def test_uint8_with_a_symmetric_range_has_the_steps_of_int8_in_convolutions():
    rng = np.random.default_rng(3)
    data = _nd(rng.integers(0, 128, (1, 2, 4, 3)), "uint8")
    weight, bias = (_nd(rng.integers(-127, 128, shape), "int8") for shape in ((4, 2, 3, 3), 4))
    ranges = _pair(-127, 127) * 3
    sums = contrib.quantized_conv(data, weight, bias, *ranges, kernel=(3, 3), num_filter=4)
    floats = [x.astype("float32") for x in (data, weight, bias)]
    expected = mx.nd.Convolution(*floats, kernel=(3, 3), num_filter=4)
    np.testing.assert_array_equal(sums[0].asnumpy(), expected.asnumpy())
    assert [x.asscalar() for x in sums[1:]] == [-(2**31), 2**31]


def test_unsigned_sums_mix_with_signed_ones():
    lhs, rhs = _nd([10, 20, 255], "uint8"), _nd([-5, 64, 127], "int8")
    sums = contrib.quantized_elemwise_add(lhs, rhs, *_pair(0, 1), *_pair(-2, 2))
    actual = sums[0].asnumpy() * (3 / (2**31 - 1))
    want = np.array([10, 20, 255]) / 255.5 + np.array([-5, 64, 127]) * 2 / 127.5
    np.testing.assert_allclose(actual, want, rtol=1e-5)


def test_batch_norm_computes_its_own_range():
    rng = np.random.default_rng(2)
    data = rng.normal(size=(2, 3, 5)).astype("float32")
    parts = [_nd(rng.uniform(0.5, 2, 3)) for _ in range(4)]
    want = mx.nd.BatchNorm(_nd(data), *parts, fix_gamma=False).asnumpy()
    numbers, low, high = contrib.quantize_v2(_nd(data))
    actual = contrib.quantized_batch_norm(numbers, *parts, low, high)
    assert abs(contrib.dequantize(*actual).asnumpy() - want).max() < 0.02 * abs(want).max()


def test_asymmetric_numbers_feed_recurrent_layers():
    rng = np.random.default_rng(3)
    data = rng.uniform(-1, 3, (5, 2, 3)).astype("float32")
    rest = [_nd(rng.uniform(-0.5, 0.5, 4 * 4 * 9)), mx.nd.zeros((1, 2, 4)), mx.nd.zeros((1, 2, 4))]
    layer = {"state_size": 4, "num_layers": 1, "mode": "lstm", "state_outputs": True}
    want = mx.nd.RNN(_nd(data), *rest, **layer)
    numbers, scale, shift = contrib.quantize_asym(_nd(data))
    assert numbers.asnumpy().min() == 0 and numbers.asnumpy().max() == 255
    actual = contrib.quantized_rnn(numbers, *rest, scale, shift, **layer)
    for got, expected in zip(actual, want, strict=True):
        np.testing.assert_allclose(got.asnumpy(), expected.asnumpy(), atol=0.01)


def test_int8_values_keep_their_dtype():
    data = _nd([1, 200], "uint8")
    numbers, low, high = contrib.quantize_v2(data, out_type="int8")
    assert numbers.dtype == np.uint8 and numbers.asnumpy().tolist() == [1, 200]
    assert (low.asscalar(), high.asscalar()) == (0, 255.5)


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda: contrib.dequantize(_nd([1], "int32"), *_pair(0, 1)), "int8 or uint8"),
        (lambda: contrib.quantize_v2(_nd([1], "float16")), "float32"),
        (lambda: contrib.requantize(_nd([1], "int8"), *_pair(0, 1)), "int32"),
        (
            lambda: contrib.quantized_act(_nd([1], "int8"), *_pair(0, 1), act_type="tanh"),
            "act_type: only 'relu'",
        ),
        (
            lambda: contrib.quantized_pooling(
                mx.nd.ones((1, 1, 4, 4), dtype="int8"), *_pair(0, 1), kernel=(2, 2), pool_type="sum"
            ),
            "pool_type: only 'max' and 'avg'",
        ),
        (
            lambda: contrib.quantized_concat(_nd([[1]], "int8"), *_pair(0, 1), num_args=2),
            "three times as many",
        ),
        (
            lambda: contrib.intgemm_prepare_weight(mx.nd.ones((8, 60)), _nd([1])),
            "inner dimension must be a multiple of 64",
        ),
        (
            lambda: contrib.intgemm_take_weight(
                mx.nd.ones((8, 64), dtype="int8"), _nd([1, 2, 3], "int32")
            ),
            "multiple of 8",
        ),
    ],
)
def test_refusals_say_what_is_expected(call, words):
    with pytest.raises(MXNetError, match=words):
        call()


def test_every_quantized_counterpart_takes_the_attributes_of_its_operator():
    seen = 0
    for record in {record.name: record for record in REGISTRY.values()}.values():
        if record.quantized is None:
            continue
        counterpart = find(record.quantized.op)
        find(record.quantized.by)
        assert set(record.schema.names) <= set(counterpart.schema.names), record.name
        names = record.inputs + tuple(f"x_{i}" for i in range(2 * len(record.inputs)))
        ranged = record.quantized.range_names(record.inputs)
        assert set(ranged) <= set(names)
        if not record.variadic:
            most = len(counterpart.inputs)
            assert most == len(record.inputs) + 2 * len(ranged), record.name
        seen += 1
    assert seen >= 14


@pytest.mark.parametrize("kind", ["int8", "uint8"])
@pytest.mark.parametrize("kernel", [(2, 2), (3, 3), (2, 3), (3, 4), (1, 7), (12, 12)])
@pytest.mark.parametrize("whole", [True, False])
def test_averages_are_rounded_half_to_even(kind, kernel, whole):
    bounds = np.iinfo(kind)
    numbers = np.random.default_rng(0).integers(bounds.min, bounds.max + 1, (1, 12, 13, 70))
    pad = tuple(extent // 2 for extent in kernel)
    attrs = {"kernel": kernel, "pad": pad, "pool_type": "avg", "count_include_pad": whole}
    data = _nd(numbers, kind)
    got = contrib.quantized_pooling(data, *_pair(-1, 1), layout="NHWC", **attrs)[0].asnumpy()
    wide = mx.nd.array(numbers, dtype="float64").transpose((0, 3, 1, 2))
    want = np.rint(mx.nd.Pooling(wide, **attrs).asnumpy()).transpose(0, 2, 3, 1)
    np.testing.assert_array_equal(got, want.astype(kind))


@pytest.mark.parametrize("kind", ["int8", "uint8"])
@pytest.mark.parametrize("pooling", ["max", "avg"])
@pytest.mark.parametrize(
    "shape, kernel, stride, pad",
    [
        ((1, 5, 300, 64), (3, 3), (1, 2), (1, 1)),
        ((2, 3, 2000, 33), (2, 130), (1, 70), (0, 3)),
        ((1, 2, 20000, 1), (2, 3), (1, 2), (1, 1)),
    ],
)
def test_pooling_of_long_rows(kind, pooling, shape, kernel, stride, pad):
    bounds = np.iinfo(kind)
    numbers = np.random.default_rng(0).integers(bounds.min, bounds.max + 1, shape)
    attrs = {"kernel": kernel, "stride": stride, "pad": pad, "pool_type": pooling}
    got = contrib.quantized_pooling(_nd(numbers, kind), *_pair(-1, 1), layout="NHWC", **attrs)[0]
    wide = mx.nd.array(numbers, dtype="float64").transpose((0, 3, 1, 2))
    want = np.rint(mx.nd.Pooling(wide, **attrs).asnumpy()).transpose(0, 2, 3, 1)
    np.testing.assert_array_equal(got.asnumpy(), want.astype(kind))
