"""From blocks to symbols: inputs as flat lists, and the trace of a block's computation."""

from mxcy import symbol
from mxcy.base import NotImplementedForSymbol
from mxcy.graph.node import topological
from mxcy.ndarray import NDArray
from mxcy.symbol import Symbol

__all__ = ["Trace", "TraceError", "flatten", "holds_values", "regroup", "trace"]


class TraceError(Exception):
    """The block's computation cannot be written as a symbol."""


def flatten(value):
    """The arrays (or symbols) in nested lists, and the format to put them back by `regroup`.

    Formats compare equal when calls have the same structure: None for an array, a tuple for a list,
    and ``('=', value)`` for what is neither.
    """
    if isinstance(value, (NDArray, Symbol)):
        return [value], None
    if isinstance(value, (list, tuple)):
        flat, formats = [], []
        for item in value:
            found, form = flatten(item)
            flat += found
            formats.append(form)
        return flat, tuple(formats)
    return [], ("=", value)


def holds_values(form):
    """Whether a format has something that is neither an array nor None: a number, for instance."""
    if form is None:
        return False
    if form and form[0] == "=":
        return form[1] is not None
    return any(holds_values(item) for item in form)


def regroup(flat, form):
    """The nested lists of a format; takes what it needs from the list `flat`."""
    if form is None:
        return flat.pop(0)
    if form and form[0] == "=":
        return form[1]
    return [regroup(flat, item) for item in form]


class Trace:
    """A block as a symbol.

    Attributes
    ----------
    symbol : Symbol
        All outputs.
    inputs : list of str
        The variables that stand for the inputs, in order.
    parameters : dict of str to Parameter
        Those that the symbol uses.
    form
        The format of the outputs.
    """

    def __init__(self, outputs, form, inputs, parameters):
        self.symbol, self.form, self.inputs, self.parameters = outputs, form, inputs, parameters


def trace(block, form, count):
    """Trace a block.

    Parameters
    ----------
    block : HybridBlock
    form
        The format of the inputs.
    count : int
        The number of arrays in them.

    Returns
    -------
    Trace

    Raises
    ------
    TraceError
        When the computation needs arrays, for instance because it looks at values.
    """
    names = ["data"] if count == 1 else [f"data{i}" for i in range(count)]
    inputs = [symbol.var(name) for name in names]
    arguments = regroup(list(inputs), form)
    try:
        outputs, out_form = flatten(block.forward(*arguments))
    except (TypeError, AttributeError, NotImplementedError, NotImplementedForSymbol) as error:
        raise TraceError(f"{block.name}: {error}") from error
    if not outputs or not all(isinstance(output, Symbol) for output in outputs):
        raise TraceError(f"{block.name}: not all outputs are symbols")
    whole = outputs[0] if len(outputs) == 1 else symbol.Group(outputs)
    known = {parameter.var().name: parameter for parameter in block.collect_params().values()}
    used = {node.name for node in topological(whole._entries) if node.op is None}
    parameters = {name: known[name] for name in used if name in known}
    return Trace(whole, out_form, names, parameters)
