"""Tests of all samples of a record."""

from functools import wraps

import pytest

__all__ = ["each_sample"]


def each_sample(cases):
    """Decorate a test of a record and a sample: it becomes one test per record.

    pytest's own work for a test takes longer than most of these samples. What a failing test prints
    ends with the sample that failed.

    Parameters
    ----------
    cases : iterable
        Parameter sets of pytest, each with an id and the record as its first value.
    """
    by_record = {}
    for case in cases:
        by_record.setdefault(case.values[0].name, []).append(case)

    def decorate(test):
        @pytest.mark.parametrize("samples", by_record.values(), ids=by_record.keys())
        @wraps(test)
        def test_samples(samples):
            for case in samples:
                print("sample", case.id)
                test(*case.values)

        del test_samples.__wrapped__  # whose parameters pytest would look up
        return test_samples

    return decorate
