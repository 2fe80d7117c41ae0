"""Functions that make arrays: beyond the golden results."""

import inspect
import itertools
import pickle

import numpy as np
import pytest

import mxcy as mx
from mxcy.base import MXNetError

nd = mx.nd


def test_array_copies_its_source():
    source = np.ones((2, 2), np.float32)
    x = nd.array(source)
    y = nd.array(x)
    source[:] = 5
    x[:] = 6
    assert y.asnumpy().tolist() == [[1, 1], [1, 1]]


def test_array_takes_any_layout():
    source = np.arange(6.0).reshape(2, 3)
    for values in (source.T, source[:, ::-1], np.asfortranarray(source), source.astype(">f8")):
        assert nd.array(values, dtype="float64").asnumpy().tolist() == values.tolist()
    assert nd.array(np.array([1, 2, 3], "int16")).dtype is np.float32


def test_array_of_arrays():
    rows = [nd.array([1, 2]), nd.array([3, 4])]
    assert nd.array(rows).asnumpy().tolist() == [[1, 2], [3, 4]]
    assert nd.array([5, 6], dtype="bfloat16").astype("int32").asnumpy().tolist() == [5, 6]


def test_contexts_may_be_texts():
    assert nd.array([1], ctx="cpu(1)").context == mx.cpu(1)
    with mx.cpu(3):
        for made in (
            nd.array([1]),
            nd.zeros(2),
            nd.arange(3),
            nd.full(2, 1),
            nd.empty(2),
            nd.eye(2),
        ):
            assert made.context == mx.cpu(3)
    with pytest.raises(MXNetError, match="gpu"):
        nd.zeros((2,), ctx=mx.gpu(0))
    with pytest.raises(MXNetError, match="not a context"):
        nd.zeros((2,), ctx="house")


def test_unknown_shapes_need_np_shape():
    for make in (nd.zeros, nd.ones):
        for shape in ((), (0,), (2, 0)):
            with pytest.raises(MXNetError, match="np_shape"):
                make(shape)
            with mx.util.np_shape():
                assert make(shape).shape == shape


def test_out_takes_the_result():
    out = nd.zeros((2, 2))
    assert nd.ones((2, 2), out=out) is out
    assert nd.full((2, 2), 3, out=out) is out
    assert out.asnumpy().tolist() == [[3, 3], [3, 3]]
    with pytest.raises(MXNetError, match="out"):
        nd.zeros((3,), out=out)


def test_shapes_must_be_numbers():
    for shape in ("ab", 2.5, (2, None), (2.5, 3)):
        with pytest.raises(MXNetError, match="shape"):
            nd.zeros(shape)
    with pytest.raises(MXNetError, match="negative"):
        nd.zeros((2, -1))


def test_half_ranges_are_rounded_once():
    values = nd.arange(0.3, 8, 0.1, dtype="float16").asnumpy()
    exact = np.float32(0.3) + np.arange(77, dtype="float32") * np.float32(0.1)
    np.testing.assert_array_equal(values, exact.astype("float16"))


def test_from_numpy_shares_and_locks_the_source():
    source = np.arange(6, dtype="float32").reshape(2, 3)
    x = nd.from_numpy(source)
    x[0, 0] = 9
    assert source[0, 0] == 9
    with pytest.raises(ValueError, match="read-only"):
        source[0, 0] = 1
    y = nd.from_numpy(source)
    y[0, 0] = 7
    assert source[0, 0] == 9
    z = nd.from_numpy(np.arange(3), zero_copy=False)
    assert z.dtype is np.int64
    with pytest.raises(ValueError, match="c-contiguous"):
        nd.from_numpy(np.ones((2, 3)).T)


def test_imdecode_reads_images():
    cv2 = pytest.importorskip("cv2", reason="OpenCV is optional")
    pixels = np.zeros((4, 6, 3), np.uint8)
    pixels[1, 2] = (10, 20, 30)
    encoded = cv2.imencode(".png", pixels)[1].tobytes()
    image = nd.imdecode(encoded)
    assert image.shape == (1, 3, 4, 6)
    assert image[0, :, 1, 2].asnumpy().tolist() == [30, 20, 10]
    assert nd.imdecode(encoded, clip_rect=(2, 1, 5, 3)).shape == (1, 3, 2, 3)


