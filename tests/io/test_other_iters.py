"""ResizeIter, PrefetchingIter and the interface they share."""

import threading

import numpy as np
import pytest

import mxcy as mx


def numbers(count=7, batch_size=3, **kwargs):
    return mx.io.NDArrayIter(np.arange(float(count)), np.arange(count) * 10, batch_size, **kwargs)


def data_of(iterator):
    return [batch.data[0].asnumpy().tolist() for batch in iterator]


def test_resize_goes_on_at_the_start():
    iterator = mx.io.ResizeIter(numbers(), 5)
    expected = [[0, 1, 2], [3, 4, 5], [6, 0, 1], [0, 1, 2], [3, 4, 5]]
    assert data_of(iterator) == expected
    iterator.reset()
    assert data_of(iterator) == expected


def test_resize_can_leave_the_other_iterator_where_it_is():
    iterator = mx.io.ResizeIter(numbers(), 2, reset_internal=False)
    assert data_of(iterator) == [[0, 1, 2], [3, 4, 5]]
    iterator.reset()
    assert iterator.iter_next() and iterator.getpad() == 2
    assert iterator.getdata()[0].asnumpy().tolist() == [6, 0, 1]
    assert iterator.getlabel()[0].asnumpy().tolist() == [60, 0, 10]


def test_resize_shows_what_the_other_has():
    inner = numbers()
    inner.default_bucket_key = 12
    iterator = mx.io.ResizeIter(inner, 2)
    assert iterator.default_bucket_key == 12 and iterator.batch_size == 3
    assert iterator.provide_data == inner.provide_data


def test_prefetching_gives_the_same_batches():
    iterator = mx.io.PrefetchingIter(numbers())
    for _ in range(2):
        batches = list(iterator)
        assert [batch.data[0].asnumpy().tolist() for batch in batches] == data_of(numbers())
        assert [batch.pad for batch in batches] == [0, 0, 2]
        assert not iterator.iter_next()
        iterator.reset()


def test_prefetching_joins_and_renames():
    iterator = mx.io.PrefetchingIter(
        [numbers(), numbers()],
        rename_data=[{"data": "a"}, {"data": "b"}],
        rename_label=[{"softmax_label": "la"}, {"softmax_label": "lb"}],
    )
    assert [one.name for one in iterator.provide_data] == ["a", "b"]
    assert [one.name for one in iterator.provide_label] == ["la", "lb"]
    batch = next(iterator)
    assert len(batch.data) == len(batch.label) == 2


def test_prefetching_refuses_iterators_of_unequal_length():
    iterator = mx.io.PrefetchingIter([numbers(6), numbers(9)])
    next(iterator), next(iterator)
    with pytest.raises(AssertionError, match="Number of entry mismatches"):
        next(iterator)
    with pytest.raises(AssertionError, match="at least one"):
        mx.io.PrefetchingIter([])


class Failing(mx.io.DataIter):
    """Raises at its second batch, in whatever thread it is called."""

    provide_data = [mx.io.DataDesc("data", (1,))]
    provide_label = []

    def reset(self):
        self.calls = 0

    calls = 0

    def next(self):
        self.calls += 1
        self.thread = threading.current_thread()
        if self.calls == 2:
            raise OSError("the disk is gone")
        return mx.io.DataBatch([mx.nd.ones(1)], [], pad=0)


def test_errors_in_the_thread_reach_the_consumer():
    inner = Failing(1)
    iterator = mx.io.PrefetchingIter(inner)
    next(iterator)
    with pytest.raises(OSError, match="the disk is gone"):
        next(iterator)
    assert inner.thread is not threading.current_thread()
    iterator.reset()
    assert next(iterator).data[0].asscalar() == 1


def test_own_iterators_define_next_or_its_steps():
    class Steps(mx.io.DataIter):
        position = 0

        def iter_next(self):
            self.position += 1
            return self.position < 3

        def getdata(self):
            return [mx.nd.array([self.position])]

        def getlabel(self):
            return []

        def getpad(self):
            return 0

    assert data_of(Steps(1)) == [[1], [2]]
