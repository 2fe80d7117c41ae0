"""Arrays, generators, data sets and context managers of mx.test_utils."""

import bz2
import logging
import os
import zipfile
from pathlib import Path

import numpy as np
import pytest

import mxcy as mx

utils = mx.test_utils


def test_random_things_are_those_of_real_mxnet():
    np.random.seed(1)
    assert utils.rand_shape_2d() == (6, 9)
    assert utils.rand_shape_3d() == (10, 6, 1)
    assert utils.rand_shape_nd(4, 5) == (1, 2, 5, 5)
    assert utils.rand_shape_2d(5, 5, True) == (1, 2)
    assert utils.rand_ndarray((2, 3)).shape == (2, 3)


def test_random_arrays():
    one = utils.random_arrays((2,))
    assert one.shape == (2,) and one.dtype == np.float32
    assert [a.shape for a in utils.random_arrays((2,), (1, 2))] == [(2,), (1, 2)]
    assert np.ndim(utils.random_arrays(())) == 0
    (even,) = utils.random_uniform_arrays((50,), low=2, high=3)
    assert even.min() >= 2 and even.max() < 3
    assert sorted(utils.random_sample([1, 2, 3], 3)) == [1, 2, 3]
    assert all(0 <= n < 5 for n in utils.rand_coord_2d(0, 5, 0, 5))
    assert utils.rand_ndarray((2, 3), dtype="float64", ctx=mx.cpu(1)).context == mx.cpu(1)


def test_regular_arrays():
    assert utils.create_vector(3).asnumpy().tolist() == [0, 1, 2]
    assert utils.create_2d_tensor(2, 3).asnumpy().tolist() == [[0, 0, 0], [1, 1, 1]]
    assert utils.create_2d_tensor(2, 3).dtype == np.int64
    array = utils.create_2d_np_tensor(2, 3, np.int32)
    assert type(array) is mx.np.ndarray and array.tolist() == [[0, 0, 0], [1, 1, 1]]
    assert utils.get_identity_mat(2).asnumpy().tolist() == [[1, 0], [0, 1]]
    assert utils.get_identity_mat_batch(2).shape == (2, 2, 2)
    pair = np.array([1.0, 2.0])
    assert utils.assign_each(pair, lambda v: v + 1).tolist() == [2, 3]
    assert utils.assign_each2(pair, pair, lambda v, w: v * w).tolist() == [1, 4]
    assert utils.collapse_sum_like(np.ones((3, 2, 4)), (2, 1)).tolist() == [[12], [12]]


@pytest.mark.parametrize("axis", [None, 1, (0, 2), -1])
def test_reductions(axis):
    table = np.arange(24.0).reshape(2, 3, 4)
    for keepdims in (False, True):
        expected = table.sum(axis=axis, keepdims=keepdims)
        np.testing.assert_array_equal(utils.np_reduce(table, axis, keepdims, np.sum), expected)


def test_matrices():
    symmetric = utils.new_sym_matrix_with_real_eigvals_nd((2, 3, 3))
    np.testing.assert_allclose(symmetric, symmetric.transpose(0, 2, 1), atol=1e-12)
    general = utils.new_matrix_with_real_eigvals_nd((2, 3, 3))
    values = np.linalg.eigvals(general)
    np.testing.assert_allclose(values.imag, 0, atol=1e-9)
    columns = utils.new_orthonormal_matrix_2d(4)
    np.testing.assert_allclose(columns @ columns.T, np.eye(4), atol=1e-12)


def test_generators():
    draw = np.random.RandomState(1)
    intervals, shares = utils.gen_buckets_probs_with_ppf(lambda p: p, 4)
    assert intervals[1] == (0.25, 0.5) and shares == [0.25] * 4

    def even(count):
        return draw.uniform(0, 1, count)

    def cubed(count):
        return mx.nd.array(even(count) ** 3)

    chance, counts, expected = utils.chi_square_check(even, intervals, shares, 1000)
    assert 0.01 < chance <= 1 and counts.sum() == 1000 and expected.tolist() == [250] * 4
    assert utils.chi_square_check(cubed, intervals, shares, 1000)[0] < 1e-10
    with pytest.raises(AssertionError, match="must be a list"):
        utils.chi_square_check(even, 4, shares)
    assert len(utils.verify_generator(even, intervals, shares, 1000, nrepeat=3)) == 3
    with pytest.raises(AssertionError, match="Generator test fails"):
        utils.verify_generator(cubed, intervals, shares, 1000, nrepeat=3)
    dice = utils.chi_square_check(lambda n: draw.randint(0, 3, n), [0, 1, 2], [1 / 3] * 3, 999)
    assert dice[0] > 0.01
    sigma = np.sqrt(1 / 12)
    assert utils.mean_check(even, 0.5, sigma, 10000)
    assert not utils.mean_check(even, 0.6, sigma, 10000)
    assert utils.var_check(lambda n: draw.normal(0, 2, n), 2, 10000)
    assert not utils.var_check(even, 2, 10000)


