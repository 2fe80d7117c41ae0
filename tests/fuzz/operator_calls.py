"""Invalid operator calls and their allowed outcomes.

A call either returns results of the inferred shapes, or raises an MXNetError
(IndexError where MXNet documents that). Everything else is a finding: another exception, memory
touched outside arrays, no end.
"""

import ctypes
import functools

import numpy as np

from mxcy._base import dtypes
from mxcy._base.errors import MXNetError
from mxcy._ctypes import native
from mxcy._library import front
from mxcy.context import cpu
from mxcy.ops.core import prepare, reference
from mxcy.ops.core.infer import Spec, UnforeseenError
from mxcy.ops.core.record import REGISTRY
from tests.fuzz import guarded

__all__ = ["OperatorCall", "RECORDS", "Finding", "array_of", "is_small", "run"]

MOST_BYTES = 1 << 26  # of a call's arrays: what needs more is prepared, but not run
MOST_FOR_DEFINITION = 1 << 20  # it may run long Python loops
RECORDS = {record.name: record for record in REGISTRY.values()}


class Finding(AssertionError):
    """A call with a forbidden outcome."""


class OperatorCall:
    """An operator with attributes and inputs, fitting or not.

    Parameters
    ----------
    record : Op
    attrs : dict
        Attributes by name, in any form.
    inputs : list of numpy.ndarray
    train : bool
        Whether the operator runs in training mode.
    """

    def __init__(self, record, attrs, inputs, train=False):
        self.record, self.attrs, self.inputs, self.train = record, attrs, inputs, train

    def __repr__(self):
        inputs = ", ".join(_shown(values) for values in self.inputs)
        train = ", train" if self.train else ""
        return f"{self.record.name}({inputs}; {self.attrs}{train})"

    def static_attrs(self):
        """The normalised attributes; raises MXNetError."""
        attrs = self.record.schema.intern(self.record.name, self.attrs)
        return attrs.with_values(("train",), (self.train,)) if self.record.uses_mode else attrs

    def specs(self):
        """Fresh Specs of the inputs; inference may fill them in."""
        return [Spec(values.shape, dtypes.code_of(values.dtype)) for values in self.inputs]


def _shown(values):
    few = np.array2string(values.reshape(-1)[:4], separator=",", precision=3)
    return f"{values.dtype}{list(values.shape)}={few}"


def run(call):
    """Run a call with every kernel that accepts it and with the reference.

    Returns
    -------
    str
        ``"ok"``, ``"refused"`` or ``"large"`` (it fits, and was not run).

    Raises
    ------
    Finding
        For any other outcome. Memory errors end the process.
    """
    try:
        attrs = call.static_attrs()
        numbers = call.record.schema.dynamic_values(call.record.name, call.attrs)
        first = prepare.prepare(call.record, attrs, call.specs(), front, "ref")
    except UnforeseenError as error:
        raise Finding(str(error)) from error
    except MXNetError:
        return "refused"
    size = sum(spec.nbytes for spec in (*first.ins, *first.outs))
    if size > MOST_BYTES:
        return "large"
    outcomes = [_run_kernel(call, attrs, numbers, kernel) for kernel in call.record.kernels]
    if size <= MOST_FOR_DEFINITION:
        outcomes.append(_run_reference(call, first, numbers))
    return "refused" if "refused" in outcomes else "ok"


def is_small(call):
    """Whether a call's arrays are small enough to run it; raises what inference raises."""
    prepared = prepare.prepare(call.record, call.static_attrs(), call.specs(), front, "ref")
    return sum(spec.nbytes for spec in (*prepared.ins, *prepared.outs)) <= MOST_FOR_DEFINITION


def _run_kernel(call, attrs, numbers, kernel):
    try:
        specs = call.specs()
        outs = call.record.infer(attrs, specs)
        if not (any(spec.size for spec in outs) or call.record.writes):
            return "nothing to compute"
        name = kernel.name(attrs, specs, outs) if callable(kernel.name) else kernel.name
        prepared = prepare.prepare(call.record, attrs, specs, front, name)
    except UnforeseenError as error:
        raise Finding(str(error)) from error
    except MXNetError:
        return "another kernel"
    if prepared.kernel is None or prepared.workspace > MOST_BYTES:
        return "another kernel"
    return "ok" if _run_native(call, prepared, numbers) == 0 else "refused"


def _tensor(tensor, values, spec, kept):
    extents = (ctypes.c_int64 * max(len(spec.shape), 1))(*spec.shape)
    kept.append((values, extents))
    tensor.data, tensor.shape = values.ctypes.data, ctypes.addressof(extents)
    tensor.ndim, tensor.dtype = len(spec.shape), spec.dtype


def _memory(spec, at_end):
    return guarded.empty(tuple(spec.shape), dtypes.DTYPES[spec.dtype], at_end)


def _run_native(call, prepared, numbers):
    """The kernel's status, on guarded memory that ends, or begins, at a forbidden page."""
    address, _flags = native.find_kernel(prepared.kernel, prepared.dtype)
    nin, nout, kept = len(prepared.ins), len(prepared.outs), []
    for at_end in (True, False):
        tensors = (native.Tensor * (nin + nout))()
        for tensor, values, spec in zip(tensors, call.inputs, prepared.ins, strict=False):
            _tensor(tensor, guarded.array_like(values, at_end), spec, kept)
        for tensor, spec in zip(tensors[nin:], prepared.outs, strict=True):
            made = _memory(spec, at_end)
            made.reshape(-1).view(np.uint8)[...] = 0x5A
            _tensor(tensor, made, spec, kept)
        params = bytearray(prepared.params or b"")
        for index, offset in prepared.patches:
            params[offset : offset + 8] = np.float64(numbers[index]).tobytes()
        params = guarded.array_like(np.frombuffer(bytes(params), np.uint8))
        scratch = guarded.empty(((prepared.workspace + 63) // 64 * 64,), np.uint8)
        writes = (ctypes.c_int32 * max(nout, 1))(*[native.WRITE] * nout)
        random = _streams() if call.record.uses_rng else None
        request = native.Call(nin=nin, nout=nout, ins=ctypes.addressof(tensors))
        request.outs = request.ins + nin * ctypes.sizeof(native.Tensor)
        request.req, request.params = ctypes.addressof(writes), params.ctypes.data
        request.workspace, request.workspace_size = scratch.ctypes.data, prepared.workspace
        request.threads = 1 if at_end else native.lib.mx_threads()
        request.rng = random
        status = native.KERNEL(address)(ctypes.addressof(request))
    return status


@functools.cache
def _streams():
    return native.lib.mx_rng_create(1)


def _run_reference(call, prepared, numbers):
    arrays = [array_of(values) for values in call.inputs]
    outs = [array_of(np.empty(tuple(s.shape), dtypes.DTYPES[s.dtype])) for s in prepared.outs]
    attrs = call.record.schema.filled(prepared.attrs, numbers) if numbers else prepared.attrs
    if call.record.eager is not None:
        return "ok"
    try:
        reference.run(prepared, attrs, arrays, outs)
    except (MXNetError, IndexError) as error:
        if "the reference returned" in str(error):
            raise Finding(str(error)) from error
        return "refused"
    return "ok"


def array_of(values):
    """An array of the front with these elements."""
    return front.from_numpy(
        np.ascontiguousarray(values).reshape(values.shape), dtypes.code_of(values.dtype), cpu()
    )
