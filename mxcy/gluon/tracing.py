"""Tracing blocks to symbols, and flattening nested inputs."""

from mxcy import symbol
from mxcy.base import NotImplementedForSymbol
from mxcy.gluon.utils import DeferredInitializationError
from mxcy.graph import selection
from mxcy.graph.node import topological
from mxcy.ndarray import NDArray
from mxcy.symbol import Symbol

__all__ = [
    "Trace",
    "TraceError",
    "flatten",
    "holds_values",
    "input_names",
    "regroup",
    "same_structure",
    "trace",
]


class TraceError(Exception):
    """A block's computation cannot be expressed as a symbol."""


#: exceptions of computations that need arrays rather than symbols
_UNTRACEABLE = (
    AttributeError,
    DeferredInitializationError,
    NotImplementedError,
    NotImplementedForSymbol,
    TypeError,
)


def flatten(value):
    """Flatten nested lists of arrays (or symbols); return them and the format for `regroup`.

    Formats are MXNet's: 0 for an array, -1 for None, n for a symbol with n outputs, a list for
    a list. A value of any other type, for which MXNet has no format, is a 1-tuple.
    """
    if isinstance(value, NDArray):
        return [value], 0
    if isinstance(value, Symbol):
        return [value], 0 if value.num_outputs == 1 else value.num_outputs
    if isinstance(value, (list, tuple)):
        flat, formats = [], []
        for item in value:
            arrays, form = flatten(item)
            flat += arrays
            formats.append(form)
        return flat, formats
    return [], -1 if value is None else (value,)


def holds_values(form):
    """Whether a format contains anything but arrays and None, e.g. a number."""
    if isinstance(form, list):
        return any(holds_values(item) for item in form)
    return isinstance(form, tuple)


def same_structure(form, other):
    """Whether calls with these formats can share a graph: trailing None may be omitted."""
    if form == other:
        return True
    shared = min(len(form), len(other))
    return form[:shared] == other[:shared] and all(
        item == -1 for item in (*form[shared:], *other[shared:])
    )


def regroup(flat, form):
    """Rebuild the nested lists of a format, removing the elements from the list `flat`."""
    if isinstance(form, list):
        return [regroup(flat, item) for item in form]
    if isinstance(form, tuple):
        return form[0]
    if form == -1:
        return None
    return flat.pop(0) if form == 0 else [flat.pop(0) for _ in range(form)]


class Trace:
    """A block traced to a symbol.

    Attributes
    ----------
    symbol : Symbol
        All outputs.
    inputs : list of str
        Names of the input variables, in order.
    parameters : dict of str to Parameter
        The parameters that the symbol uses.
    form, in_form
        Formats of the outputs and of the inputs, see `flatten`.
    """

    def __init__(self, outputs, form, inputs, parameters, in_form):
        self.symbol, self.form, self.inputs, self.parameters = outputs, form, inputs, parameters
        self.in_form = in_form

    def input_symbols(self):
        """The input variables."""
        return [symbol.var(name) for name in self.inputs]

    def partitioned(self, backend):
        """The trace with the operators selected for a backend in subgraphs.

        Parameters
        ----------
        backend : str or None
            The trace itself is returned for backends without a selection by name.
        """
        if backend not in selection.BACKENDS:
            return self
        graph = type(self.symbol)(selection.partition(self.symbol._entries, backend))
        return Trace(graph, self.form, self.inputs, self.parameters, self.in_form)

    def depends_on_values(self):
        """Whether any shape in the symbol depends on values."""
        nodes = topological(self.symbol._entries)
        return any(node.op is not None and node.op.eager is not None for node in nodes)

    def by_structural_names(self, structural):
        """Rename the parameters to MXNet 2's structural names; return the symbol and parameters.

        Parameters
        ----------
        structural : dict of str to Parameter
            Parameters by structural name.
        """
        names = {id(parameter): name for name, parameter in reversed(structural.items())}
        renamed = {name: names.get(id(p), name) for name, p in self.parameters.items()}
        copied = symbol.load_json(self.symbol.tojson())
        for node in topological(copied._entries):
            if node.op is None and node.name in renamed:
                if "__shape__" in node.attrs:  # as declared, perhaps before it was known
                    node.attrs["__shape__"] = str(self.parameters[node.name].shape)
                node.name = renamed[node.name]
        return copied, {renamed[name]: p for name, p in self.parameters.items()}


def input_names(count):
    """Names of a graph's inputs."""
    return ["data"] if count == 1 else [f"data{i}" for i in range(count)]


def trace(block, form, count):
    """Trace a block.

    Parameters
    ----------
    block : HybridBlock
    form
        The format of the inputs.
    count : int
        Number of arrays in the inputs.

    Returns
    -------
    Trace

    Raises
    ------
    TraceError
        If the computation needs arrays, e.g. because it reads values.
    """
    names = input_names(count)
    inputs = [symbol.var(name) for name in names]
    arguments = regroup(list(inputs), form)
    try:
        outputs, out_form = flatten(block.forward(*arguments))
    except _UNTRACEABLE as error:
        raise TraceError(f"{block.name}: {error}") from error
    if not outputs or not all(isinstance(output, Symbol) for output in outputs):
        raise TraceError(f"{block.name}: not all outputs are symbols")
    traced = outputs[0] if len(outputs) == 1 else symbol.Group(outputs)
    known = {parameter.var().name: parameter for parameter in block.collect_params().values()}
    used = {node.name for node in topological(traced._entries) if node.op is None}
    unknown = used - known.keys() - set(names)
    assert not unknown, f"{block.name}: unknown inputs of the graph: {', '.join(sorted(unknown))}"
    parameters = {name: known[name] for name in used if name in known}
    return Trace(traced, out_form, names, parameters, form)
