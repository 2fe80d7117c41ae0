"""Arrays on gpu(0): placement, copies, views, indexing and memory statistics."""

import gc

import numpy as np
import pytest

import mxcy as mx
from mxcy.base import MXNetError

GPU = mx.gpu(0)


@pytest.fixture
def x():
    return np.random.default_rng(0).standard_normal((5, 6)).astype(np.float32)


def test_devices():
    assert mx.num_gpus() == mx.context.num_gpus() >= 1
    free, total = mx.context.gpu_memory_info(0)
    assert 0 < free <= total
    with pytest.raises(MXNetError, match=r"only gpu\(0\) to gpu"):
        mx.nd.ones((2,), ctx=mx.gpu(mx.num_gpus()))


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "uint8", "int64", "bool"])
def test_there_and_back(x, dtype):
    values = (10 * x).astype(dtype)
    array = mx.nd.array(values, ctx=GPU, dtype=dtype)
    assert array.context == GPU
    assert array.on_device
    np.testing.assert_array_equal(array.asnumpy(), values)
    np.testing.assert_array_equal(np.asarray(array), values)


def test_bfloat16(x):
    array = mx.nd.array(x, ctx=GPU, dtype="bfloat16")
    expected = mx.nd.array(x, dtype="bfloat16")
    assert (array.asnumpy() == expected.asnumpy()).all()
    twice = (array + array).astype("float32").asnumpy()
    np.testing.assert_array_equal(twice, (expected + expected).astype("float32").asnumpy())


@pytest.mark.parametrize("shape", [(), (0,), (3, 0, 2), (1,)])
def test_few_elements(shape):
    with mx.util.np_shape():
        array = mx.nd.array(np.ones(shape), ctx=GPU)
        assert (array + 1).asnumpy().shape == shape
        assert ((array + 1).asnumpy() == 2).all()


def test_copies_between_devices(x):
    host = mx.nd.array(x)
    there = host.as_in_context(GPU)
    assert there.context == GPU
    assert there.as_in_context(GPU) is there
    np.testing.assert_array_equal(there.copyto(mx.cpu()).asnumpy(), x)
    other = mx.nd.zeros(x.shape, ctx=GPU)
    assert there.copyto(other) is other
    np.testing.assert_array_equal(other.asnumpy(), x)
    there.copyto(host[:])
    cast = mx.nd.zeros(x.shape, ctx=GPU, dtype="int32")
    host.copyto(cast)
    np.testing.assert_array_equal(cast.asnumpy(), x.astype("int32"))
    cast.copyto(host)
    np.testing.assert_array_equal(host.asnumpy(), x.astype("int32"))


def test_views_share_memory(x):
    array = mx.nd.array(x, ctx=GPU)
    for part, expected in (
        (array[1:3], x[1:3]),
        (array[2], x[2]),
        (array.reshape((6, 5)), x.reshape(6, 5)),
        (array[1:4].reshape((-1,)), x[1:4].reshape(-1)),
    ):
        np.testing.assert_array_equal(part.asnumpy(), expected)
        part += 1
        expected += 1
    np.testing.assert_array_equal(array.asnumpy(), x)


KEYS = {
    "column": (slice(None), 2),
    "steps": (slice(None, None, 2), slice(1, None, 3)),
    "backwards": slice(None, None, -1),
    "element": (1, 2),
    "list": [0, 3],
    "places": (np.array([0, 4, 0]), np.array([1, 1, 5])),
    "none": (slice(None), None, slice(0, 2)),
}


@pytest.mark.parametrize("name", KEYS)
def test_keys_read(x, name):
    key = KEYS[name]
    array, host = mx.nd.array(x, ctx=GPU), mx.nd.array(x)
    picked = array[key]
    assert picked.context == GPU
    np.testing.assert_array_equal(picked.asnumpy(), host[key].asnumpy())


