"""Our kernels are bit-identical with any number of threads, so tuning may choose freely."""

import numpy as np
import pytest

import mxcy as mx
from mxcy._library import front
from mxcy._machine.tuning import ALL
from mxcy.ops.core import prepare
from tests.ops.test_records import RECORDS, attrs_of, draw, kernels_of, samples_of, to_array


def cases():
    for name, record in RECORDS:
        if record.kernels and record.eager is None and not record.uses_rng:
            yield pytest.param(record, id=name)


@pytest.fixture
def team(monkeypatch):
    """A function that sets the team size; every call is parallel."""
    monkeypatch.setattr(prepare.tuning, "threads_for", lambda *given: ALL)
    before = mx.util.get_num_threads()
    yield front.set_threads
    front.set_threads(before)


@pytest.mark.parametrize("record", list(cases()))
def test_results_do_not_depend_on_the_team(record, team):
    for sample in samples_of(record):
        dtype = (sample.dtypes or record.dtypes)[0]
        inputs = draw(record, sample, dtype)
        for kernel, _ in kernels_of(record, sample, inputs):
            if "onednn" in kernel:  # another library's kernels; not tuned
                continue
            results = []
            for threads in (1, 2, 5):
                team(threads)
                arrays = tuple(to_array(values) for values in inputs)
                outs, _ = front.execute(
                    record, arrays, attrs_of(record, sample), kernel=kernel, train=sample.train
                )
                actual = [np.array(array.numpy_view()) for array in (*outs, *arrays)]
                results.append([values.tobytes() for values in actual])
            assert results[0] == results[1] == results[2], f"{kernel} {sample.attrs}"
