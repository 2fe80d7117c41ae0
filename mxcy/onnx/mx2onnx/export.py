"""`export_model`, which writes a network as an ONNX file."""

import logging

import numpy as np

from mxcy._base import dtypes
from mxcy.onnx.mx2onnx import inputs as user_inputs
from mxcy.onnx.mx2onnx import registry
from mxcy.onnx.mx2onnx.builder import Builder
from mxcy.onnx.mx2onnx.custom import MXNetGraph, Users
from mxcy.onnx.mx2onnx.folding import fold_normalizations
from mxcy.onnx.mx2onnx.model import make_model
from mxcy.onnx.mx2onnx.translate import Translation, require_converters
from mxcy.onnx.mx2onnx.values import Value
from mxcy.onnx.mx2onnx.writing import write_model
from mxcy.onnx.package import onnx_package
from mxcy.ops.core.infer import Spec

__all__ = ["DEFAULT_OPSET", "OLDEST_OPSET", "export_model", "get_operator_support"]

DEFAULT_OPSET = 17
OLDEST_OPSET = 12


def _opset(wanted):
    """Choose the opset version to write."""
    newest = onnx_package().defs.onnx_opset_version()
    if wanted is None:
        return min(DEFAULT_OPSET, newest)
    if wanted < OLDEST_OPSET:
        logging.warning(
            "Your ONNX op set version is %s, which is lower than the lowest one that is written "
            "(%s): that is taken.",
            wanted,
            OLDEST_OPSET,
        )
        return OLDEST_OPSET
    if wanted > newest:
        raise ValueError(
            f"opset_version: expected {OLDEST_OPSET} to {newest}, the newest one that the "
            f"installed onnx knows, got {wanted}"
        )
    return wanted


def get_operator_support(opset_version=None):
    """Return the operators that can be exported.

    Parameters
    ----------
    opset_version : int, optional
        Opset version to write; 17 by default.

    Returns
    -------
    list of str
        Sorted names and aliases, including those of users' converters.
    """
    opset = _opset(opset_version)
    own = [name for name in MXNetGraph.names() if MXNetGraph.converter(name, opset) is not None]
    return sorted({*registry.operators(), *own})


def export_model(
    sym,
    params,
    in_shapes=None,
    in_types=np.float32,
    onnx_file_path="model.onnx",
    verbose=False,
    dynamic=False,
    dynamic_input_shapes=None,
    run_shape_inference=False,
    input_type=None,
    input_shape=None,
    large_model=False,
    opset_version=None,
    safe_indices=False,
):
    """Write a network as an ONNX file.

    Parameters
    ----------
    sym : str or Symbol
        The network, or the path of its JSON file.
    params : str, dict of str to NDArray, or a pair of such dicts
        Parameters and auxiliary states, with or without the prefixes ``arg:`` and ``aux:``, or
        the path of their file. They become constants of the ONNX graph.
    in_shapes : list of tuple
        Shapes of all inputs that are not parameters, in the order of `sym.list_inputs()`.
    in_types : dtype or list of dtype
        Dtypes of these inputs.
    onnx_file_path : str
        Path of the file.
    verbose : bool
        Log each node.
    dynamic : bool
        Allow inputs of other shapes.
    dynamic_input_shapes : list of tuple, optional
        Free extents: a number is fixed, a str names a free extent, None leaves it unnamed, as in
        ``[('N', 3, None, None)]``. All extents are free by default.
    run_shape_inference : bool
        Store the shapes of all tensors, as far as ONNX can infer them.
    input_type, input_shape
        Deprecated names of `in_types` and `in_shapes`; they take precedence.
    large_model : bool
        Store tensors in a separate file, ``<onnx_file_path>.data``, as is always done for more
        than 1.8 GB.
    opset_version : int, optional
        Opset version to write, 12 or newer; 17 by default.
    safe_indices : bool
        Clip ids out of range in embeddings, as mxcy does; otherwise ONNX Runtime raises an
        error.

    Returns
    -------
    str
        `onnx_file_path`.

    Raises
    ------
    ImportError
        If the package onnx is not installed.
    ValueError
        If only one of `sym` and `params` is a file, or the numbers of inputs and shapes differ.
    MissingConverterError
        AttributeError that names all operators of the network without a converter.
    UnsupportedError
        NotImplementedError: an operator's attributes or dtypes cannot be expressed in ONNX.

    Examples
    --------
    >>> net.export("net")                                        # doctest: +SKIP
    >>> mx.onnx.export_model("net-symbol.json", "net-0000.params", [(1, 3, 224, 224)],
    ...                      onnx_file_path="net.onnx", dynamic=True,
    ...                      dynamic_input_shapes=[("batch", 3, 224, 224)])  # doctest: +SKIP
    """
    opset = _opset(opset_version)
    if input_type is not None:
        in_types = input_type
    if input_shape is not None:
        in_shapes = input_shape
    shapes, types = user_inputs.shapes_and_types(in_shapes, in_types)
    sym, arrays = user_inputs.network(sym, params)
    names = user_inputs.data_names(sym, arrays, len(shapes))
    extents = _extents(shapes, dynamic, dynamic_input_shapes)
    model = _build(
        sym, arrays, dict(zip(names, zip(shapes, types, extents, strict=True), strict=True)),
        opset, verbose, safe_indices,
    )  # fmt: skip
    write_model(model, onnx_file_path, run_shape_inference, large_model)
    return onnx_file_path


