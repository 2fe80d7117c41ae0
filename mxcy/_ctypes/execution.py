"""One call with a kernel of choice, for tests and tools."""

import ctypes

from mxcy._ctypes import native
from mxcy._ctypes.creation import empty
from mxcy._ctypes.invoke import clashes
from mxcy._ctypes.ndarray import home_of
from mxcy._ctypes.services import services
from mxcy._ctypes.variants import Prepared, bind

__all__ = ["execute"]


def execute(op, inputs, attrs, outputs=None, reqs=None, kernel=None, train=False):
    """Run one call without caches or tape, with a kernel of choice; see `_cy/execution.pyx`."""
    values = op.schema.intern(op.name, attrs)
    if op.uses_mode:
        values = values.with_values(("train",), (train,))
    numbers = op.schema.dynamic_values(op.name, attrs)
    prepared = Prepared(bind(op), values, inputs, kernel or "")
    context = home_of(inputs[0].context) if inputs else services.context_of(values)
    reqs = [native.WRITE] * len(prepared.outs) if reqs is None else reqs
    adds = prepared.kernel is not None and prepared.flags & native.TAKES_ADD
    results, targets, writes = [], [], []
    for i, (shape, dtype) in enumerate(prepared.outs):
        target = None if outputs is None else outputs[i]
        direct = (
            target is not None
            and (reqs[i] == native.WRITE or (reqs[i] == native.ADD and adds))
            and not clashes(prepared, i, target, inputs)
        )
        results.append(target if direct else empty(shape, dtype, context))
        writes.append(reqs[i] if direct else native.WRITE)
        targets.append(results[-1] if target is None else target)
    requests = (ctypes.c_int32 * max(len(writes), 1))(*writes)
    prepared.run(inputs, results, numbers, context, requests, strict=True)
    for target, result, req in zip(targets, results, reqs, strict=True):
        if target is not result and req:
            target.wait_to_write()
            services.store_result(target, result, req == native.ADD)
    return targets, prepared.call.kernel or "ref"
