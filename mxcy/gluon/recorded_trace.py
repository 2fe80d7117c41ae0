"""Traces of blocks that define `forward`, made by recording their operations on arrays.

A trace is valid for the shapes and dtypes of its inputs only; other signatures get their own.
"""

import contextlib
import threading

from mxcy import _deferred_compute as deferred
from mxcy import autograd, symbol
from mxcy import random as streams
from mxcy.gluon.tracing import Trace, TraceError, flatten, input_names, regroup
from mxcy.gluon.utils import is_mixed
from mxcy.ndarray import NDArray
from mxcy.ndarray.tape import keeps_constants
from mxcy.symbol import Symbol

__all__ = ["CapturedArray", "record_trace", "traced_view"]


class _Recording(threading.local):
    """Parameters used so far in this thread's trace."""

    parameters = None  # id of a Parameter -> (Parameter, its array)


_recording = _Recording()


def traced_view(parameter, array):
    """The array that represents a parameter in this thread's trace; outside a trace, `array`.

    Parameters
    ----------
    parameter : Parameter
    array : NDArray
        The parameter's array.

    Returns
    -------
    NDArray
    """
    met = _recording.parameters
    if met is None:
        return array
    known = met.get(id(parameter))
    if known is None:
        view = array.detach()
        deferred.set_variable(view, parameter.var())
        known = met[id(parameter)] = parameter, view
    return known[1]


@contextlib.contextmanager
def _recorded():
    """Scope that records this thread's operations and restores the random state afterwards."""
    state = streams.get_state()
    _recording.parameters = {}
    keeps_constants.enter(True)
    try:
        with autograd.pause(train_mode=False), deferred.context():
            yield _recording.parameters
    finally:
        keeps_constants.leave()
        _recording.parameters = None
        streams.set_state(state)


class CapturedArray:
    """An array captured by a computation, treated as a parameter of its trace."""

    _deferred_init = None

    def __init__(self, name, array):
        self.name, self._array, self.shape = name, array, array.shape

    def data(self, context=None):
        """The array."""
        return self._array

    def _list_arrays(self):
        return [self._array]

    def _reduce(self):
        return self._array


def record_trace(block, form, flat):
    """Trace a block by running it once.

    Parameters
    ----------
    block : HybridBlock
        All its parameters have known shapes.
    form
        The format of the inputs.
    flat : list of NDArray
        The inputs.

    Returns
    -------
    Trace

    Raises
    ------
    TraceError
        If the computation does more than call operators: reads values, writes to arrays, or
        fails.
    """
    names = input_names(len(flat))
    inputs = [array.detach() for array in flat]
    try:
        with _recorded() as met:
            deferred.set_variable(inputs, [symbol.var(name) for name in names])
            outputs, out_form = flatten(block._evaluate_plainly(regroup(list(inputs), form)))
            if not outputs or not all(isinstance(output, NDArray) for output in outputs):
                raise TraceError(f"{block.name}: not all outputs are arrays")
            if is_mixed(outputs):
                raise TraceError(f"{block.name}: the outputs mix arrays of mx.np and of mx.nd")
            entries, constants = deferred.noted(outputs)
    except TraceError:
        raise
    except Exception as error:  # a real error recurs when run eagerly
        raise TraceError(f"{block.name}: {error}") from error
    for output in outputs:
        with contextlib.suppress(Exception):  # the graph raises it again when read
            output.wait_to_read()
    parameters = {parameter.var().name: parameter for parameter, _ in met.values()}
    if len(parameters) != len(met):
        raise TraceError(f"{block.name}: two parameters have the same name")
    traced = Symbol(entries)
    used = set(traced.list_inputs())
    parameters.update((name, CapturedArray(name, array)) for name, array in constants.items())
    parameters = {name: p for name, p in parameters.items() if name in used}
    if not used <= {*names, *parameters}:
        raise TraceError(
            f"{block.name}: an array escaped from the body of a control-flow operator such as "
            "npx.foreach"
        )
    return Trace(traced, out_form, names, parameters, form)
