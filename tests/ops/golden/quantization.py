"""Quantized operators, except where MXNet's results are wrong."""

import numpy as np

from .case import Case, array, draw

FAMILY = []


def _family(function):
    FAMILY.append(function)
    return function


def _one(*values):
    return [array(v) for v in values]


def _i8(*shape, seed=0):
    rng = np.random.RandomState(seed + sum(shape))
    return rng.randint(-128, 128, shape).astype("int8")


def _u8(*shape, seed=0):
    rng = np.random.RandomState(seed + sum(shape))
    return rng.randint(0, 256, shape).astype("uint8")


_X = array(-1.5, -1, -0.5, -0.003, 0, 0.002, 0.0059, 0.25, 0.75, 1.2, 2)


@_family
def quantize():
    op = "contrib.quantize"
    yield "int8", Case(op, _X, *_one(-1, 2), out_type="int8")
    yield "uint8", Case(op, _X, *_one(0, 2))
    yield "uint8_signed", Case(op, _X, *_one(-1, 2), out_type="uint8")


@_family
def quantize_v2():
    op = "contrib.quantize_v2"
    for kind in ("int8", "uint8", "auto"):
        yield kind, Case(op, draw(3, 70, low=-3, high=2), out_type=kind)
        for name, low, high in (("signed", -1, 1), ("unsigned", 0, 1), ("wide", -3, 1)):
            yield (
                f"{kind}_{name}",
                Case(op, _X, out_type=kind, min_calib_range=low, max_calib_range=high),
            )
    yield "one_bound", Case(op, _X, min_calib_range=-0.5)
    special = array(1, np.inf, -np.inf, np.nan)
    yield "special", Case(op, special, min_calib_range=-1, max_calib_range=1)
    yield "int8_kept", Case(op, _i8(2, 5))
    yield "uint8_kept", Case(op, _u8(2, 5), out_type="uint8")


@_family
def dequantize():
    yield "int8", Case("contrib.dequantize", _i8(3, 70), *_one(-1, 2))
    yield "uint8", Case("contrib.dequantize", _u8(3, 70), *_one(0, 2))


@_family
def requantize():
    data = array(-(2**20), -(2**14), 0, 2**13, 2**19, dtype="int32")
    for kind in ("int8", "uint8", "auto"):
        for name, attrs in (
            ("found", {}),
            ("signed", {"min_calib_range": -0.001, "max_calib_range": 0.002}),
            ("unsigned", {"min_calib_range": 0, "max_calib_range": 0.002}),
        ):
            case = Case("contrib.requantize", data, *_one(-4, 4), out_type=kind, **attrs)
            yield f"{kind}_{name}", case


@_family
def quantized_fully_connected():
    op = "contrib.quantized_fully_connected"
    data, weight = array([10, -20, 127], [1, 2, 3]), array([1, 2, 3], [-127, 0, 5])
    weight, bias = weight.astype("int8"), array(100, -50, dtype="int8")
    ranges = _one(-1, 1, -0.5, 0.5, -0.1, 0.2)
    yield "int8", Case(op, data.astype("int8"), weight, bias, *ranges, num_hidden=2)
    yield (
        "no_bias",
        Case(op, data.astype("int8"), weight, *ranges[:4], num_hidden=2, no_bias=True),
    )
    yield "uint8", Case(op, _u8(2, 3), weight, bias, *_one(0, 1), *ranges[2:], num_hidden=2)
    inner = Case(op, _i8(2, 3, 4), _i8(5, 4), *ranges[:4], num_hidden=5, no_bias=True)
    inner.attrs["flatten"] = False
    yield "inner", inner


@_family
def quantized_conv():
    """Without a bias, which MXNet adds at a wrong scale, and int8 only: uint8 ranges are wrong."""
    op, ranges = "contrib.quantized_conv", _one(-1, 1, -0.5, 0.5)
    shared = {"kernel": (3, 3), "num_filter": 4, "no_bias": True, "version": 2}
    data, weight = _i8(2, 4, 7, 6), _i8(4, 4, 3, 3)
    yield "plain", Case(op, data, weight, *ranges, **shared)
    yield "strided", Case(op, data, weight, *ranges, stride=(2, 1), pad=(1, 1), **shared)
    yield "dilated", Case(op, data, weight, *ranges, dilate=(2, 2), pad=(2, 2), **shared)


@_family
def quantized_act():
    yield "int8", Case("contrib.quantized_act", _i8(3, 70), *_one(-1, 2), act_type="relu")


