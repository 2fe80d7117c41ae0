"""A record's native kernels: which kernel of the library computes a call, and how it is called."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

__all__ = ["Native", "by_onednn", "native"]


@dataclass(slots=True, eq=False)
class Native:
    """One native kernel of a record and how to call it.

    Functions get the attributes of the call `a`, and the Specs of its inputs and outputs.

    Parameters
    ----------
    name : str or callable
        The kernel's name; ``name(a, ins, outs)`` may compute it.
    struct : Params, optional
        The parameter struct. Fields that are dynamic attributes are written at each call.
    params : callable, optional
        ``params(a, ins, outs) -> dict`` of the struct's other fields.
    when : callable, optional
        ``when(a, ins, outs)`` returns a string, the reason for refusing this call, or None.
    workspace : callable, optional
        ``workspace(a, ins, outs) -> bytes`` of scratch memory.
    work : callable, optional
        ``work(a, ins, outs) -> int``, the cost in elementwise steps that decides on threads;
        the largest tensor's size by default.
    inplace : bool or callable
        Whether an output may be the very same memory as any input of its size;
        ``inplace(a, ins, outs)`` names the positions of the inputs that output 0 may take over.
    select : callable, optional
        ``select(ins, outs) -> dtype code`` that picks the kernel's element type; the first input's
        (without inputs: the first output's) by default.
    computes : callable, optional
        ``computes(a, ins, outs) -> dtype code``: the same where attributes matter too.
    asks : bool
        Whether the library is asked if the kernel accepts, and how much workspace it needs.
    pointwise : bool, str or callable
        Whether the kernel is a line of elemwise.def (``pointwise(a)`` may tell), so that fused
        programs can do the same; the name of a line stands for its use on all inputs in turn.
    capped : bool
        Whether MXNET_CPU_NNPACK_NTHREADS=1 keeps it to one thread.
    tried : bool
        Whether a trial on zeros tells what the kernel takes; not where its inputs' values decide.
    mixed : bool
        Whether inputs and outputs may have other element types than the kernel's, as `infer`
        allows or the kernel finds out; otherwise it refuses such calls.
    packs : bool
        Whether it reads or writes weights in its own layout, of which attribute `packed` tells the
        bytes; the library has to agree.
    turns : int
        So many inputs belong to each output, the first of which may be the very memory of it.
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


native = Native  # as records call it


def by_onednn(
    kernel: Native,
    when: Callable[..., str | None] | None = None,
    name: str | Callable[..., str] | None = None,
) -> Native:
    """oneDNN's counterpart of a native kernel: of the same parameters, where oneDNN accepts.

    Parameters
    ----------
    kernel : Native
    when : callable, optional
        A reason for refusing besides the kernel's own.
    name : str or callable, optional
        ``<kernel>_onednn`` by default.
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
