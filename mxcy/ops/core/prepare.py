"""Preparation of calls: from (operator, attributes, input specs) to the kernel to run.

The fronts cache results by signature, so clarity matters here more than speed.
"""

import math
from collections.abc import Sequence
from typing import Any

from mxcy import env
from mxcy._base import dtypes
from mxcy._base.errors import MXNetError
from mxcy._machine import tuning
from mxcy.ops.core.attrs import Attrs
from mxcy.ops.core.infer import Spec, UnforeseenError
from mxcy.ops.core.kernel import Native
from mxcy.ops.core.precision import changes
from mxcy.ops.core.record import Op

__all__ = ["Call", "prepare", "prepare_eager"]

_MOST_BYTES = 1 << 46  # or elements per array: beyond a process's address space
_MOST_WORK = 1 << 62
_NOTHING = Native("nothing", mixed=True)
_TRACED = 12  # maximum number of inputs and outputs in traces; some operators have hundreds


class Call:
    """A prepared call.

    Attributes
    ----------
    op, attrs
        The record and the normalised attributes.
    ins, outs : list of Spec
        Input specs and all output specs, of which `visible` are returned.
    kernel : str or None
        The kernel's name, or None for the reference.
    dtype : int
        The dtype code by which the kernel is looked up.
    params : bytes or None
        The parameter struct.
    patches : tuple of (int, int)
        (index of a dynamic number, byte offset in params) to write before each run.
    workspace, work : int
        Scratch memory in bytes; cost in elementwise steps.
    threads : int
        The maximum number of threads: 1, `mxcy._machine.tuning.ALL`, or a cap.
    inplace : bool
        Whether outputs may share memory with any input of their size.
    has_complex : bool
        Whether an input or an output is complex.
    mixed : bool
        Whether mixed precision must change the call first; the rest is then unset.
    overwrites : tuple of int
        The inputs whose memory output 0 may reuse, if not any.
    turns : int
        Unless 0, output i may reuse the memory of input i * turns.
    """

    __slots__ = (
        "op",
        "attrs",
        "ins",
        "outs",
        "visible",
        "kernel",
        "dtype",
        "params",
        "patches",
        "workspace",
        "work",
        "threads",
        "inplace",
        "has_complex",
        "mixed",
        "overwrites",
        "turns",
    )

    def __init__(self, op: Op, attrs: Attrs, ins: Sequence[Spec], outs: Sequence[Spec]) -> None:
        self.op, self.attrs, self.ins, self.outs = op, attrs, ins, outs
        self.visible = op.visible(attrs)
        self.kernel: str | None = None
        self.params: bytes | None = None
        self.patches: tuple[tuple[int, int], ...] = ()
        self.dtype: Any = (ins or outs)[0].dtype if ins or outs else 0
        self.workspace, self.inplace = 0, op.foreign is None
        self.overwrites: tuple[int, ...] = ()
        self.threads, self.mixed, self.turns = 1, False, 0
        self.has_complex = any(dtypes.is_complex(spec.dtype) for spec in (*ins, *outs))
        self.work = max((spec.size for spec in (*ins, *outs)), default=0)

    def traced(self, node: str = "") -> str:
        """Format node, shapes and dtypes as JSON object members, for the profiler."""
        import json  # only needed for profiling

        about: dict[str, object] = {"node": node} if node else {}
        about["inputs"] = [_shown(spec) for spec in self.ins[:_TRACED]]
        about["outputs"] = [_shown(spec) for spec in self.outs[:_TRACED]]
        return json.dumps(about)[1:-1]


def _shown(spec: Spec) -> str:
    return f"{dtypes.name_of(spec.dtype)}{spec.shape}"


def prepare(op: Op, attrs: Attrs, ins: Sequence[Spec], library: Any, force: Any = None) -> "Call":
    """Infer the outputs and select the first kernel that accepts.

    Parameters
    ----------
    op : Op
    attrs : Attrs
    ins : list of Spec
        Complete input specs.
    library
        Module `native` of a front, with ``has_kernel(name, dtype)`` and ``query(name, params, ins,
        outs, what)``: the module
    force : str, optional
        Name of the only kernel to consider; ``"ref"`` for the reference.

    Raises
    ------
    MXNetError
        If the inputs are inconsistent, or the forced kernel rejects the call.
    """
    try:
        return _prepare(op, attrs, ins, library, force)
    except MXNetError:
        raise
    except Exception as error:
        raise UnforeseenError(op.name, ins, error) from error


def prepare_eager(op: Op, attrs: Attrs, ins: Sequence[Spec], library: Any) -> "Call":
    """Prepare a user's call, which mixed precision may have to change.

    Parameters
    ----------
    op, attrs, ins, library
        See `prepare`.
    """
    if changes(op, attrs, [spec.dtype for spec in ins]):
        call = Call(op, attrs, ins, [])
        call.mixed = True
        return call
    return prepare(op, attrs, ins, library)


