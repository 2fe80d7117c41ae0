"""Every record's samples, and all calls that differ from one of them in one respect.

``total()`` is their number. ``case(seed)`` runs number ``seed``. Numbers that grow are
cheap, the calls come from an iterator.
"""

import functools
import itertools

from tests.fuzz.mutations import calls_of_samples, mutations
from tests.fuzz.operator_calls import RECORDS, run

__all__ = ["case", "describe", "first_of", "total"]

_position = {"next": 1 << 62, "calls": iter(())}  # beyond all cases: start over


def _all():
    for _, record in sorted(RECORDS.items()):
        for call in calls_of_samples(record):
            yield from mutations(call)


def _call(number):
    ahead = number - _position["next"]
    if ahead < 0:
        _position["calls"], ahead = _all(), number
    _position["next"] = number + 1
    return next(itertools.islice(_position["calls"], ahead, None))


def case(seed):
    """Run a case; returns its outcome."""
    call = _call(seed)
    try:
        return run(call)
    except Exception as error:
        error.add_note(repr(call))
        raise


def describe(seed):
    """The call of a case, as text."""
    return repr(_call(seed))


@functools.cache
def _counts():
    return {
        name: sum(1 for call in calls_of_samples(record) for _ in mutations(call))
        for name, record in sorted(RECORDS.items())
    }


def total():
    """The number of cases."""
    return sum(_counts().values())


def first_of(name):
    """The number of a record's first case."""
    counts = _counts()
    return sum(itertools.islice(counts.values(), list(counts).index(name)))
