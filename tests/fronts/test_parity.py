"""Both fronts are bit-identical on the records' samples, in one process."""

import numpy as np
import pytest

import mxcy as mx
from mxcy._base import dtypes
from mxcy._library import front
from mxcy._library.services import Services
from mxcy.gpu import library
from mxcy.ops.core import infer, prepare, reference
from mxcy.ops.core.operators import TABLE
from mxcy.ops.core.record import REGISTRY, find

# Operators whose output's shape depends on values are composed of others, above the fronts.
RECORDS = sorted(
    {record.name: record for record in REGISTRY.values() if record.eager is None}.items()
)


def other_front():
    """The interface of the front that is not in use, with its own array class."""
    package = "_ctypes" if front.package == "_cy" else "_cy"
    names = front.load(package)
    front.prepare_library(names)
    cls = type("OtherArray", (names["NDArrayBase"],), {"__slots__": ()})
    pool = names["Pool"]("Naive", 4096, 2 << 20, 24, 5, 4, mx.cpu())
    streams = names["streams"] = names["Streams"](1)
    front.start(
        Services(
            prepare=prepare.prepare,
            spec=infer.Spec,
            prepare_on_device=library.prepare,
            run_reference=reference.run,
            store_result=reference.store,
            streams_of=lambda context: streams,
            context_of=lambda attrs: mx.cpu(),
            pool_of=lambda context: pool,
            shared_array=None,
            array_class=cls,
            default_context=mx.cpu(),
            contexts=mx.Context._default_ctx,
            serves_devices=False,
            device_memory=False,
            upload=None,
            download=None,
            operators=[tuple(map(find, row)) for row in TABLE],
            unusual_operands=None,
            run_sparse=None,
            mixed_inputs=None,
            most_signatures=1024,
        ),
        names,
    )
    return names


@pytest.fixture(scope="module")
def other():
    return other_front()


def draw(record, sample):
    rng = np.random.default_rng(5)
    for source in sample.inputs:
        if isinstance(source, np.ndarray):
            yield np.ascontiguousarray(source)
        elif callable(source):
            values = source(rng)
            yield values.astype(np.float32) if values.dtype == np.float64 else values
        else:
            yield rng.uniform(*record.domain, source).astype(np.float32)


def outcome(names, record, sample, attrs, kernel):
    arrays = tuple(
        names["from_numpy"](v, dtypes.code_of(v.dtype), mx.cpu()) for v in draw(record, sample)
    )
    outs, ran = names["execute"](record, arrays, attrs, kernel=kernel, train=sample.train)
    return [np.array(o.numpy_view()) for o in (*outs, *arrays)], ran


@pytest.mark.parametrize("name, record", RECORDS)
def test_same_bits(name, record, other):
    mine = {n: getattr(front, n) for n in ("from_numpy", "execute")}
    for sample in record.samples() if callable(record.samples) else record.samples:
        if "float32" not in (sample.dtypes or record.dtypes):
            continue
        attrs = dict(sample.attrs)
        if record.num_args is not None:
            attrs.setdefault(record.num_args, len(sample.inputs))
        mx.random.seed(11)
        first, ran = outcome(mine, record, sample, attrs, None)
        mx.random.seed(11)
        other["streams"].seed(0, 11)
        second, also_ran = outcome(other, record, sample, attrs, ran)
        assert ran == also_ran
        for a, b in zip(first, second, strict=True):
            np.testing.assert_array_equal(a, b, err_msg=f"{name} {attrs} {ran}")
