"""Operators that move elements, on arrays large enough for threads, joined loops and odd blocks."""

import numpy as np
import pytest

import mxcy as mx

nd = mx.nd
RNG = np.random.default_rng(11)
BIG = RNG.integers(-100, 100, (700, 501)).astype("float32")
DEEP = RNG.integers(-100, 100, (9, 130, 11, 31)).astype("float32")
DTYPES = ("float32", "float64", "float16", "int8", "int64")

#: the call on an NDArray, and the same with NumPy
MOVES = {
    "transpose": (lambda x: nd.transpose(x), lambda x: x.T),
    "swap inner": (lambda x: nd.SwapAxis(x, dim1=0, dim2=1), lambda x: x.swapaxes(0, 1)),
    "slice": (lambda x: nd.slice(x, begin=(3, 7), end=(690, 499)), lambda x: x[3:690, 7:499]),
    "slice one column": (lambda x: nd.slice_axis(x, axis=1, begin=5, end=6), lambda x: x[:, 5:6]),
    "slice steps": (
        lambda x: nd.slice(x, begin=(None, None), end=(None, 2), step=(3, -2)),
        lambda x: x[::3, :2:-2],
    ),
    "flip rows": (lambda x: nd.reverse(x, axis=0), lambda x: x[::-1]),
    "flip columns": (lambda x: nd.reverse(x, axis=1), lambda x: x[:, ::-1]),
    "tile": (lambda x: nd.tile(x, reps=(2, 3)), lambda x: np.tile(x, (2, 3))),
    "repeat pairs": (lambda x: nd.repeat(x, repeats=2, axis=1), lambda x: np.repeat(x, 2, 1)),
    "repeat rows": (lambda x: nd.repeat(x, repeats=3, axis=0), lambda x: np.repeat(x, 3, 0)),
    "broadcast": (
        lambda x: nd.broadcast_to(nd.Reshape(x, shape=(700, 1, 501)), shape=(0, 3, 0)),
        lambda x: np.broadcast_to(x[:, None], (700, 3, 501)),
    ),
    "diagonal": (lambda x: nd.diag(x, k=100), lambda x: np.diagonal(x, 100)),
    "copy": (lambda x: nd.identity(x), lambda x: x),
    "split": (
        lambda x: nd.concat(*nd.SliceChannel(x, num_outputs=3), dim=0),
        lambda x: np.concatenate(np.split(x, 3, 1), 0),
    ),
}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", MOVES)
def test_moves_large_matrices(name, dtype):
    move, expected = MOVES[name]
    values = BIG.astype(dtype)
    np.testing.assert_array_equal(move(nd.array(values, dtype=dtype)).asnumpy(), expected(values))


@pytest.mark.parametrize("axes", [(0, 2, 3, 1), (3, 2, 1, 0), (0, 2, 1, 3), (1, 0, 3, 2)])
def test_transposes_many_dimensions(axes):
    actual = nd.transpose(nd.array(DEEP), axes=axes).asnumpy()
    np.testing.assert_array_equal(actual, DEEP.transpose(axes))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("extents", [(1, 1, 1, 1), (1, 3, 2), (400, 57), (300,)])
@pytest.mark.parametrize("dim", [0, 1])
def test_joins_and_cuts_blocks_of_any_size(extents, dim, dtype):
    shapes = [(n, 600) if dim == 0 else (600, n) for n in extents]
    parts = [RNG.integers(-100, 100, shape).astype(dtype) for shape in shapes]
    arrays = [nd.array(part, dtype=dtype) for part in parts]
    joined = nd.concat(*arrays, dim=dim)
    np.testing.assert_array_equal(joined.asnumpy(), np.concatenate(parts, dim))
    starts = tuple(int(n) for n in np.cumsum((0, *extents[:-1])))
    cut = nd._internal._split_v2(joined, indices=starts, axis=dim)
    for part, values in zip(cut if isinstance(cut, list) else [cut], parts, strict=True):
        np.testing.assert_array_equal(part.asnumpy(), values)