def _extents(shapes, dynamic, wanted):
    """The extents of each input: numbers, names, or None for unnamed free ones."""
    if not dynamic:
        return shapes
    if wanted is None:
        return [(None,) * len(shape) for shape in shapes]
    fits = len(wanted) == len(shapes) and all(
        len(w) == len(s) for w, s in zip(wanted, shapes, strict=True)
    )
    if not fits:
        raise ValueError(
            f"dynamic_input_shapes: expected shapes of as many extents as {shapes}, got {wanted}"
        )
    return [tuple(shape) for shape in wanted]


def _build(sym, arrays, data, opset, verbose, safe_indices):
    """Build the ModelProto of a network.

    `data`: name of input -> shape, dtype and extents.
    """
    registry.load()
    known = {n: Spec(tuple(x.shape), dtypes.code_of(x.dtype)) for n, x in arrays.items()}
    inputs = set(sym.list_inputs())
    known = {name: spec for name, spec in known.items() if name in inputs}
    free = {}
    for name, (shape, dtype, extents) in data.items():
        known[name] = Spec(shape, dtypes.code_of(dtype))
        free[name] = tuple(not isinstance(extent, int) for extent in extents)
    graph, partial_specs = user_inputs.specs_of(sym, known, free)
    users = Users(opset, sym, arrays)
    require_converters(graph, users)
    builder = Builder(opset, [node.name for node in graph.nodes])
    builder.options = {"safe_indices": safe_indices}
    named = {name: extents for name, (_, _, extents) in data.items()}
    builder.tied = lambda node: user_inputs.tied_extents(sym, known, named, graph.nodes.index(node))
    sources = {}
    for name, (shape, dtype, extents) in data.items():
        shape = tuple(n if isinstance(n, int) else -1 for n in extents)
        sources[name] = Value(builder, builder.claim(name), shape, dtype)
    for variable in graph.variables():
        name = graph.nodes[variable].name
        if name in arrays:
            sources[name] = builder.const(_elements(arrays[name]), name=_reserved(builder, name))
    log = (
        (lambda node: logging.info("Converting op: %s, name: %s", node.op.name, node.name))
        if (verbose)
        else None
    )
    builder.sources = sources
    translation = Translation(builder, users.find, log)
    users.start(builder)
    results = translation.graph(graph, sources, partial_specs)
    outputs = _outputs(builder, results, sources)
    fold_normalizations(builder, outputs)
    ports = [(sources[n], [e if isinstance(e, str) else None for e in data[n][2]]) for n in data]
    return make_model(builder, ports, outputs, extra=users.initializer)


def _reserved(builder, name):
    builder._names.discard(builder.claim(name))
    return name


def _elements(array):
    """The elements of a parameter; bfloat16 as bits."""
    if dtypes.code_of(array.dtype) == dtypes.CODES["bfloat16"]:
        return np.array(array.numpy_view()).view(dtypes.bfloat16)
    return array.asnumpy()


def _outputs(builder, results, sources):
    """The graph's outputs; inputs, constants and duplicates are copied to unique names."""
    outputs, taken = [], {id(value) for value in sources.values()}
    for value in results:
        if id(value) in taken:
            shape, dtype = value.shape, value.dtype
            copy = builder.Identity(value)
            copy.name = builder.unique(f"{value.name}_output")
            copy.shape, copy.dtype = shape, dtype
            value = copy
        taken.add(id(value))
        outputs.append(value)
    return outputs
