"""Prepare a call: from (operator, attributes, input specs) to the kernel that will run.

The result is cached by the fronts under the call's signature, so this file is about clarity.
"""

import json

from mxcy import dtypes, env, tuning
from mxcy.base import MXNetError
from mxcy.ops.infer import Spec

__all__ = ["Call", "prepare"]

_TRACED = 8  # inputs and outputs of which traces tell; some operators take hundreds


class Call:
    """A prepared call.

    Attributes
    ----------
    op, attrs
        The record and the normalised attributes.
    ins, outs : list of Spec
        All outputs, hidden ones included; `visible` of them are returned.
    kernel : str or None
        The kernel's name, or None for the reference.
    dtype : int
        The element type under which the kernel is found.
    params : bytes or None
        The parameter struct.
    patches : tuple of (int, int)
        (index of a dynamic number, byte offset in params) to write before each run.
    workspace, work : int
        Scratch bytes; cost in elementwise steps.
    threads : int
        The most threads it may use: 1, or `mxcy.tuning.ALL`, or a cap.
    inplace : bool
        Whether outputs may share memory with any input of their size.
    overwrites : tuple of int
        The inputs whose memory output 0 may take over, when that is not so of all.
    """

    __slots__ = (
        "op", "attrs", "ins", "outs", "visible", "kernel", "dtype", "params", "patches",
        "workspace", "work", "threads", "inplace", "overwrites",
    )  # fmt: skip

    def __init__(self, op, attrs, ins, outs):
        self.op, self.attrs, self.ins, self.outs = op, attrs, ins, outs
        self.visible = op.visible(attrs)
        self.kernel, self.params, self.patches = None, None, ()
        self.dtype = (ins or outs)[0].dtype if ins or outs else 0
        self.workspace, self.inplace, self.overwrites = 0, op.foreign is None, ()
        self.threads = 1
        self.work = max((spec.size for spec in (*ins, *outs)), default=0)

    def traced(self, node: str = "") -> str:
        """Node, shapes and element types as members of a JSON object, for the profiler."""
        about: dict[str, object] = {"node": node} if node else {}
        about["inputs"] = [_shown(spec) for spec in self.ins[:_TRACED]]
        about["outputs"] = [_shown(spec) for spec in self.outs[:_TRACED]]
        return json.dumps(about)[1:-1]


def _shown(spec: Spec) -> str:
    return f"{dtypes.name_of(spec.dtype)}{spec.shape}"


def prepare(op, attrs, ins, library, force=None):
    """Infer the outputs and choose the first kernel that accepts.

    Parameters
    ----------
    op : Op
    attrs : Attrs
    ins : list of Spec
        Completely known.
    library
        Offers ``has_kernel(name, dtype)`` and ``query(name, params, ins, outs, what)``: the module
        `native` of a front.
    force : str, optional
        Only this kernel may be chosen; ``"ref"`` for the reference.

    Raises
    ------
    MXNetError
        When the inputs do not fit, or the forced kernel refuses.
    """
    outs = op.infer(attrs, ins)
    for i, spec in enumerate(outs):
        if not spec.known:
            raise MXNetError(
                f"Error in operator {op.name}: shape or dtype of output {i} cannot be inferred "
                f"({spec})"
            )
    call = Call(op, attrs, ins, outs)
    reasons = []
    for kernel in op.kernels:
        name = kernel.name(attrs, ins, outs) if callable(kernel.name) else kernel.name
        if force is not None and name != force:
            continue
        dtype = kernel.select(ins, outs) if kernel.select else call.dtype
        reason = kernel.when(attrs, ins, outs) if kernel.when else None
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


def _adopt(call, kernel, name, dtype, library):
    """Fill `call` with what running `kernel` needs; returns the library's reason for refusing."""
    a, ins, outs = call.attrs, call.ins, call.outs
    params, patches, values = None, [], {}
    if kernel.struct is not None:
        values = dict(kernel.params(a, ins, outs)) if kernel.params else {}
        schema, number = call.op.schema, 0
        for field in (*schema.dynamic, *schema.tuples):
            numbers = getattr(a, field.name) if field in schema.tuples else (0.0,)
            if field.name in kernel.struct.offsets and field.name not in values:
                values[field.name] = numbers if field in schema.tuples else 0.0
                offset = kernel.struct.offsets[field.name]
                patches += [(number + i, offset + 8 * i) for i in range(len(numbers))]
            number += len(numbers)
        params = kernel.struct.pack(**values)
    if kernel.asks:
        reason = library.query(name, params, ins, outs, "accepts")
        if reason is not None:
            return reason
        call.workspace = library.query(name, params, ins, outs, "workspace")
    call.kernel, call.dtype, call.inplace = name, dtype, kernel.inplace is True
    if callable(kernel.inplace):
        call.overwrites = tuple(kernel.inplace(a, ins, outs))
    call.params, call.patches = params, tuple(patches)
    if kernel.workspace is not None:
        call.workspace = int(kernel.workspace(a, ins, outs))
    if kernel.work is not None:
        call.work = int(kernel.work(a, ins, outs))
    call.threads = tuning.threads_for(call, kernel, values)
    return None
