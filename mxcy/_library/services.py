"""What a front asks of the layers above it, as one object that is handed over once."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from mxcy._base.per_thread import PerThread

__all__ = ["Services"]


@dataclass(frozen=True, slots=True)
class Services:
    """The functions and classes that a front calls but does not import.

    `mxcy.ndarray` makes one and gives it to ``front.start``; both fronts keep it as ``services``.

    Attributes
    ----------
    prepare : callable
        `mxcy.ops.core.prepare.prepare`: a record and input specs to a prepared call.
    spec : type
        `mxcy.ops.core.infer.Spec`.
    prepare_on_device : callable
        ``prepare_on_device(call, device)``: the same call by a kernel of a device, or None.
    run_reference, store_result : callable
        `mxcy.ops.core.reference.run` and `store`: compute by definition; keep a result as the
        request (write or add) says.
    mixed_inputs : callable
        ``mixed_inputs(op, attrs, inputs)``: the inputs of a call as mixed precision wants them,
        and the factor of its `grad_scale`.
    run_sparse : callable
        ``run_sparse(op, attrs, inputs, out)``: a call with sparse inputs or results, which fronts
        leave to Python.
    streams_of : callable
        ``streams_of(context)``: the `Streams` of random numbers of a context.
    context_of : callable
        ``context_of(attrs)``: where an operator without inputs runs.
    pool_of : callable
        ``pool_of(context)``: the `Pool` that serves a context.
    shared_array : callable
        ``shared_array(shape, dtype, context)``: a new array in memory that processes share.
    array_class : type
        The subclass of `NDArrayBase` that new arrays have.
    default_context : Context
        The context whose arrays need no look-up of where they live.
    contexts : PerThread
        Its `value` is the context of arrays that are put nowhere in particular.
    serves_devices : bool
        Whether there are contexts other than the CPU's.
    device_memory : bool
        Whether the host cannot touch the memory of their arrays.
    upload, download : callable
        ``upload(array, values)`` copies NumPy's elements to such memory, and ``download(array)``
        returns a NumPy array with a copy of what is in it; the arrays are held.
    operators : list of tuple of Op
        For each arithmetic operator of `mxcy.ops.core.operators`: the records for two arrays, for
        an array and a number, for a number and an array.
    unusual_operands : callable
        ``unusual_operands(operation, lhs, rhs)``: arithmetic with anything else.
    most_signatures : int
        How many prepared calls are kept of an operator with one set of attributes.
    """

    prepare: Callable[..., Any]
    spec: type
    prepare_on_device: Callable[[Any, int], Any]
    run_reference: Callable[..., None]
    store_result: Callable[..., None]
    run_sparse: Callable[..., Any]
    mixed_inputs: Callable[..., tuple[tuple[Any, ...], float]]
    streams_of: Callable[[Any], Any]
    context_of: Callable[[Any], Any]
    pool_of: Callable[[Any], Any]
    shared_array: Callable[..., Any]
    array_class: type
    default_context: Any
    contexts: PerThread
    serves_devices: bool
    device_memory: bool
    upload: Callable[[Any, Any], None]
    download: Callable[[Any], Any]
    operators: list[tuple[Any, ...]]
    unusual_operands: Callable[[int, Any, Any], Any]
    most_signatures: int