@_family
def quantized_pooling():
    op = "contrib.quantized_pooling"
    for kind in ("max", "avg"):
        for name, attrs in (
            ("plain", {"kernel": (1, 2)}),
            ("padded", {"kernel": (2, 2), "pad": (1, 1)}),
            ("inside", {"kernel": (2, 2), "pad": (1, 1), "count_include_pad": False}),
            ("strided", {"kernel": (3, 3), "stride": (2, 2)}),
            ("global", {"kernel": (3, 3), "global_pool": True}),
        ):
            yield f"{kind}_{name}", Case(op, _i8(2, 3, 7, 7), *_one(-1, 2), pool_type=kind, **attrs)
        yield f"{kind}_uint8", Case(op, _u8(2, 3, 7, 7), *_one(0, 2), pool_type=kind, kernel=(3, 3))


@_family
def quantized_moves():
    data, ends = _i8(2, 3, 4), _one(-1, 2)
    yield "flatten", Case("contrib.quantized_flatten", data, *ends)
    yield "reshape", Case("contrib.quantized_reshape", data, *ends, shape=(0, -1), version=2)
    yield "transpose", Case("contrib.quantized_transpose", data, *ends, axes=(2, 0, 1), version=2)
    rows = array(1, 0, 9, 2)
    op = "contrib.quantized_embedding"
    yield "embedding", Case(op, rows, _i8(4, 3), *ends, input_dim=4, output_dim=3)


@_family
def quantized_concat():
    op, ends = "contrib.quantized_concat", _one(-1, 1, -2, 2)
    shared = {"num_args": 2}
    yield "int8", Case(op, _i8(3, 5), _i8(3, 70), *ends, **shared)
    yield "rows", Case(op, _i8(3, 5), _i8(2, 5), *ends, dim=0, **shared)
    yield "uint8", Case(op, _u8(3, 5), _u8(3, 7), *_one(0, 1, 0, 2), **shared)
    yield "mixed", Case(op, _u8(3, 5), _i8(3, 7), *_one(0, 2, -1, 1), **shared)


@_family
def quantized_arithmetic():
    op, ends = "contrib.quantized_elemwise_add", _one(-1, 1, -2, 2)
    keywords = {"min_calib_range": -2.5, "max_calib_range": 2}
    yield "add", Case(op, _i8(70), _i8(70, seed=1), *ends)
    yield "add_uint8", Case(op, _u8(70), _u8(70, seed=1), *ends)
    yield "add_calibrated", Case(op, _i8(70), _i8(70, seed=1), *ends, **keywords)
    unsigned = {"min_calib_range": 0, "max_calib_range": 2}
    yield "add_calibrated_uint8", Case(op, _u8(70), _u8(70, seed=1), *ends, **unsigned)
    yield "add_mixed", Case(op, _u8(70), _i8(70, seed=1), *ends, **unsigned)
    op = "contrib.quantized_elemwise_mul"
    yield "mul", Case(op, _i8(70), _i8(70, seed=1), *ends, version=2)
    yield "mul_calibrated", Case(op, _i8(70), _i8(70, seed=1), *ends, version=2, **keywords)
    floats = {"enable_float_output": True, "version": 2}
    yield "mul_float", Case(op, _i8(70), _i8(70, seed=1), *ends, **floats)


@_family
def quantized_batch_norm():
    parts = (array(1, 2), array(0.1, -0.2), array(0, 0.5), array(1, 4), *_one(-1, 1))
    keywords = {"min_calib_range": -1.5, "max_calib_range": 2}
    op = "contrib.quantized_batch_norm"
    yield "int8", Case(op, _i8(1, 2, 3, 5), *parts, **keywords)
    yield "eps", Case(op, _i8(1, 2, 3, 5), *parts, eps=1e-5, fix_gamma=False, **keywords)


@_family
def intgemm():
    data, weight = draw(3, 64), draw(8, 64)
    numbers, prepared = _i8(3, 64), np.maximum(_i8(8, 64), -127)
    largest = array(0.9)
    yield "maxabsolute", Case("contrib.intgemm_maxabsolute", data, version=2)
    yield "prepare_data", Case("contrib.intgemm_prepare_data", data, largest, version=2)
    yield "prepare_weight", Case("contrib.intgemm_prepare_weight", weight, largest, version=2)
    rows = array(3, 1, 2, 0, 7, 6, 5, 5, dtype="int32")
    yield "take_weight", Case("contrib.intgemm_take_weight", prepared, rows, version=2)
    op, shared = "contrib.intgemm_fully_connected", {"num_hidden": 8, "version": 2}
    bias = draw(8)
    yield "float", Case(op, numbers, prepared, largest, bias, **shared)
    yield "int32", Case(op, numbers, prepared, no_bias=True, out_type="int32", **shared)
    yield "of_floats", Case(op, data, prepared, largest, no_bias=True, **shared)
