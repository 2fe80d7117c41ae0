"""Traversal of an ONNX graph, converting each node."""

import inspect
from functools import cache

import onnx
from onnx import AttributeProto, defs, helper

from mxcy._base import dtypes
from mxcy.base import MXNetError
from mxcy.onnx.onnx2mx import families
from mxcy.onnx.onnx2mx.attributes import Attributes
from mxcy.onnx.onnx2mx.expressions import Expressions
from mxcy.onnx.onnx2mx.open_extents import Extent, named_extents
from mxcy.onnx.onnx2mx.table import find_row
from mxcy.onnx.onnx2mx.tensors import Folder, code_of, to_numpy
from mxcy.onnx.onnx2mx.values import UnknownValueError, Value
from mxcy.ops.core.infer import Spec

__all__ = ["Importer", "missing_operators"]

_OWN = ("", "ai.onnx")
#: maximum nesting depth of functions and subgraphs
_DEEPEST = 64
assert families  # imported to fill the table


class _Frame:
    """Scope of a node: visible values, opsets, and attributes of the enclosing function."""

    def __init__(self, values, opsets, attributes=None, depth=0):
        self.values, self.opsets, self.attributes = values, opsets, attributes or {}
        self.depth = depth

    def inside(self):
        """The frame of a subgraph, in which all outer values are visible."""
        return _Frame(dict(self.values), self.opsets, self.attributes, self.depth + 1)