def test_digits_that_come_with_the_package(tmp_path, caplog):
    with caplog.at_level(logging.INFO):
        digits = utils.get_mnist(str(tmp_path / "none"))
    assert "There is no MNIST" in caplog.text
    assert digits["train_data"].shape == (4000, 1, 28, 28)
    assert digits["test_data"].shape == (1000, 1, 28, 28)
    assert digits["train_data"].max() == 1 and digits["train_data"].dtype == np.float32
    assert set(digits["test_label"]) == set(range(10))


def test_files_of_digits(tmp_path):
    folder = str(tmp_path / "data")
    train, test = utils.get_mnist_iterator(100, (784,), num_parts=2, part_index=1, path=folder)
    assert len(os.listdir(folder)) == 4
    assert train.provide_data == [("data", (100, 784))]
    assert [len(list(iterator)) for iterator in (train, test)] == [20, 10]
    _, test = utils.get_mnist_iterator(1000, (1, 28, 28), path=folder)
    digits = utils.get_mnist(folder)
    batch = next(test)
    np.testing.assert_array_equal(batch.label[0].asnumpy(), digits["test_label"])
    np.testing.assert_allclose(batch.data[0].asnumpy() * 256 / 255, digits["test_data"], atol=1e-6)


def test_downloads(tmp_path):
    (tmp_path / "page.txt").write_text("hello")
    url = (tmp_path / "page.txt").as_uri()
    path = utils.download(url, dirname=str(tmp_path / "new"))
    assert path == str(tmp_path / "new" / "page.txt")
    assert Path(path).read_text() == "hello"
    with zipfile.ZipFile(tmp_path / "page.zip", "w") as archive:
        archive.write(tmp_path / "page.txt", "inside.txt")
    utils.get_zip_data(str(tmp_path / "zip"), (tmp_path / "page.zip").as_uri(), "page.zip")
    assert (tmp_path / "zip" / "inside.txt").read_text() == "hello"
    (tmp_path / "page.bz2").write_bytes(bz2.compress(b"hello"))
    for _ in range(2):
        utils.get_bz2_data(
            str(tmp_path / "bz"), "inside", (tmp_path / "page.bz2").as_uri(), "page.bz2"
        )
    assert (tmp_path / "bz" / "inside").read_text() == "hello"


def test_dummy_iterators_repeat_their_first_batch():
    iterator = utils.DummyIter(mx.io.NDArrayIter(np.arange(4.0), None, 2))
    assert next(iterator) is next(iterator) and iterator.provide_data == [("data", (2,))]


def test_surroundings(monkeypatch):
    monkeypatch.setenv("MY_TEST_A", "1")
    with utils.environment({"MY_TEST_A": None, "MY_TEST_B": 2}):
        assert mx.util.getenv("MY_TEST_A") is None and mx.util.getenv("MY_TEST_B") == "2"
        with utils.environment("MY_TEST_B", "3"):
            assert mx.util.getenv("MY_TEST_B") == "3"
    with pytest.raises(AssertionError, match="one dict"), utils.environment(["MY_TEST_A"]):
        pass
    assert mx.util.getenv("MY_TEST_A") == "1" and mx.util.getenv("MY_TEST_B") is None
    assert len(utils.list_gpus()) == mx.num_gpus()
    assert utils.is_op_runnable() and not utils.has_tvm_ops()
    assert utils.effective_dtype(np.ones(1)) == np.float64 and utils.default_dtype() is np.float32


def test_the_default_context():
    before = utils.default_context()
    try:
        utils.set_default_context(mx.cpu(1))
        assert utils.default_context() == mx.cpu(1) == mx.nd.ones(1).context
    finally:
        utils.set_default_context(before)


def test_discarded_errors(capfd):
    os.write(2, b"kept\n")
    with utils.discard_stderr():
        os.write(2, b"lost\n")
    os.write(2, b"kept too\n")
    assert capfd.readouterr().err == "kept\nkept too\n"
