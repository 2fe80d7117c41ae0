"""Functions that make arrays: what the golden answers cannot say."""

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
    for shape in ("ab", 2.5, (2, None)):
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