class Importer:
    """Importer of one model.

    Parameters
    ----------
    opsets : dict of str to int
        Domain -> version.
    functions : iterable of FunctionProto
        Functions defined by the model.
    folder : str, optional
        Folder of external data.
    """

    def __init__(self, opsets, functions=(), folder=None):
        self.F, self.folder = Expressions(), Folder(folder)
        self.opsets = {("" if name in _OWN else name): n for name, n in opsets.items()}
        self.functions = {(f.domain, f.name, getattr(f, "overload", "")): f for f in functions}

    def run(self, graph, shapes=None, constants=None):
        """Import a graph and return its outputs.

        Parameters
        ----------
        graph : GraphProto
        shapes : dict of str to tuple, optional
            Shapes of inputs that the file leaves open, or to override.
        constants : dict of str to numpy.ndarray, optional
            Inputs to turn into constants.

        Returns
        -------
        list of Value
        """
        frame = _Frame({}, self.opsets)
        constants, shapes = constants or {}, shapes or {}
        self.extents = named_extents(graph, shapes)
        initializers = {tensor.name for tensor in graph.initializer}
        names = {i.name for i in graph.input} - initializers
        unknown = [name for name in (*shapes, *constants) if name not in names]
        if unknown:
            raise ValueError(f"the model has no inputs {unknown}; it has {sorted(names)}")
        for entry in graph.input:
            if entry.name in initializers:
                continue
            if entry.name in constants:
                frame.values[entry.name] = self.F.constant(constants[entry.name])
            else:
                frame.values[entry.name] = self._input(entry, shapes.get(entry.name))
        return self._graph(graph, frame)

    def _input(self, entry, shape):
        kind = entry.type.WhichOneof("value")
        if kind != "tensor_type":
            raise NotImplementedError(f"input {entry.name}: type {kind} is not implemented")
        tensor = entry.type.tensor_type
        if shape is not None:
            shape = tuple(-1 if n is None or n < 0 else int(n) for n in shape)
        elif tensor.HasField("shape"):
            dims = tensor.shape.dim
            shape = tuple(d.dim_value if d.HasField("dim_value") else -1 for d in dims)
        code = code_of(tensor.elem_type, f"input {entry.name}")
        value = self.F.variable(entry.name, Spec(shape, code))
        named = self.extents.get(entry.name)
        if named is not None and value.spec.shape is not None:
            for axis, name in enumerate(named):
                if isinstance(name, str):
                    self.F.open.homes.setdefault(name, (value, axis))
            value.extents = tuple(Extent(n) if isinstance(n, str) else n for n in named)
        self.F.inputs[entry.name] = value
        return value

    def _graph(self, graph, frame):
        for tensor in graph.initializer:
            if not tensor.name.strip():
                raise ValueError("Tensor's name is required.")
            frame.values[tensor.name] = self._tensor(tensor)
        if graph.sparse_initializer:
            raise NotImplementedError("sparse initializers are not implemented")
        for node in graph.node:
            self._node(node, frame)
        outputs = []
        for output in graph.output:
            if output.name not in frame.values:
                raise MXNetError(f"output {output.name!r} is not computed by any node")
            outputs.append(frame.values[output.name])
        return outputs

    def _tensor(self, tensor):
        array, code = to_numpy(tensor, self.folder)
        return self.F.constant(array, code, name=tensor.name)

    def _node(self, node, frame):
        label = f"node {node.name or 'of ' + ', '.join(map(str, node.output))} ({node.op_type})"
        try:
            outputs = self._outputs(node, frame)
        except UnknownValueError as error:
            raise UnknownValueError(f"{label}: {error}", error.names) from None
        except (MXNetError, NotImplementedError) as error:
            raise type(error)(f"{label}: {error}") from error
        except Exception as error:
            raise MXNetError(f"{label}: {type(error).__name__}: {error}") from error
        for name, value in zip(node.output, outputs, strict=False):
            if name:
                frame.values[name] = value
        lacking = [name for name in node.output[len(outputs) :] if name]
        if lacking:
            raise MXNetError(f"{label}: its outputs {lacking} are not implemented")

    def _outputs(self, node, frame):
        """Compute the values of a node's outputs."""
        if frame.depth > _DEEPEST:
            raise MXNetError("functions and subgraphs are nested too deeply")
        inputs = []
        for name in node.input:
            if name and name not in frame.values:
                raise MXNetError(f"its input {name!r} is not an output of an earlier node")
            inputs.append(frame.values[name] if name else None)
        options = {}
        for attribute in node.attribute:
            reference = attribute.ref_attr_name
            if not reference:
                options[attribute.name] = attribute
            elif reference in frame.attributes:
                options[attribute.name] = frame.attributes[reference]
        domain = "" if node.domain in _OWN else node.domain
        function = self.functions.get((node.domain, node.op_type, getattr(node, "overload", "")))
        if function is not None:
            return self._call(function, inputs, options, frame)
        opset = frame.opsets.get(domain)
        if opset is None:
            raise MXNetError(f"the model does not say which opset of domain {domain!r} it uses")
        schema = _schema(node.op_type, opset, domain)
        row = find_row(node.op_type, opset, domain)
        if row is None:
            return self._call_standard(
                _resolved(node, options), schema, opset, inputs, options, frame
            )
        if schema is not None and not schema.min_input <= len(inputs) <= schema.max_input:
            raise MXNetError(
                f"expected {schema.min_input} to {schema.max_input} inputs, got {len(inputs)}"
            )
        a = Attributes(node, options, schema, opset)
        a.tensor = lambda tensor: self._tensor(tensor)
        a.run = lambda graph, values: self._subgraph(graph, values, frame)
        accepted = inspect.signature(row).parameters
        if len(inputs) > len(accepted) - 2 and not any(
            p.kind is p.VAR_POSITIONAL for p in accepted.values()
        ):
            raise MXNetError(f"expected at most {len(accepted) - 2} inputs, got {len(inputs)}")
        outer, self.F.scope = self.F.scope, node.name or (node.output[0] if node.output else "")
        outputs = row(self.F, a, *inputs)
        outputs = outputs if isinstance(outputs, tuple) else (outputs,)
        self.F.finish(node.name, [value for value in outputs if isinstance(value, Value)])
        self.F.scope = outer
        return outputs

    def _subgraph(self, graph, values, frame):
        """Import a subgraph with the given inputs and return its outputs."""
        inner = frame.inside()
        if len(values) > len(graph.input):
            raise MXNetError(f"the subgraph has {len(graph.input)} inputs, not {len(values)}")
        inner.values.update(zip((i.name for i in graph.input), values, strict=False))
        return self._graph(graph, inner)

    # --- functions ---
    def _call_standard(self, node, schema, opset, inputs, attributes, frame):
        """Expand a standard operator that is defined as a function of others."""
        function = None if schema is None else _body(schema, node, opset, inputs, frame.opsets)
        if function is None:
            raise NotImplementedError(f"Operator {node.op_type} not implemented.")
        for name, known in schema.attributes.items():
            if name not in attributes and known.default_value.type:
                attributes[name] = known.default_value
        return self._call(function, inputs, attributes, frame)

    def _call(self, function, inputs, attributes, frame):
        if len(inputs) > len(function.input):
            raise MXNetError(f"it has {len(function.input)} inputs, got {len(inputs)}")
        opsets = {("" if o.domain in _OWN else o.domain): o.version for o in function.opset_import}
        defaults = {a.name: a for a in getattr(function, "attribute_proto", ())}
        attributes = {**defaults, **attributes}
        inner = _Frame({}, {**frame.opsets, **opsets}, attributes, frame.depth + 1)
        inner.values.update(dict.fromkeys(function.input))
        inner.values.update(zip(function.input, inputs, strict=False))
        for node in function.node:
            self._node(node, inner)
        return tuple(inner.values.get(name) for name in function.output)


