"""Native kernels in records: selection and calling convention of library kernels."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

__all__ = ["Native", "by_onednn", "native"]


@dataclass(slots=True, eq=False)
class Native:
    """A native kernel of a record and its calling convention.

    Functions receive the call's attributes `a` and the Specs of its inputs and outputs.

    Parameters
    ----------
    name : str or callable
        The kernel's name, or ``name(a, ins, outs)``.
    struct : Params, optional
        The parameter struct. Fields for dynamic attributes are written at each call.
    params : callable, optional
        ``params(a, ins, outs)``: a dict of the struct's other fields.
    when : callable, optional
        ``when(a, ins, outs)``: the reason for rejecting a call, as str, or None.
    workspace : callable, optional
        ``workspace(a, ins, outs)``: size of scratch memory in bytes.
    work : callable, optional
        ``work(a, ins, outs)``: cost in elementwise steps, as int, for choosing the number of
        threads; by default the largest tensor's size.
    inplace : bool or callable
        Whether an output may share memory with any input of its size; ``inplace(a, ins, outs)``
        returns the positions of inputs whose memory output 0 may reuse.
    select : callable, optional
        ``select(ins, outs)``: dtype code of the kernel, by default the first input's (without
        inputs, the first output's).
    computes : callable, optional
        ``computes(a, ins, outs)``: like `select`, if attributes matter as well.
    asks : bool
        Whether to query the library for acceptance and workspace size.
    pointwise : bool, str or callable
        Whether the kernel is a line of elemwise.def (or ``pointwise(a)``), so that fused programs
        can use it as a step; a str names a line to apply to all inputs in turn.
    capped : bool
        Whether MXNET_CPU_NNPACK_NTHREADS=1 keeps it to one thread.
    tried : bool
        Whether its time can be measured on zeros, as it does not depend on values.
    mixed : bool
        Whether inputs and outputs may have other dtypes than the kernel's, subject to `infer` or
        the kernel itself; otherwise such calls are rejected.
    packs : bool
        Whether it reads or writes weights in its own layout, whose size is attribute `packed`; the
        library must agree.
    turns : int
        Number of inputs per output, the first of which may share the output's memory.
    """

    name: str | Callable[..., str]
    struct: Any = None
    params: Callable[..., dict[str, Any]] | None = None
    when: Callable[..., str | None] | None = None
    workspace: Callable[..., int] | None = None
    work: Callable[..., int] | None = None
    inplace: bool | Callable[..., Any] = False
    select: Callable[..., int] | None = None
    computes: Callable[..., int] | None = None
    asks: bool = False
    pointwise: bool | str | Callable[..., Any] = False
    capped: bool = False
    tried: bool = True
    mixed: bool = False
    packs: bool = False
    turns: int = 0


native = Native  # its name in records


def by_onednn(
    kernel: Native,
    when: Callable[..., str | None] | None = None,
    name: str | Callable[..., str] | None = None,
) -> Native:
    """Make the oneDNN counterpart of a native kernel, with the same parameters.

    Parameters
    ----------
    kernel : Native
    when : callable, optional
        A further condition besides the kernel's own.
    name : str or callable, optional
        Kernel name, by default ``<kernel>_onednn``.
    """

    def refuse(a: Any, ins: Any, outs: Any) -> str | None:
        reason = kernel.when(a, ins, outs) if kernel.when else None
        return when(a, ins, outs) if reason is None and when else reason

    def named(a: Any, ins: Any, outs: Any) -> str:
        own = kernel.name(a, ins, outs) if callable(kernel.name) else kernel.name
        return f"{own}_onednn"

    name = name or (named if callable(kernel.name) else f"{kernel.name}_onednn")
    return native(
        name, kernel.struct, kernel.params, refuse, work=kernel.work, asks=True, mixed=kernel.mixed
    )