def test_sums_many_arrays_in_place():
    parts = [RNG.normal(size=(300, 400)).astype("float32") for _ in range(5)]
    arrays = [nd.array(part) for part in parts]
    nd.add_n(*arrays, out=arrays[3])
    np.testing.assert_allclose(arrays[3].asnumpy(), sum(parts), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("mode", ["edge", "reflect"])
def test_pads_large_images(mode):
    image = RNG.normal(size=(8, 5, 70, 90)).astype("float32")
    actual = nd.Pad(nd.array(image), mode=mode, pad_width=(0, 0, 0, 0, 3, 5, 60, 2))
    expected = np.pad(image, ((0, 0), (0, 0), (3, 5), (60, 2)), mode=mode)
    np.testing.assert_array_equal(actual.asnumpy(), expected)


@pytest.mark.parametrize("number", [0.0, 2.5])
@pytest.mark.parametrize("dtype", DTYPES)
def test_pads_rows_of_many_elements(dtype, number):
    image = RNG.integers(-100, 100, (5, 40, 300)).astype(dtype)
    number = np.dtype(dtype).type(number)
    for widths in (((1, 0), (0, 2), (3, 70)), ((0, 2), (0, 0), (0, 0)), ((0, 0), (9, 9), (0, 0))):
        actual = mx.np.pad(mx.np.array(image, dtype=dtype), widths, constant_values=number)
        expected = np.pad(image, widths, constant_values=number)
        np.testing.assert_array_equal(actual.asnumpy(), expected)


@pytest.mark.parametrize("columns", [(0, 501), (3, 490)])
def test_gradient_of_a_slice_of_most_of_a_matrix(columns):
    x = nd.array(BIG)
    x.attach_grad()
    bounds = dict(begin=(5, columns[0]), end=(699, columns[1]))
    with mx.autograd.record():
        part = nd.slice(x, **bounds)
    part.backward(part)
    expected = np.zeros_like(BIG)
    kept = slice(5, 699), slice(*columns)
    expected[kept] = BIG[kept]
    np.testing.assert_array_equal(x.grad.asnumpy(), expected)


def test_assigns_in_place():
    base, box = nd.array(BIG), nd.array(-BIG[:10, :20])
    bounds = dict(begin=(5, 7), end=(15, 27))
    expected = BIG.copy()
    expected[5:15, 7:27] = -BIG[:10, :20]
    result = nd._internal._slice_assign(base, box, out=base, **bounds)
    assert result is base
    np.testing.assert_array_equal(base.asnumpy(), expected)
    for number in (2.5, -3):
        nd._internal._slice_assign_scalar(base, scalar=number, out=base, **bounds)
        expected[5:15, 7:27] = number
        np.testing.assert_array_equal(base.asnumpy(), expected)


def test_writes_over_its_input():
    """An output that is an input's memory must not be read after it was written."""
    square = RNG.normal(size=(64, 64)).astype("float32")
    for name, expected in (("transpose", square.T), ("reverse", square[::-1])):
        array = nd.array(square)
        getattr(nd, name)(array, out=array, **({"axis": 0} if name == "reverse" else {}))
        np.testing.assert_array_equal(array.asnumpy(), expected)


def test_results_do_not_share_memory():
    x = nd.array([[1.0, 2.0]])
    for y in (
        nd.Reshape(x, shape=(2, 1)),
        nd.Flatten(x),
        nd.expand_dims(x, axis=0),
        nd.identity(x),
    ):
        y[:] = 7
    assert x.asnumpy().tolist() == [[1.0, 2.0]]


def test_empty_parts():
    x = nd.array(np.ones((2, 3)))
    nothing = nd.slice(x, begin=(2,), end=(1,))
    assert nothing.shape == (0, 3)
    assert nd.concat(nothing, x, dim=0).shape == (2, 3)
    assert nd.transpose(nothing).shape == (3, 0)
    assert nd.tile(nothing, reps=(2, 2)).shape == (0, 6)
    assert nd.repeat(x, repeats=0).shape == (0,)
    assert nd.reverse(nothing, axis=0).shape == (0, 3)
    assert nd.one_hot(nd.array([1, 2]), depth=0).shape == (2, 0)