@cache
def _schema(name, opset, domain):
    try:
        return defs.get_schema(name, opset, domain)
    except (defs.SchemaError, TypeError):  # the name may be invalid UTF-8
        return None


def _resolved(node, attributes):
    """Replace a node's attribute references by the attributes."""
    if not any(attribute.ref_attr_name for attribute in node.attribute):
        return node
    copy = onnx.NodeProto()
    copy.CopyFrom(node)
    del copy.attribute[:]
    for name, attribute in attributes.items():
        added = copy.attribute.add()
        added.CopyFrom(attribute)
        added.name = name
    return copy


def _body(schema, node, opset, inputs, opsets):
    """The body of an operator defined as a function by ONNX, or None."""
    if schema.has_function:
        versions = [v for v in schema.function_opset_versions if v <= opset]
        version = max(versions, default=schema.since_version)
        body = schema.get_function_with_opset_version(version)
    elif schema.has_context_dependent_function:
        versions = [v for v in schema.context_dependent_function_opset_versions if v <= opset]
        version = max(versions, default=schema.since_version)
        types = [_type_of(value).SerializeToString() for value in inputs]
        body = schema.get_context_dependent_function_with_opset_version(
            version, node.SerializeToString(), types
        )
    else:
        return None
    function = onnx.FunctionProto()
    function.ParseFromString(body)
    if not function.node:
        return None
    if not any(o.domain in _OWN for o in function.opset_import):
        function.opset_import.append(helper.make_opsetid("", opsets.get("", 1)))
    return function


def _type_of(value):
    if value is None:
        return onnx.TypeProto()
    name = dtypes.name_of(value.spec.dtype)
    kind = getattr(
        onnx.TensorProto, {"float32": "FLOAT", "float64": "DOUBLE"}.get(name, name.upper())
    )
    shape = value.spec.shape
    dims = None if shape is None else [None if n < 0 else n for n in shape]
    return helper.make_tensor_type_proto(kind, dims)


def missing_operators(graph, opsets, functions=()):
    """The operators of a graph with neither a converter nor a definition, in order."""
    known = {(f.domain, f.name) for f in functions}
    missing = {}

    def look(nodes):
        for node in nodes:
            domain = "" if node.domain in _OWN else node.domain
            if (node.domain, node.op_type) not in known:
                opset = opsets.get(domain, opsets.get("ai.onnx", 1) if not domain else 1)
                schema = _schema(node.op_type, opset, domain)
                defined = schema is not None and (
                    schema.has_function or schema.has_context_dependent_function
                )
                if not defined and find_row(node.op_type, opset, domain) is None:
                    missing.setdefault(node.op_type, node.name or ", ".join(map(str, node.output)))
            for attribute in node.attribute:
                if attribute.type == AttributeProto.GRAPH:
                    look(attribute.g.node)

    look(graph.node)
    for function in functions:
        look(function.node)
    return missing
