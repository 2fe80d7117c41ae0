"""NDArrayIter yields the batches of real MXNet 1.9.1."""

import numpy as np
import pytest

import mxcy as mx

DATA, LABEL = np.arange(7.0), np.arange(7) * 10


def epochs(iterator, count):
    """The data of each batch, and its padding, for some epochs."""
    collected = []
    for number in range(count):
        if number:
            iterator.reset()
        collected.append([(batch.data[0].asnumpy().tolist(), batch.pad) for batch in iterator])
    return collected


def test_pad_fills_the_last_batch_from_the_start():
    actual = epochs(mx.io.NDArrayIter(DATA, LABEL, 3), 2)
    assert actual == [[([0, 1, 2], 0), ([3, 4, 5], 0), ([6, 0, 1], 2)]] * 2


def test_a_batch_larger_than_the_data_is_filled_by_repetition():
    assert epochs(mx.io.NDArrayIter(DATA[:2], None, 5), 2) == [[([0, 1, 0, 1, 0], 3)]] * 2


def test_discard_leaves_the_rest_out():
    actual = epochs(mx.io.NDArrayIter(DATA, LABEL, 3, last_batch_handle="discard"), 2)
    assert actual == [[([0, 1, 2], 0), ([3, 4, 5], 0)]] * 2


def test_roll_over_puts_the_rest_before_the_next_epoch():
    assert epochs(mx.io.NDArrayIter(DATA, LABEL, 3, last_batch_handle="roll_over"), 3) == [
        [([0, 1, 2], 0), ([3, 4, 5], 0)],
        [([6, 0, 1], 1), ([2, 3, 4], 0)],
        [([5, 6, 0], 2), ([1, 2, 3], 0), ([4, 5, 6], 0)],
    ]


def test_roll_over_collects_until_a_batch_is_full():
    actual = epochs(mx.io.NDArrayIter(DATA[:2], None, 5, last_batch_handle="roll_over"), 3)
    assert actual == [[], [], [([0, 1, 0, 1, 0], 4)]]


def test_hard_reset_forgets_the_rest():
    iterator = mx.io.NDArrayIter(DATA, LABEL, 3, last_batch_handle="roll_over")
    assert len(list(iterator)) == 2
    iterator.hard_reset()
    assert epochs(iterator, 1) == [[([0, 1, 2], 0), ([3, 4, 5], 0)]]


# Orders that real MXNet 1.9.1 has after numpy.random.seed(1).
SHUFFLED = {
    "pad": [[6, 2, 1, 0, 4, 3, 5, 6, 2], [2, 6, 4, 1, 3, 5, 0, 2, 6], [1, 4, 6, 3, 2, 5, 0, 1, 4]],
    "discard": [[6, 2, 1, 0, 4, 3], [2, 6, 4, 1, 3, 5], [1, 4, 6, 3, 2, 5]],
    "roll_over": [[6, 2, 1, 0, 4, 3], [5, 2, 6, 4, 1, 3], [5, 0, 1, 4, 6, 3, 2, 5, 0]],
}


@pytest.mark.parametrize("handle", SHUFFLED)
def test_shuffled_orders_are_those_of_real_mxnet(handle):
    np.random.seed(1)
    iterator = mx.io.NDArrayIter(DATA, LABEL, 3, shuffle=True, last_batch_handle=handle)
    for number, order in enumerate(SHUFFLED[handle]):
        if number:
            iterator.reset()
        batches = list(iterator)
        assert np.concatenate([b.data[0].asnumpy() for b in batches]).tolist() == order
        labels = np.concatenate([b.label[0].asnumpy() for b in batches])
        assert labels.tolist() == [10 * entry for entry in order]


def test_names_of_several_arrays():
    iterator = mx.io.NDArrayIter({"b": np.ones((4, 2)), "a": np.zeros((4, 3))}, batch_size=2)
    assert [tuple(one) for one in iterator.provide_data] == [("a", (2, 3)), ("b", (2, 2))]
    assert iterator.provide_label == [] and next(iterator).label == []
    iterator = mx.io.NDArrayIter(
        [np.ones((4, 2)), mx.nd.zeros((4, 3))], [np.zeros(4), np.ones(4)], 2, label_name="y"
    )
    assert [one.name for one in iterator.provide_data] == ["_0_data", "_1_data"]
    assert [one.name for one in iterator.provide_label] == ["_0_y", "_1_y"]


def test_dtypes():
    """NumPy arrays become float32, NDArrays keep theirs."""
    half = mx.nd.ones((4, 2), dtype="float16")
    iterator = mx.io.NDArrayIter({"a": half, "b": np.ones(4, "int64")}, batch_size=2)
    assert [one.dtype for one in iterator.provide_data] == [np.float16, np.float32]
    assert [array.dtype for array in next(iterator).data] == [np.float16, np.float32]


class FileLike:
    """The interface of an h5py data set: increasing positions only."""

    def __init__(self, array):
        self.array, self.shape, self.dtype = array, array.shape, array.dtype

    def __getitem__(self, rows):
        assert isinstance(rows, slice) or (np.diff(rows) > 0).all()
        return self.array[rows]


@pytest.mark.parametrize("shuffle", [False, True])
def test_data_sets_in_files(shuffle):
    table = np.arange(14, dtype=np.float32).reshape(7, 2)
    batches = []
    for source in (table, FileLike(table)):
        np.random.seed(3)
        iterator = mx.io.NDArrayIter(source, batch_size=3, shuffle=shuffle)
        batches.append([batch.data[0].asnumpy() for batch in iterator])
    np.testing.assert_array_equal(*batches)


def test_the_steps_of_next():
    iterator = mx.io.NDArrayIter(DATA, LABEL, 3)
    with pytest.raises(mx.MXNetError, match="no current batch"):
        iterator.getdata()
    assert iterator.iter_next() and iterator.cursor == 0
    assert iterator.getdata()[0].asnumpy().tolist() == [0, 1, 2]
    assert iterator.getlabel()[0].asnumpy().tolist() == [0, 10, 20]
    assert iterator.getpad() == 0 and iterator.getindex() is None


@pytest.mark.parametrize(
    ("data", "label", "error", "message"),
    [
        (None, None, AssertionError, "there is no array"),
        ([], None, AssertionError, "there is no array"),
        (5, None, TypeError, "Input must be NDArray"),
        ({"a": "text"}, None, TypeError, "Invalid type .* for a"),
        (DATA, LABEL[:3], ValueError, "softmax_label has 3 entries, but data has 7"),
    ],
)
def test_refusals(data, label, error, message):
    with pytest.raises(error, match=message):
        mx.io.NDArrayIter(data, label, 2)


def test_refuses_an_unknown_way_with_the_last_batch():
    with pytest.raises(ValueError, match="last_batch_handle"):
        mx.io.NDArrayIter(DATA, LABEL, 2, last_batch_handle="keep")
