"""`SplitSampler`: the workers' shares of a data set."""

import numpy as np
import pytest

from mxcy import gluon


def _dealt(length, parts, **settings):
    samplers = [gluon.data.SplitSampler(length, parts, i, **settings) for i in range(parts)]
    shares = [list(sampler) for sampler in samplers]
    assert [len(share) for share in shares] == [len(sampler) for sampler in samplers]
    return shares


@pytest.mark.parametrize("length, parts", [(12, 3), (13, 3), (2, 5), (1, 4), (7, 1), (0, 2)])
@pytest.mark.parametrize("shuffle", [True, False])
def test_every_index_is_dealt(length, parts, shuffle):
    kept = _dealt(length, parts, shuffle=shuffle, last="keep")
    assert sorted(sum(kept, [])) == list(range(length))
    assert max(map(len, kept)) - min(map(len, kept)) <= 1
    wrapped = _dealt(length, parts, shuffle=shuffle)
    assert set(sum(wrapped, [])) == set(range(length))
    assert {len(share) for share in wrapped} == {-(-length // parts)}
    dropped = sum(_dealt(length, parts, shuffle=shuffle, last="drop"), [])
    assert len(dropped) == len(set(dropped)) == length // parts * parts


def test_epochs():
    one, other = (gluon.data.SplitSampler(100, 2, 1, seed=5) for _ in range(2))
    first, second = list(one), list(one)
    assert first != second and sorted(first) != sorted(second)  # all indices are redistributed
    other.set_epoch(1)
    assert list(other) == second
    assert list(gluon.data.SplitSampler(100, 2, 1, seed=6)) != first
    before = np.random.get_state()[1].tolist()
    list(one)
    assert np.random.get_state()[1].tolist() == before


def test_with_a_loader():
    data = gluon.data.ArrayDataset(list(range(10)))
    sampler = gluon.data.SplitSampler(10, 2, 1, shuffle=False)
    batches = gluon.data.DataLoader(data, batch_size=2, sampler=sampler)
    assert [batch.asnumpy().tolist() for batch in batches] == [[1, 3], [5, 7], [9]]


@pytest.mark.parametrize(
    "arguments", [(5, 0, 0), (5, 2, 2), (5, 2, -1), (-1, 1, 0), (5, 1, 0, True, 0, "most")]
)
def test_refusals(arguments):
    with pytest.raises(ValueError, match="SplitSampler"):
        gluon.data.SplitSampler(*arguments)