@pytest.mark.parametrize("name", KEYS)
@pytest.mark.parametrize("kind", ["number", "numpy", "gpu", "cpu"])
def test_keys_write(x, name, kind):
    key = KEYS[name]
    array, host = mx.nd.array(x, ctx=GPU), mx.nd.array(x)
    values = 2 * host[key].asnumpy() + 1
    value = {
        "number": 3.5,
        "numpy": values,
        "gpu": mx.nd.array(values, ctx=GPU),
        "cpu": mx.nd.array(values),
    }[kind]
    array[key] = value
    host[key] = mx.nd.array(values) if kind == "gpu" else value
    np.testing.assert_array_equal(array.asnumpy(), host.asnumpy())


def test_keys_of_mx_np(x):
    with GPU:
        array = mx.np.array(x)
        assert array.ctx == GPU
        np.testing.assert_array_equal(array[::2, 1].asnumpy(), x[::2, 1])
        np.testing.assert_array_equal(array[array > 0].asnumpy(), x[x > 0])
        array[1, ::-2] = array[0, :3]
        x[1, ::-2] = x[0, :3]
        np.testing.assert_array_equal(array.asnumpy(), x)


def test_the_host_does_not_touch_the_memory(x):
    array = mx.nd.array(x, ctx=GPU)
    with pytest.raises(MXNetError, match=r"cannot access the memory of gpu\(0\)"):
        array.numpy_view()
    with pytest.raises((BufferError, TypeError)):  # of the two fronts
        memoryview(array)


def test_other_contexts_are_refused(x):
    with pytest.raises(MXNetError, match="different contexts"):
        mx.nd.array(x, ctx=GPU) + mx.nd.array(x)


def test_memory_comes_back(x):
    mx.nd.array(x, ctx=GPU).asnumpy()
    gc.collect()
    mx.nd.waitall()
    before = mx.storage.stats(GPU)["live_bytes"]
    arrays = [mx.nd.array(x, ctx=GPU) * 2 for _ in range(20)]
    assert mx.storage.stats(GPU)["live_bytes"] > before
    del arrays
    gc.collect()
    mx.nd.waitall()
    assert mx.storage.stats(GPU)["live_bytes"] == before
    GPU.empty_cache()
    assert mx.storage.stats(GPU)["pooled_bytes"] == 0


def test_too_much_memory():
    total = mx.context.gpu_memory_info(0)[1]
    with pytest.raises(MXNetError, match=r"gpu\(0\) is out of memory"):
        mx.nd.empty((total,), ctx=GPU)
    assert mx.nd.ones((2,), ctx=GPU).asnumpy().sum() == 2


def test_pinned_memory(x):
    array = mx.nd.array(x, ctx=mx.cpu_pinned(0))
    assert array.context == mx.cpu_pinned(0)
    np.testing.assert_array_equal(array.as_in_context(GPU).asnumpy(), x)


def test_pickles_and_files(x, tmp_path):
    import pickle

    array = mx.nd.array(x, ctx=GPU)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(array)).asnumpy(), x)
    mx.nd.save(str(tmp_path / "x"), {"x": array})
    np.testing.assert_array_equal(mx.nd.load(str(tmp_path / "x"))["x"].asnumpy(), x)


WRITES = {
    "an element": lambda a: a.__setitem__((0, 1), 5),
    "rows": lambda a: a.__setitem__(slice(0, 2), 5),
    "all": lambda a: a.__setitem__(slice(None), np.ones(a.shape)),
    "all of an array": lambda a: a.__setitem__(slice(None), mx.nd.ones(a.shape, ctx=a.context)),
    "by arrays": lambda a: a.__setitem__(([0, 1], [1, 2]), 5),
    "through a view": lambda a: a[1:].__setitem__(0, 5),
}


@pytest.mark.parametrize("name", WRITES)
def test_read_only_arrays_stay(x, name):
    for ctx in (mx.cpu(), GPU):
        array = mx.nd.array(x, ctx=ctx)
        array.writable = False
        with pytest.raises(ValueError, match="read-only"):
            WRITES[name](array)
        np.testing.assert_array_equal(array.asnumpy(), x)