def test_imdecode_needs_an_image_and_opencv():
    with pytest.raises(MXNetError, match="imdecode"):
        nd.imdecode(b"no image")


def test_histogram_counts_like_numpy():
    x = nd.array([1, 2, 2.5, 4])
    counts, bounds = nd.histogram(x, bins=3)
    expected = np.histogram([1, 2, 2.5, 4], bins=3)
    assert counts.asnumpy().tolist() == expected[0].tolist()
    np.testing.assert_allclose(bounds.asnumpy(), expected[1], rtol=1e-6)
    with pytest.raises(MXNetError, match="range"):
        nd.histogram(x, bins=3, range=(2, 1))
    with pytest.raises(MXNetError, match="bins"):
        nd.histogram(x, bins=nd.ones((1,)))


# --- the way in C and the way in Python ----------------------------------------------------------

SHAPES = (
    (2, 3),
    [4],
    3,
    (1,) * 8,
    (1,) * 9,
    (200, 200),
    (2.0, 3),
    (True, 2),
    (np.int64(2), 3),
    np.array([2, 3]),
)
WRONG = ((), 0, (0, 2), (-1, 2), (1.5,), "ab", None, (2, None), (2**70,), (2**40, 2**40))
PLACES = (
    {},
    {"ctx": None},
    {"ctx": mx.cpu(2)},
    {"ctx": "cpu(1)"},
    {"ctx": mx.cpu_pinned()},
    {"ctx": mx.gpu(99)},
    {"ctx": 7},
)
TYPES = (
    {},
    {"dtype": None},
    {"dtype": "int32"},
    {"dtype": np.float64},
    {"dtype": np.dtype("uint8")},
    {"dtype": "float16"},
    {"dtype": "bfloat16"},
    {"dtype": bool},
    {"dtype": int},
    {"dtype": "int128"},
    {"dtype": []},
)


def told(make, *args, **kwargs):
    """A comparable summary of a call's result or error."""
    try:
        made = make(*args, **kwargs)
    except Exception as error:
        return type(error), str(error)
    return made.shape, made.dtype, made.context, made.asnumpy().tobytes()


def same(make, *args, **kwargs):
    assert told(make, *args, **kwargs) == told(inspect.unwrap(make), *args, **kwargs), (
        f"{make.__name__} {args} {kwargs}"
    )


@pytest.mark.parametrize("make", [nd.zeros, nd.ones])
def test_constants_are_the_same_either_way(make):
    for shape in SHAPES + WRONG:
        for keywords in PLACES + TYPES:
            same(make, shape, **keywords)
        same(make, shape=shape)
        same(make, shape, None, "float32")
    same(make)
    same(make, (2, 3), shape=(2, 3))
    same(make, (2, 3), typo=1)
    with mx.cpu(3):
        same(make, (2, 3))
        assert make((2, 3)).context == mx.cpu(3)


def test_filled_arrays_are_the_same_either_way():
    for value in (
        0,
        1,
        2.5,
        -1,
        True,
        2**40,
        2**70,
        1e300,
        float("nan"),
        np.float32(3),
        [1, 2, 3],
        "a",
    ):
        for types in TYPES:
            same(nd.full, (2, 3), value, **types)
            same(nd.full, shape=(2, 3), val=value, **types)
    same(nd.full, (2, 3))
    same(nd.full, (0,), 1)


def test_ranges_are_the_same_either_way():
    bounds = (
        (5,),
        (0,),
        (2, 7),
        (2, 7, 2),
        (7, 2, -2),
        (0.5, 10.5, 1.5),
        (0, 1, 0),
        (3, 1),
        (1e20,),
    )
    for given in (
        *bounds,
        (0, 1, 1e-5),
        (2**70,),
        (None,),
        ("a",),
        (1, None, 0.1),
        (0, 3e9, 2.5e9),
    ):
        for types in TYPES:
            same(nd.arange, *given, **types)
        same(nd.arange, *given, repeat=2)
    same(nd.arange, 1, step=0.25)
    same(nd.arange, start=1, stop=2, step=0.3, dtype="float64")


