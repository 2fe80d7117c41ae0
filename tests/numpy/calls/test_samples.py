"""Calls of mx.np and mx.npx match MXNet 2.0.0b1, except for intended differences.

For each of 8 element types: types, shapes and elements of results; for float32 gradients too. Where
MXNet raises, as for many types of integers and halves, any result will do: other tests look at it.
"""

import json
import math
import warnings
from typing import NamedTuple

import pytest

import mxcy as mx
from tests.numpy.calls.sample_calls import KINDS, outcomes, read

GOLDEN = read()
HOMES = ("np.linalg.", "np.random.", "npx.", "np.", "")
INTEGERS = "i8 i4 i1 u1"


class Difference(NamedTuple):
    """An intended difference from MXNet, and the paragraph of the specification that states it."""

    paragraph: str
    kinds: str  #: element types, and ``grad`` for gradients
    calls: str  #: how calls begin
    why: str


OURS = (
    Difference(
        "2.3",
        INTEGERS,
        "np.average( np.std( np.var( np.linalg.norm( np.linalg.matrix_norm( np.linalg.vector_norm(",
        "means of integers are floating, and norms",
    ),
    Difference(
        "2.3",
        "b",
        "np.linalg.norm( np.linalg.matrix_norm( np.linalg.vector_norm(",
        "norms of booleans are floating",
    ),
    Difference("2.3", "f8 f2", "np.mean( x.mean(", "means keep floating types"),
    Difference(
        "2.3",
        "grad",
        "np.std( np.var( np.median( np.percentile( np.quantile(",
        "there are gradients",
    ),
    Difference("2.3", INTEGERS, "np.histogram(", "edges are floating"),
    Difference(
        "2.4",
        "grad",
        "np.atleast_1d( np.atleast_2d( np.atleast_3d( np.repeat(",
        "there are gradients",
    ),
    Difference("2.4", "grad", "np.unique", "what has no gradient is not recorded"),
    Difference("2.5", "grad", "np.linalg.eigvalsh( np.linalg.lstsq(", "there are gradients"),
    Difference("2.5", "f4 f8", "np.linalg.vecdot(", "a product for each pair of vectors"),
    Difference("2.2", "b", "np.divmod(", "two arrays of booleans have no quotient"),
    Difference("2.2", "grad", "np.arctan2(2", "the gradient of a number's angle is right"),
    Difference(
        "3.1",
        f"{INTEGERS} b",
        "np.arctan2( np.hypot( np.logaddexp(",
        "the default float beside numbers",
    ),
    Difference("3.1", "b", "x", "booleans count as 0 and 1 beside numbers"),
    Difference(
        "2.7",
        "i8 i4",
        "np.frexp( np.heaviside( np.modf(",
        "real functions of integers give what others do, not float64",
    ),
    Difference(
        "2.7",
        f"f4 f2 {INTEGERS} b",
        "np.corrcoef( np.cov( np.nanmedian( np.nanpercentile( np.nanquantile( np.nanstd( "
        "np.nanvar( np.trapz( np.unwrap( np.vander(",
        "floating types stay, others become the default one",
    ),
    Difference(
        "2.7",
        "i4 i1 u1",
        "np.cumprod( np.nancumprod( np.nancumsum( np.nanprod( np.nansum(",
        "sums and products of integers keep their type, as np.sum does",
    ),
    Difference("4", INTEGERS, "npx.sigmoid(", "integers become floating"),
    Difference("4", INTEGERS, "npx.erf npx.norm(", "other roundings of what integers give"),
    Difference("4", "i1", "npx.convolution(", "sums of int8 wrap, those of oneDNN saturate"),
    Difference("4", "grad", "npx.leaky_relu(x", "the slope of selu below zero is right"),
    Difference(
        "4",
        " ".join(KINDS),
        "npx.while_loop(",
        "no outputs of a loop that never ran: MXNet gives unset memory",
    ),
    Difference("4", "grad", "npx.foreach(", "gradients flow through the states"),
    Difference("2.4", "grad", "npx.interleaved_", "a method repeats an input; it has a gradient"),
    Difference(
        "4",
        "f4 f8 grad",
        "npx.batch_norm(",
        "one array is scale, shift and variance, and MXNet writes to it",
    ),
    Difference("8", " ".join(KINDS), "np.random.choice(3,", "weights count, as in MXNet 1.9.1"),
    Difference(
        "8",
        "grad",
        "np.random.gamma( np.random.laplace( np.random.power( np.random.uniform( "
        "npx.random.uniform_n(",
        "gradients flow through samples",
    ),
    Difference(
        "8",
        INTEGERS,
        "np.random.power( np.random.weibull(",
        "what is computed of parameters is not rounded to integers",
    ),
    Difference("8", "f4 f8 f2", "np.random.multivariate_normal(", "numbers of np.random.seed"),
)
#: calls that may differ with the version of NumPy, LAPACK or rounding
UNSURE = (
    ("np.argpartition(", "the order within each part"),
    ("np.histogram2d(", "types of edges"),
    ("np.histogramdd(", "types of edges"),
    ("np.linalg.eig(", "signs of vectors"),
    ("np.linalg.eigh(", "signs of vectors"),
    ("np.linalg.svd(", "signs of vectors, on which the gradient of their sum depends"),
    ("npx.softmax(s,", "gradients of about zero"),
    ("npx.softmax(x)", "gradients of about zero"),
)


def near(actual, want, error):
    """Whether outcomes are equal up to a tolerance."""
    if isinstance(want, list):
        return (
            isinstance(actual, list)
            and len(actual) == len(want)
            and all(map(near, actual, want, [error] * len(want)))
        )
    if isinstance(want, dict):
        return (
            isinstance(actual, dict)
            and actual.keys() == want.keys()
            and all(near(actual[key], want[key], error) for key in want)
        )
    if isinstance(want, float) and isinstance(actual, (int, float)):
        return math.isclose(actual, want, rel_tol=error, abs_tol=error / 10)
    return actual == want


def differing(call):
    """The element types, and possibly ``'grad'``, for which a call's results differ."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        actual = json.loads(json.dumps(outcomes(mx, call)))
    want = GOLDEN[call]
    different = [
        kind
        for kind in KINDS
        if want[kind] != "!" and not near(actual[kind], want[kind], 5e-3 if kind == "f2" else 1e-4)
    ]
    refused = "!" in (want["grad"], want["f4"])
    if not refused and not near(actual["grad"], want["grad"], 1e-4):
        different.append("grad")
    return different


def allowed(call):
    """The table's rows for a call."""
    return [row for row in OURS if any(map(call.startswith, row.calls.split()))]


def home(call):
    return next(prefix for prefix in HOMES if call.startswith(prefix))


@pytest.mark.parametrize("where", HOMES)
@mx.util.use_np
def test_samples(where):
    wrong, used = [], set()
    for call in GOLDEN:
        if home(call) != where or any(call.startswith(start) for start, _ in UNSURE):
            continue
        rows = allowed(call)
        for kind in differing(call):
            fitting = [row for row in rows if kind in row.kinds.split()]
            used.update(fitting)
            if not fitting:
                wrong.append((call, kind))
    stale = [
        row
        for row in OURS
        if row not in used and any(home(start) == where for start in row.calls.split())
    ]
    assert not wrong and not stale


def test_all_calls_are_there():
    assert len(GOLDEN) > 690 and all({*KINDS, "grad"} == set(actual) for actual in GOLDEN.values())
