"""Node-by-node conversion of a graph to ONNX by the records' converters."""

from functools import partial

import numpy as np

from mxcy._base import dtypes
from mxcy._base.errors import MXNetError
from mxcy.graph.control import body_graph
from mxcy.onnx.errors import MissingConverterError, UnsupportedError
from mxcy.onnx.mx2onnx.values import Value
from mxcy.ops.core.infer import Spec

__all__ = ["Translation", "require_converters", "subgraphs"]


def subgraphs(node):
    """The subgraphs of a control-flow node."""
    if node.op is None or not node.op.in_symbols.subgraphs:
        return []
    return [body_graph(getattr(node.attrs, name)) for name in node.op.in_symbols.subgraphs]


def require_converters(graph, users=()):
    """Check that all operators of a graph have a converter.

    Parameters
    ----------
    graph : Graph
    users : container of str
        Operators with a user's converter.

    Raises
    ------
    MissingConverterError
        If any lacks one; names all of them and their nodes.
    """
    missing = {}
    pending = [graph]
    while pending:
        for node in pending.pop().nodes:
            if node.op is None or node.op.name in users:
                continue
            if node.op.onnx is None:
                missing.setdefault(node.op.name, []).append(node.name)
            pending += subgraphs(node)
    if not missing:
        return
    (first, nodes), *others = missing.items()
    text = f"No conversion function registered for op type {first} yet. Its nodes: {_few(nodes)}"
    for name, nodes in others:
        text += f"; nor for {name}: {_few(nodes)}"
    raise MissingConverterError(text)


def _few(names, most=8):
    shown = ", ".join(names[:most])
    return f"{shown} and {len(names) - most} more" if len(names) > most else shown


class Translation:
    """Converts graphs with complete specs.

    Parameters
    ----------
    builder : Builder
    users : callable
        ``users(name)`` returns a user's converter of an operator, or None.
    log : callable, optional
        Called with each node.
    """

    def __init__(self, builder, users=lambda name: None, log=None):
        self.builder, self.users, self.log = builder, users, log
        builder.translation = self

    def graph(self, graph, sources, partial_specs=None, prefix="", named=True):
        """Convert the nodes of a graph.

        Parameters
        ----------
        graph : Graph
        sources : dict of str to Value
            Values of the variables.
        partial_specs : list of list of Spec, optional
            Specs that are valid for all accepted input shapes.
        prefix : str
            Prefix of nodes' names in bodies.
        named : bool
            Whether results are named after the nodes.

        Returns
        -------
        list of Value
            The outputs.
        """
        values = {}
        for number, node in enumerate(graph.nodes):
            if node.op is None:
                values[number, 0] = sources.get(node.name)
                continue
            ins = [values[entry] for entry in node.inputs]
            wanted = [
                Value(self.builder, "", _shape(spec, known), dtypes.dtype_of(spec.dtype))
                for spec, known in zip(
                    graph.specs[number],
                    partial_specs[number] if partial_specs else graph.specs[number],
                    strict=True,
                )
            ]
            for index, value in enumerate(self.node(node, ins, wanted, prefix, named)):
                values[number, index] = value
        return [values[entry] for entry in graph.outputs]

    @staticmethod
    def spec_of(value):
        """The Spec of a Value."""
        return Spec(value.shape, dtypes.code_of(value.dtype))

    def node(self, node, ins, wanted, prefix="", named=True):
        """Convert one node; return its results."""
        builder = self.builder
        before = builder.node, builder.outs
        start = len(builder.nodes)
        builder.node, builder.outs = node, wanted
        if self.log:
            self.log(node)
        try:
            if any(value.dtype.kind == "c" for value in (*wanted, *filter(None, ins))):
                builder.unsupported("complex numbers")
            own = self.users(node.op.name)
            outputs = own(node, ins, wanted) if own else node.op.onnx(node.attrs, builder, *ins)
        except UnsupportedError as error:
            raise UnsupportedError(f"operator {node.op.name}, node {node.name}: {error}") from None
        except MXNetError:
            raise
        except Exception as error:
            raise MXNetError(
                f"operator {node.op.name}, node {node.name}: cannot be exported with inputs {ins} "
                f"({type(error).__name__}: {error})"
            ) from error
        finally:
            builder.node, builder.outs = before
        outputs = outputs if isinstance(outputs, list | tuple) else [outputs]
        results = []
        endings = node.op.symbol_outputs(node.attrs)
        for index, (value, spec) in enumerate(zip(outputs, wanted, strict=False)):
            if value is None:
                results.append(None)
                continue
            if own and value.dtype in (None, spec.dtype):  # it already has the user's name
                value.shape, value.dtype = spec.shape, spec.dtype
                results.append(value)
                continue
            value = self._own(builder.cast(value, spec.dtype), start, results)
            value.shape, value.dtype = spec.shape, spec.dtype
            if named and index < len(endings):
                self._rename(value, prefix + _result_name(node, endings, index))
            if value._array is None and value._compute is None:
                value._compute = partial(_fold, node, ins, index)
            results.append(value)
        return results

    def _own(self, value, start, results):
        """The value itself if created by a node since `start`, else a copy."""
        is_new = any(value is out for node in self.builder.nodes[start:] for out in node.outputs)
        if is_new and not any(value is other for other in results):
            return value
        copy = self.builder.Identity(value)
        copy._array = value._array
        return copy

    def _rename(self, value, name_hint):
        builder = self.builder
        builder._names.discard(value.name)
        value.name = builder.claim(name_hint)


def _result_name(node, endings, index):
    """Name of a result as in MXNet's files: the node's name, with a number if not the first."""
    ending = endings[index]
    if ending.startswith("output") and ending != "output":
        return node.name + ending[len("output") :]
    return node.name if index == 0 else f"{node.name}{index}"


def _shape(spec, known):
    """A shape with -1 for extents that depend on the inputs."""
    if known.shape is None or len(known.shape) != len(spec.shape):
        return (-1,) * len(spec.shape)
    return known.shape


def _fold(node, ins, index):
    """Evaluate a node on constants; None if not possible."""
    if node.op.uses_rng or node.op.ref is None or not ins or node.op.name.startswith("_foreach"):
        return None
    arrays = [x.array if x is not None else None for x in ins]
    if any(array is None for array in arrays):
        return None
    ref = node.op.ref
    result = ref(node.attrs, np, arrays) if node.op.variadic else ref(node.attrs, np, *arrays)
    return np.asarray(result[index] if isinstance(result, tuple | list) else result)