def test_reshaping_is_the_same_either_way():
    array = nd.arange(24).reshape((2, 3, 4))
    shapes = (
        (24,),
        (-1,),
        (6, 4),
        (0, -1),
        (0, 0, 0),
        (-1, 0),
        (0, 0, -1),
        (4, -1, 2),
        (-1, -1),
        (-2,),
        (-3, 4),
        (-4, 1, 2, -2),
        (5, 5),
        (2, 3),
        (24, 0),
        (7, -1),
        (-5, 2),
        (0, 0, 0, 0),
        (2**40, -1),
        (1,) * 9 + (24,),
        (2.0, 12),
        (np.int64(24),),
        ("a",),
        (48, -1),
        (0, 0, 0, 1, 0),
    )
    plain = inspect.unwrap(nd.NDArray.reshape)
    for shape in shapes:
        for arguments in ((shape,), shape, (list(shape),)):
            fast = told(nd.NDArray.reshape, array, *arguments)
            assert fast == told(plain, array, *arguments), shape
        same(nd.NDArray.reshape, array, shape=shape)
        same(nd.NDArray.reshape, array, shape, reverse=True)
    assert array.reshape(24).shares_memory(array)


def test_functions_in_c_are_known_by_their_names():
    assert pickle.loads(pickle.dumps(nd.zeros)) is nd.zeros
    assert list(inspect.signature(nd.zeros).parameters) == [
        "shape",
        "ctx",
        "dtype",
        "stype",
        "device",
        "kwargs",
    ]
    assert nd.full.__doc__.startswith("Create an array filled with a value.")
    assert nd.NDArray.asnumpy.__name__ == "asnumpy"
    assert nd.ones((2,)).asnumpy.__self__.shape == (2,)


@pytest.mark.parametrize(
    "make",
    [
        lambda **where: mx.nd.zeros((2,), **where),
        lambda **where: mx.nd.ones((2,), **where),
        lambda **where: mx.nd.full((2,), 3, **where),
        lambda **where: mx.nd.empty((2,), **where),
        lambda **where: mx.nd.arange(2, **where),
        lambda **where: mx.nd.eye(2, **where),
        lambda **where: mx.nd.linspace(0, 1, 2, **where),
        lambda **where: mx.nd.array([1, 2], **where),
        lambda **where: mx.nd.random.uniform(shape=2, **where),
        lambda **where: mx.nd.random_normal(shape=2, **where),
    ],
)
def test_device_by_its_name_in_mxnet_2(make):
    assert make(device=mx.cpu(3)).context == mx.cpu(3)
    assert make(device=mx.cpu(3)).shape == make(ctx=mx.cpu(3)).shape
    with pytest.raises(mx.MXNetError, match="gpu"):
        make(device=mx.gpu(99)).wait_to_read()


def test_seed_of_a_device():
    mx.random.seed(5, device="all")
    first = mx.nd.random.uniform(shape=4).asnumpy()
    mx.random.seed(5, device=mx.cpu())
    assert (mx.nd.random.uniform(shape=4).asnumpy() == first).all()
    assert mx.context.Device is mx.device.Device is mx.Context


def test_which_slices_lie_side_by_side():
    slices = [slice(None), slice(1, 3), slice(0, 1), slice(2, 2), slice(None, None, -1)]
    slices += [slice(None, None, 2), slice(20)]
    array = np.zeros((2, 3, 4))
    told = mx.nd.NDArray._basic_indexing_slice_is_contiguous
    for keys in itertools.product(slices, repeat=3):
        for count in (1, 2, 3):
            actual = told(keys[:count], array.shape)
            assert actual == array[keys[:count]].flags.contiguous, keys[:count]
