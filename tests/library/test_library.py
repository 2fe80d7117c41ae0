"""Operators of libraries in C++: a small one is compiled here."""

import ctypes
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import mxcy as mx
from mxcy.library.random_states import random_states
from tests.conditions import await_that

COMPILER = shutil.which("c++") or shutil.which("g++")
SOURCE = Path(__file__).with_name("external.cc")
pytestmark = pytest.mark.skipif(COMPILER is None, reason="there is no C++ compiler")


def compiled(folder, name, *options):
    path = folder / f"{name}.so"
    command = [COMPILER, "-std=c++17", "-shared", "-fPIC", *options, str(SOURCE), "-o", str(path)]
    subprocess.run(command, check=True)
    return str(path)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    actual = compiled(tmp_path_factory.mktemp("library"), "libexternal")
    with pytest.warns(UserWarning, match="0 graph partitioners and 1 graph passes are not used"):
        mx.library.load(actual)
    return actual


@pytest.fixture
def arrays(path):
    return mx.nd.array([[1, 2, 3], [4, 5, 6]]), mx.nd.array([[7, 8, 9], [1, 2, 3]])


def assert_live_objects(path, expected):
    """Wait: threads that ran operators release objects soon after the results are ready."""
    library = ctypes.CDLL(path)
    await_that(lambda: library.live_objects() == expected)


def test_outputs(arrays):
    a, b = arrays
    product, total = mx.nd.ext_pair(a, b, scale=2)
    np.testing.assert_array_equal(product.asnumpy(), 2 * a.asnumpy() * b.asnumpy())
    np.testing.assert_array_equal(total.asnumpy(), a.asnumpy() + b.asnumpy())
    out = [mx.nd.zeros((2, 3)) for _ in range(2)]
    assert mx.nd.op.ext_pair(a, b, out=out) is out
    np.testing.assert_array_equal(out[0].asnumpy(), a.asnumpy() * b.asnumpy())


def test_gradients(arrays):
    a, b = arrays
    for array in arrays:
        array.attach_grad()
    with mx.autograd.record():
        product, total = mx.nd.ext_pair(a, b, scale=3)
        loss = (product * 2 + total).sum()
    loss.backward()
    np.testing.assert_array_equal(a.grad.asnumpy(), 6 * b.asnumpy() + 1)
    np.testing.assert_array_equal(b.grad.asnumpy(), 6 * a.asnumpy() + 1)


def test_symbols(arrays):
    a, b = arrays
    net = mx.sym.ext_pair(mx.sym.var("a"), mx.sym.var("b"), scale=3, name="pair")
    assert net.list_outputs() == ["pair_output0", "pair_output1"]
    assert net.infer_shape(a=(2, 3), b=(2, 3))[:2] == ([(2, 3), (2, 3)], [(2, 3), (2, 3)])
    assert '"attrs": {"scale": "3"}' in re.sub(r"\s+", " ", net.tojson())
    again = mx.sym.load_json(net.tojson())
    executor = again.simple_bind(mx.cpu(), a=(2, 3), b=(2, 3))
    product, total = executor.forward(is_train=True, a=a, b=b)
    np.testing.assert_array_equal(product.asnumpy(), 3 * a.asnumpy() * b.asnumpy())
    executor.backward([mx.nd.ones((2, 3)), mx.nd.zeros((2, 3))])
    np.testing.assert_array_equal(executor.grad_dict["a"].asnumpy(), 3 * b.asnumpy())
    with pytest.raises(mx.MXNetError, match="ext_pair: expected 2 inputs, got 1"):
        mx.sym.ext_pair(mx.sym.var("a"))


def test_blocks(arrays):
    class Net(mx.gluon.HybridBlock):
        def hybrid_forward(self, F, a, b):
            product, total = F.ext_pair(a, F.exp(b), scale=0.5)
            return product - total

    net = Net()
    a, b = arrays[0].asnumpy(), np.exp(arrays[1].asnumpy())
    for hybridize in (False, True):
        net.hybridize(hybridize)
        np.testing.assert_allclose(net(*arrays).asnumpy(), a * b / 2 - (a + b), rtol=1e-6)


def test_objects_and_inputs_that_are_written(path):
    assert_live_objects(path, 0)
    data, count = mx.nd.array([1, 2]), mx.nd.zeros(1)
    for _ in range(2):  # each call has a separate object
        assert mx.nd.contrib.ext_count(data, count, start=4).asnumpy().tolist() == [5, 10]
    assert count.asscalar() == 2
    assert_live_objects(path, 0)
    data.attach_grad()
    with mx.autograd.record():
        out = mx.nd.contrib.ext_count(data, count, start=6)
    out.backward(mx.nd.array([1, 10]))  # by the object of the forward pass
    assert data.grad.asnumpy().tolist() == [7, 70] and count.asscalar() == 3


