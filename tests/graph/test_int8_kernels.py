"""Our int8 kernels against their definition: equal integers where factors are exact."""

import numpy as np
import pytest

import mxcy as mx
from mxcy._base.dtypes import code_of
from mxcy._library import front
from mxcy.ops.core.infer import Spec
from mxcy.ops.core.record import find

PACKERS = {"_int8_conv": "_pack_int8_conv_weight", "_int8_dense": "_pack_int8_dense_weight"}


def _computed(name, algo, attrs, arrays, form):
    """A layer's result by the kernel `algo`; skips the test if the CPU does not support it."""
    if not front.has_kernel(algo, code_of("uint8")):
        pytest.skip("there is no such kernel for this CPU")
    record = find(name)
    a = record.schema.intern(name, {**attrs, "algo": algo, "packed": 1})
    ins = [Spec(x.shape, code_of(x.dtype)) for x in arrays]
    ins[1] = Spec((1,), code_of("uint8"))
    outs = record.infer(a, ins)
    params = record.kernels[0].struct.pack(**record.kernels[0].params(a, ins, outs))
    attrs = {**attrs, "algo": algo, "packed": front.query(algo, params, ins, outs, "packed")}
    (blob,), _ = front.execute(find(PACKERS[name]), (arrays[1],), {**attrs, **form})
    (result, *_), ran = front.execute(record, (arrays[0], blob, *arrays[2:]), attrs)
    assert ran == algo
    return result.asnumpy()


def _drawn(rng, shape, kind):
    low, high = (-128, 128) if kind == "int8" else (0, 256)
    return mx.nd.array(rng.integers(low, high, shape), dtype=kind)


def _layer(rng, name, algo, data, weight, attrs, form, exact=True):
    """Compare all fused operations; factors are powers of two where sums must be exact."""
    filters, depth = weight.shape[0], int(np.prod(weight.shape[1:]))
    shift = np.ceil(np.log2(100 * np.sqrt(depth)))
    scale = 2.0 ** -(shift + rng.integers(0, 3, filters)) if exact else rng.uniform(0.5, 1, filters)
    scale = scale if exact else scale / 2**shift
    inputs = [data, weight, mx.nd.array(scale), mx.nd.array(rng.integers(-40, 40, filters) / 4)]
    attrs = {**attrs, "source_type": np.dtype(data.dtype).name}
    call = getattr(mx.nd._internal, name)
    alone = algo == "int8_conv_depthwise"  # nothing is added, and there are no floats
    shape = call(*inputs, **attrs).shape
    for out_type, other_type, extra in (
        ("int8", "int8", {}),
        ("uint8", "uint8", {"act": "relu"}),
        ("int8", "int8", {"act": "relu", "no_bias": True}),
        ("uint8", "uint8", {"act": "clip", "limit": 30.0}),
        ("int8", "uint8", {"act": "relu", "with_sum": True}),
        ("uint8", "int8", {"act": "clip", "limit": 40.0, "with_sum": True}),
        ("float32", "int8", {"act": "relu"}),
        ("int8", "int8", {"no_bias": True, "with_sum": True, "other_scale": 0.5}),
    ):
        if alone and ("with_sum" in extra or out_type == "float32"):
            continue
        arrays = inputs[:3] if extra.get("no_bias") else list(inputs)
        if extra.get("with_sum"):
            arrays.append(_drawn(rng, shape, other_type))
        every = {**attrs, **extra, "out_type": out_type, "other_type": other_type}
        want = call(*arrays, **every).asnumpy()
        got = _computed(name, algo, every, arrays, form)
        assert got.dtype == want.dtype
        if exact:
            np.testing.assert_array_equal(got, want)
        elif out_type == "float32":
            np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-4)
        else:
            assert abs(got.astype(int) - want.astype(int)).max() <= 1


