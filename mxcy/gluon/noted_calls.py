"""Traces of blocks that compute in `forward` on arrays: their operations are recorded.

Such a trace is right for the shapes and types of its inputs; others get traces of their own.
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

__all__ = ["note", "stand_in"]


class _Notes(threading.local):
    """The parameters that the trace of this thread has met."""

    met = None  # id of a Parameter -> (Parameter, its array)


_notes = _Notes()


def stand_in(parameter, array):
    """The array that stands for a parameter in the trace of this thread, else its own.

    Parameters
    ----------
    parameter : Parameter
    array : NDArray
        Its own.

    Returns
    -------
    NDArray
    """
    met = _notes.met
    if met is None:
        return array
    known = met.get(id(parameter))
    if known is None:
        view = array.detach()
        deferred.set_variable(view, parameter.var())
        known = met[id(parameter)] = parameter, view
    return known[1]


@contextlib.contextmanager
def _noting():
    """A scope in which this thread records what it computes, without drawing random numbers."""
    state = streams.get_state()
    _notes.met = {}
    keeps_constants.enter(True)
    try:
        with autograd.pause(train_mode=False), deferred.context():
            yield _notes.met
    finally:
        keeps_constants.leave()
        _notes.met = None
        streams.set_state(state)


class Held:
    """An array that is no parameter but went into a computation, as a trace's parameter."""

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


def note(block, form, flat):
    """Trace a block by computing once.

    Parameters
    ----------
    block : HybridBlock
        Its parameters have their shapes.
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
        When the computation does something besides calling operators: when it looks at values,
        writes to arrays, or fails.
    """
    names = input_names(len(flat))
    inputs = [array.detach() for array in flat]
    try:
        with _noting() as met:
            deferred.set_variable(inputs, [symbol.var(name) for name in names])
            outputs, out_form = flatten(block._evaluate_plainly(regroup(list(inputs), form)))
            if not outputs or not all(isinstance(output, NDArray) for output in outputs):
                raise TraceError(f"{block.name}: not all outputs are arrays")
            if is_mixed(outputs):
                raise TraceError(f"{block.name}: the outputs mix arrays of mx.np and of mx.nd")
            entries, constants = deferred.noted(outputs)
    except TraceError:
        raise
    except Exception as error:  # the computation on arrays raises it again if it is an error
        raise TraceError(f"{block.name}: {error}") from error
    for output in outputs:
        with contextlib.suppress(Exception):  # the graph raises it again, to those who read
            output.wait_to_read()
    parameters = {parameter.var().name: parameter for parameter, _ in met.values()}
    if len(parameters) != len(met):
        raise TraceError(f"{block.name}: two of its parameters have one name")
    whole = Symbol(entries)
    used = set(whole.list_inputs())
    parameters.update((name, Held(name, array)) for name, array in constants.items())
    parameters = {name: p for name, p in parameters.items() if name in used}
    if not used <= {*names, *parameters}:
        raise TraceError(f"{block.name}: an array got out of a function of npx.foreach or the like")
    return Trace(whole, out_form, names, parameters, form)