def test_an_executor_keeps_its_object(path):
    assert_live_objects(path, 0)
    net = mx.sym.contrib.ext_count(mx.sym.var("data"), mx.sym.var("count"))
    assert net.list_arguments() == ["data"] and net.list_auxiliary_states() == ["count"]
    assert net.infer_shape(data=(2,)) == ([(2,)], [(2,)], [(1,)])
    executor = net.simple_bind(mx.cpu(), data=(2,))
    for expected in ([1, 2], [2, 4], [3, 6]):
        (out,) = executor.forward(data=mx.nd.array([1, 2]))
        assert out.asnumpy().tolist() == expected
    assert executor.aux_dict["count"].asscalar() == 3
    assert_live_objects(path, 1)
    del executor, out
    assert_live_objects(path, 0)


def test_random_numbers_follow_the_seed(arrays):
    def drawn():
        return np.array([out.asnumpy() for out in mx.nd.ext_pair(*arrays, noise=1)])

    mx.random.seed(4)
    first, second = drawn(), drawn()
    mx.random.seed(4)
    np.testing.assert_array_equal(drawn(), first)
    noise = np.where(np.arange(6) % 2, first[1].ravel(), first[0].ravel())
    assert len(set(noise)) == 6 and (noise >= 0).all() and (noise < 1).all()
    assert (second != first).any()


def test_failures_carry_the_librarys_message(arrays):
    with pytest.raises(
        mx.MXNetError, match=r"ParseAttrs.*'ext_pair'(.|\n)*nonsense is no attribute"
    ):
        mx.nd.ext_pair(*arrays, nonsense=1)
    with pytest.raises(mx.MXNetError, match=r"FCompute.*'ext_pair'(.|\n)*scale is negative"):
        mx.nd.ext_pair(*arrays, scale=-1)[0].wait_to_read()
    with pytest.raises(mx.MXNetError, match=r"InferType.*'ext_pair'(.|\n)*expected float32"):
        mx.nd.ext_pair(*(array.astype("float64") for array in arrays))
    with pytest.raises(mx.MXNetError, match=r"ext_pair.*input1 must be an NDArray"):
        mx.nd.ext_pair(arrays[0])


def test_unloadable_libraries(path, tmp_path):
    odd = tmp_path / "odd.so"
    odd.write_text("no library")
    for file, message in (
        ("libexternal.so", "is not an absolute path|does NOT exist"),
        ("/nowhere/libexternal.so", "does NOT exist"),
        (str(SOURCE), "is NOT a library file"),
        (str(odd), "Error loading library .*odd.so"),
        (compiled(tmp_path, "older", "-DVERSION=7"), "has version 7 of lib_api.h, expected 11"),
    ):
        with pytest.raises(mx.MXNetError, match=message):
            mx.library.load(file)
    count = len(mx.library.loaded_libs)
    with pytest.warns(UserWarning):  # what has been loaded may be loaded again
        mx.library.load(path)
    assert len(mx.library.loaded_libs) == count + 1
    assert mx.library.compiled_with_gcc_cxx11_abi() in (-1, 0, 1)


def test_names_of_own_operators_stay(tmp_path):
    text = SOURCE.read_text().replace('"ext_pair"', '"relu"')
    source = tmp_path / "taken.cc"
    source.write_text(text)
    target = tmp_path / "taken.so"
    command = [COMPILER, "-std=c++17", "-shared", "-fPIC", str(source), "-o", str(target)]
    subprocess.run(command, check=True)
    program = f"""
import mxcy as mx
try:
    mx.library.load({str(target)!r})
except mx.MXNetError as error:
    assert "operator relu exists already" in str(error)
    assert mx.nd.relu(mx.nd.array([-1])).asscalar() == 0
    print("refused")
"""
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert run.stdout == "refused\n", run.stderr


def test_random_engines_stay_in_place_and_follow_the_seed():
    def words():
        address = random_states()
        engines = (ctypes.c_uint64 * (1024 * 625)).from_address(address)
        return address, bytes(engines)

    mx.random.seed(3)
    place, first = words()
    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(lambda _: random_states(), range(8))) == {place}
    mx.random.seed(4)
    assert words()[0] == place and words()[1] != first
    mx.random.seed(3)
    assert words() == (place, first)