def _image(rng, algo, source, shape, filters, group=1, exact=True, **window):
    channels, attrs = shape[-1], {**window, "num_filter": filters, "num_group": group}
    weight = _drawn(rng, (filters, channels // group, *window["kernel"]), "int8")
    form = {"batch": shape[0], "source": shape[1:-1]}
    _layer(rng, "_int8_conv", algo, _drawn(rng, shape, source), weight, attrs, form, exact)


#: our kernels of whole convolutions and of dense layers
CONVOLUTIONS, DENSE = (
    [f"int8_{layer}_{way}" for way in ("direct", "tiles")] for layer in ("conv", "dense")
)


@pytest.mark.parametrize("algo", CONVOLUTIONS)
@pytest.mark.parametrize("source", ["int8", "uint8"])
@pytest.mark.parametrize(
    "shape, filters, window",
    [
        ((2, 9, 7, 8), 70, {"kernel": (1, 1)}),
        ((1, 5, 5, 3), 16, {"kernel": (1, 1)}),
        ((1, 40, 33, 64), 40, {"kernel": (1, 1)}),
        ((3, 5, 33, 70), 50, {"kernel": (3, 3), "stride": (2, 2), "pad": (1, 1)}),
        ((3, 9, 7, 6), 33, {"kernel": (1, 1), "stride": (2, 2)}),
        ((1, 9, 7, 8), 20, {"kernel": (1, 1), "stride": (3, 1), "pad": (1, 2)}),
        ((2, 13, 11, 3), 64, {"kernel": (7, 7), "stride": (2, 2), "pad": (3, 3)}),
        ((1, 22, 41, 3), 70, {"kernel": (3, 3), "stride": (2, 2)}),
        ((2, 11, 14, 2), 17, {"kernel": (5, 4), "stride": (3, 2), "pad": (2, 1)}),
        ((1, 13, 19, 4), 33, {"kernel": (4, 3), "stride": (2, 2), "pad": (0, 2)}),
        ((1, 9, 12, 1), 16, {"kernel": (5, 5), "stride": (4, 4), "pad": (4, 3)}),
        ((2, 6, 9, 16), 100, {"kernel": (3, 3), "pad": (1, 1)}),
        ((1, 1, 9, 4), 5, {"kernel": (3, 3), "pad": (1, 1)}),
        ((1, 9, 9, 5), 17, {"kernel": (3, 3), "dilate": (2, 2), "pad": (2, 1)}),
        ((1, 3, 8, 4), 8, {"kernel": (1, 3), "dilate": (1, 2), "stride": (1, 2)}),
        ((2, 1, 1, 4), 40, {"kernel": (3, 1), "pad": (3, 0), "stride": (2, 1)}),
    ],
)
def test_convolutions(algo, source, shape, filters, window):
    _image(np.random.default_rng(filters), algo, source, shape, filters, **window)


@pytest.mark.parametrize("algo", CONVOLUTIONS)
@pytest.mark.parametrize("out_type", ["int8", "uint8"])
@pytest.mark.parametrize("act", [{"act": "none"}, {"act": "clip", "limit": 70.5}])
def test_results_beyond_32_bits_are_limited(algo, out_type, act):
    data = mx.nd.full((1, 3, 2, 4), 255, dtype="uint8")
    weight = mx.nd.array([[[[w]]] * 4 for w in (127, -127, 1)], dtype="int8")
    inputs = [data, weight, mx.nd.array([1e6, 1e6, 0.25]), mx.nd.array([0.0, 3e9, -3e9])]
    attrs = {"kernel": (1, 1), "num_filter": 3, "source_type": "uint8", "out_type": out_type, **act}
    want = mx.nd._internal._int8_conv(*inputs, **attrs).asnumpy()
    form = {"batch": 1, "source": (3, 2)}
    np.testing.assert_array_equal(_computed("_int8_conv", algo, attrs, inputs, form), want)


@pytest.mark.parametrize("source", ["int8", "uint8"])
@pytest.mark.parametrize("channels", [3, 32, 40, 96, 144])
@pytest.mark.parametrize(
    "extent, window",
    [
        ((9, 7), {"pad": (1, 1)}),
        ((8, 10), {"pad": (1, 1), "stride": (2, 2)}),
        ((4, 5), {"pad": (0, 2), "stride": (1, 3)}),
    ],
)
def test_depthwise_convolutions(source, channels, extent, window):
    rng = np.random.default_rng(channels)
    shape, algo = (2, *extent, channels), "int8_conv_depthwise"
    _image(rng, algo, source, shape, channels, channels, kernel=(3, 3), **window)


@pytest.mark.parametrize("source", ["int8", "uint8"])
@pytest.mark.parametrize(
    "shape, filters, pad",
    [
        ((2, 9, 7, 32), 70, (1, 1)),
        ((1, 4, 4, 64), 16, (1, 1)),
        ((1, 30, 33, 64), 40, (0, 2)),
        ((3, 13, 29, 96), 128, (1, 0)),
        ((1, 3, 3, 32), 5, (0, 0)),
        ((1, 6, 6, 1024), 33, (1, 1)),
        ((1, 9, 9, 80), 40, (1, 1)),
        ((1, 5, 7, 4), 128, (1, 1)),
        ((7, 14, 14, 32), 40, (1, 1)),
        ((3, 6, 12, 64), 20, (1, 1)),
        ((2, 5, 6, 2), 20, (1, 0)),
        ((1, 5, 6, 34), 16, (0, 1)),
    ],
)
def test_winograd_convolutions(source, shape, filters, pad):
    rng, algo = np.random.default_rng(filters), "int8_conv_winograd"
    _image(rng, algo, source, shape, filters, kernel=(3, 3), pad=pad)


@pytest.mark.parametrize("extent", [(8, 8), (6, 10), (9, 2)])
@pytest.mark.parametrize("sign", [1, -1])
def test_winograd_sums_of_extreme_values_are_exact(sign, extent):
    rng = np.random.default_rng(3)
    checks = np.indices(extent).sum(0) % 2
    data = np.broadcast_to(255 * checks[None, :, :, None], (1, *extent, 1024))
    data = mx.nd.array(data, dtype="uint8")
    patterns = np.ones((3, 3)), 1 - 2 * (np.indices((3, 3)).sum(0) % 2)
    weight = np.concatenate([np.tile(127 * sign * one, (9, 1024, 1, 1)) for one in patterns])
    attrs = {"kernel": (3, 3), "pad": (1, 1), "num_filter": 18}
    form = {"batch": 1, "source": extent}
    weight = mx.nd.array(weight, dtype="int8")
    _layer(rng, "_int8_conv", "int8_conv_winograd", data, weight, attrs, form)


def test_winograd_sums_are_parted_for_all_filters():
    """A filter whose halves are exact still is when a later one needs shorter parts."""
    rng, extent = np.random.default_rng(4), (8, 8)
    weight = np.zeros((2, 448, 3, 3))
    weight[0, 128:256] = 127  # exact in parts of 224 channels, not from 128 to 256
    weight[1, 68:188] = 127  # exact in parts of 128 channels, not of 224
    data = mx.nd.array(np.full((1, *extent, 448), 255), dtype="uint8")
    attrs = {"kernel": (3, 3), "pad": (1, 1), "num_filter": 2}
    form = {"batch": 1, "source": extent}
    weight = mx.nd.array(weight, dtype="int8")
    _layer(rng, "_int8_conv", "int8_conv_winograd", data, weight, attrs, form)


@pytest.mark.parametrize("source, zero", [("int8", -128), ("int8", 37), ("uint8", 255)])
def test_zero_points_other_than_0(source, zero):
    """Padding has the zero point's value, and sums compensate it."""
    rng = np.random.default_rng(zero % 256)
    data, weight = _drawn(rng, (2, 9, 7, 6), source), _drawn(rng, (20, 6, 3, 3), "int8")
    attrs = {"kernel": (3, 3), "pad": (1, 2), "num_filter": 20, "zero": zero}
    form = {"batch": 2, "source": (9, 7)}
    for algo in CONVOLUTIONS:
        _layer(rng, "_int8_conv", algo, data, weight, attrs, form)
    data, weight = _drawn(rng, (2, 9, 7, 68), source), _drawn(rng, (20, 68, 3, 3), "int8")
    for algo in CONVOLUTIONS:
        _layer(rng, "_int8_conv", algo, data, weight, {**attrs, "stride": (2, 2)}, form)
    data, weight = _drawn(rng, (2, 9, 7, 32), source), _drawn(rng, (20, 32, 3, 3), "int8")
    _layer(rng, "_int8_conv", "int8_conv_winograd", data, weight, attrs, form)
    data, weight = _drawn(rng, (2, 9, 7, 40), source), _drawn(rng, (40, 1, 3, 3), "int8")
    attrs |= {"num_filter": 40, "num_group": 40}
    _layer(rng, "_int8_conv", "int8_conv_depthwise", data, weight, attrs, form)
    data, weight = _drawn(rng, (5, 70), source), _drawn(rng, (21, 70), "int8")
    attrs = {"num_hidden": 21, "zero": zero}
    for algo in DENSE:
        _layer(rng, "_int8_dense", algo, data, weight, attrs, {"batch": 5})


@pytest.mark.parametrize("algo", CONVOLUTIONS)
def test_factors_of_any_size(algo):
    rng = np.random.default_rng(1)
    _image(rng, algo, "uint8", (2, 6, 5, 8), 40, exact=False, kernel=(3, 3))


@pytest.mark.parametrize("algo", CONVOLUTIONS)
@pytest.mark.parametrize("rows", [1, 5, 200])
def test_images_in_pieces(algo, rows):
    """More filters and pixels than a thread processes at once."""
    rng = np.random.default_rng(rows)
    shape = (1, rows, 40, 12)
    _image(rng, algo, "uint8", shape, 160, kernel=(3, 3), pad=(1, 1))


@pytest.mark.parametrize("algo", DENSE)
@pytest.mark.parametrize("source", ["int8", "uint8"])
@pytest.mark.parametrize(
    "rows, depth, hidden", [(1, 70, 21), (3, 64, 130), (20, 5, 64), (13, 9001, 70)]
)
def test_dense_layers(algo, source, rows, depth, hidden):
    rng = np.random.default_rng(rows)
    data, weight = _drawn(rng, (rows, depth), source), _drawn(rng, (hidden, depth), "int8")
    attrs = {"num_hidden": hidden}
    _layer(rng, "_int8_dense", algo, data, weight, attrs, {"batch": rows})
