"""`GraphProto`, the import of one ONNX graph."""

from mxcy._base import dtypes
from mxcy.base import MXNetError
from mxcy.context import current_context
from mxcy.gluon import SymbolBlock
from mxcy.graph.node import SymbolNode
from mxcy.ndarray import array as nd_array
from mxcy.onnx.onnx2mx.importer import Importer, missing_operators
from mxcy.onnx.onnx2mx.values import Value
from mxcy.ops.core.record import find
from mxcy.symbol import Symbol, var
from mxcy.util import is_np_array

__all__ = ["GraphProto"]


class GraphProto:
    """Importer of graphs, with the interface of MXNet's class.

    Attributes
    ----------
    arg_dict, aux_dict : dict of str to NDArray
        Parameters and auxiliary states of the last graph.
    model_metadata : dict
        See `get_graph_metadata`.
    opset_version : int
    """

    def __init__(self):
        self.arg_dict, self.aux_dict = {}, {}
        self.model_metadata, self.opset_version = {}, 0

    def from_onnx(
        self,
        graph,
        opset_version,
        input_shapes=None,
        *,
        input_values=None,
        functions=(),
        opsets=None,
        folder=None,
    ):
        """Convert a graph to a symbol.

        Parameters
        ----------
        graph : onnx.GraphProto
        opset_version : int
            Opset version of ai.onnx.
        input_shapes : dict of str to tuple, optional
            Shapes of inputs that the file leaves open, or to override.
        input_values : dict of str to numpy.ndarray, optional
            Inputs to turn into constants.
        functions : sequence of onnx.FunctionProto, optional
            Functions defined by the model.
        opsets : dict of str to int, optional
            Opset versions of all domains.
        folder : str, optional
            Folder of external data.

        Returns
        -------
        sym : Symbol
        arg_params, aux_params : dict of str to NDArray

        Raises
        ------
        NotImplementedError
            If operators are neither supported nor defined by others; names all of them.
        MXNetError
            If the graph is damaged, or a value required at import is unknown.
        """
        self.opset_version = opset_version
        self.model_metadata = self.get_graph_metadata(graph)
        opsets = {**(opsets or {}), "": opset_version}
        missing = missing_operators(graph, opsets, functions)
        if missing:
            first, *others = [f"{op} (node {name})" for op, name in missing.items()]
            more = "" if not others else f" Nor are {', '.join(others)}."
            raise NotImplementedError(
                f"Operator {next(iter(missing))} not implemented. Node: {first}.{more}"
            )
        importer = Importer(opsets, functions, folder)
        outputs = importer.run(graph, input_shapes, input_values)
        entries = _entries(importer.F, outputs, [output.name for output in graph.output])
        kind = type(var("x").as_np_ndarray()) if is_np_array() else Symbol
        symbol = kind(entries)
        states = set(symbol.list_auxiliary_states())
        self.arg_dict, self.aux_dict = {}, {}
        used = {*symbol.list_arguments(), *states}
        for name, array in importer.F.parameters.items():
            if name in used:
                word = dtypes.name_of(importer.F.types[name])
                dtype = "float32" if word == "bfloat16" else word
                parameter = nd_array(array, dtype=dtype)
                into = self.aux_dict if name in states else self.arg_dict
                into[name] = parameter if dtype == word else parameter.astype(word)
        return symbol, self.arg_dict, self.aux_dict

    def get_graph_metadata(self, graph):
        """Return names and shapes of a graph's inputs and outputs.

        Parameters
        ----------
        graph : onnx.GraphProto

        Returns
        -------
        dict
            ``input_tensor_data``: (name, shape, ONNX element type) of each input that is not an
            initializer; ``output_tensor_data``: (name, shape). Unknown extents are 0.
        """
        initializers = {tensor.name for tensor in graph.initializer}
        inputs = [
            (entry.name, _extents(entry), entry.type.tensor_type.elem_type)
            for entry in graph.input
            if entry.name not in initializers
        ]
        outputs = [(entry.name, _extents(entry)) for entry in graph.output]
        return {"input_tensor_data": inputs, "output_tensor_data": outputs}

    def graph_to_gluon(self, graph, ctx, opset_version, input_shapes=None, **kwargs):
        """Convert a graph to a block; see `from_onnx`.

        Parameters
        ----------
        graph : onnx.GraphProto
        ctx : Context or list of Context
            Contexts of the parameters; None for the current one.
        opset_version : int
        input_shapes : dict of str to tuple, optional
        **kwargs
            Further arguments of `from_onnx`.

        Returns
        -------
        SymbolBlock
        """
        symbol, args, states = self.from_onnx(graph, opset_version, input_shapes, **kwargs)
        constants = kwargs.get("input_values") or {}
        names = [name for name, *_ in self.model_metadata["input_tensor_data"]]
        inputs = [var(name) for name in names if name not in constants]
        block = SymbolBlock(symbol, inputs)
        parameters, loaded = block.collect_params(), {**args, **states}
        for name, array in loaded.items():
            parameter = parameters[name]
            parameter.shape = array.shape
            if parameter.dtype != array.dtype:
                parameter.cast(array.dtype)
            parameter._load_init(array, current_context() if ctx is None else ctx)
        return block


def _extents(entry):
    return tuple(dim.dim_value for dim in entry.type.tensor_type.shape.dim)


def _entries(F, outputs, names):
    """Entries of a graph's outputs; inputs and constants are copied to nodes."""
    entries = []
    for value, name in zip(outputs, names, strict=True):
        if not isinstance(value, Value):
            raise NotImplementedError(
                f"output {name}: sequences and empty values are not supported"
            )
        node, index = F.entry(value)
        if node.op is None or (node, index) in entries:
            copy = SymbolNode(find("_copy"), F.unique(name), {}, [(node, index)])
            node, index = copy, 0
        entries.append((node, index))
    if not entries:
        raise MXNetError("the graph has no outputs")
    return entries