def _prepare(op: Op, attrs: Attrs, ins: Sequence[Spec], library: Any, force: Any) -> "Call":
    outs = op.infer(attrs, ins)
    for i, spec in enumerate(outs):
        _check_output(op, i, spec)
    call = Call(op, attrs, ins, outs)
    reasons = []
    for kernel in _kernels(call, force):
        name = kernel.name(attrs, ins, outs) if callable(kernel.name) else kernel.name
        if force is not None and name != force:
            continue
        dtype = kernel.select(ins, outs) if kernel.select else call.dtype
        if kernel.computes is not None:
            dtype = kernel.computes(attrs, ins, outs)
        reason = kernel.when(attrs, ins, outs) if kernel.when else None
        if reason is None and not kernel.mixed:
            reason = _other_type(dtype, ins, outs)
        if reason is None and call.has_complex and any(spec.dtype != dtype for spec in ins):
            reason = "no kernel takes complex numbers among others"
        if reason is None and not library.has_kernel(name, dtype):
            reason = f"no build for {Spec((), dtype)}"
        if reason is None:
            reason = _adopt(call, kernel, name, dtype, library)
        if reason is None:
            break
        reasons.append(f"{name} refused: {reason}")
    else:
        if force not in (None, "ref"):
            raise MXNetError(f"operator {op.name}: kernel {force} refused ({'; '.join(reasons)})")
    if "dispatch" in env.get("MXCY_VERBOSE"):
        chosen = call.kernel or "ref"
        print(
            f"mxcy dispatch {op.name} {ins} -> {chosen} {'; '.join(reasons)}".rstrip(), flush=True
        )
    return call


def _kernels(call: "Call", force: Any) -> Sequence[Native]:
    """The candidate kernels: the record's, or none if there is nothing to compute.

    Kernels might loop for hours over other axes before they notice an empty one.
    """
    op = call.op
    computes = any(spec.size for spec in call.outs) or op.writes or op.foreign is not None
    return op.kernels if computes or force not in (None, _NOTHING.name) else (_NOTHING,)


def _check_output(op: Op, i: int, spec: Spec) -> None:
    """Check that an output's spec is complete and possible."""
    if not spec.known:
        problem = "shape or dtype of output {} cannot be inferred ({})"
    elif any(extent < 0 for extent in spec.shape):
        problem = "output {} would have a negative extent ({})"
    elif math.prod(max(extent, 1) for extent in spec.shape) > _MOST_BYTES:
        problem = "out of memory: output {} is larger than any ({})"
    else:
        return
    raise MXNetError(f"Error in operator {op.name}: {problem.format(i, spec)}")


def _other_type(dtype: int, ins: Sequence[Spec], outs: Sequence[Spec]) -> str | None:
    """The reason why a single-dtype kernel rejects a call with several dtypes, or None."""
    other = next((spec for spec in (*ins, *outs) if spec.dtype != dtype), None)
    return None if other is None else f"its element type is not that of {other}"


def _other_layout(name: str, params: bytes | None, call: Any, library: Any) -> str | None:
    """The reason why packed weights cannot be in a kernel's layout, or None."""
    try:
        size = library.query(name, params, call.ins, call.outs, "packed")
    except MXNetError as error:
        return str(error)
    promised = call.attrs.packed
    return (
        None if size == promised else f"its weights take {size} bytes, not the {promised} of packed"
    )


def _adopt(call: Any, kernel: Any, name: str, dtype: int, library: Any) -> str | None:
    """Set the fields of `call` for `kernel`; return the library's reason for rejecting it."""
    a, ins, outs = call.attrs, call.ins, call.outs
    params, patches, values = None, [], {}
    dynamic: dict[str, tuple[int, int]] = {}  # field -> (first dynamic value, count)
    if kernel.struct is not None:
        values = dict(kernel.params(a, ins, outs)) if kernel.params else {}
        schema, number = call.op.schema, 0
        for field in (*schema.dynamic, *schema.tuples):
            numbers = getattr(a, field.name) if field in schema.tuples else (0.0,)
            if field.name in kernel.struct.offsets and field.name not in values:
                values[field.name] = numbers if field in schema.tuples else 0.0
                offset = kernel.struct.offsets[field.name]
                patches += [(number + i, offset + 8 * i) for i in range(len(numbers))]
                dynamic[field.name] = number, len(numbers)
            number += len(numbers)
    lower = getattr(library, "lower", None)
    if lower is not None:
        reason: str | None = lower(call, kernel, name, dtype, values, dynamic)
        return reason
    if kernel.struct is not None:
        try:
            params = kernel.struct.pack(**values)
        except OverflowError as error:
            return str(error)
    if kernel.asks:
        reason = library.query(name, params, ins, outs, "accepts")
        if reason is not None:
            return reason
        call.workspace = library.query(name, params, ins, outs, "workspace")
    if kernel.packs:
        reason = _other_layout(name, params, call, library)
        if reason is not None:
            return reason
    if kernel.workspace is not None:
        call.workspace = int(kernel.workspace(a, ins, outs))
    if call.workspace > _MOST_BYTES:
        return f"it would need {call.workspace} bytes of workspace"
    call.kernel, call.dtype, call.inplace = name, dtype, kernel.inplace is True
    if callable(kernel.inplace):
        call.overwrites = tuple(kernel.inplace(a, ins, outs))
    call.params, call.patches, call.turns = params, tuple(patches), kernel.turns
    if kernel.work is not None:
        call.work = min(int(kernel.work(a, ins, outs)), _MOST_WORK)
    call.threads = tuning.threads_for(call, kernel, values)
    return None
