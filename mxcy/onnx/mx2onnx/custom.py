"""Users' converters, with the interface of MXNet's `MXNetGraph.register`."""

import json
from collections import namedtuple

import numpy as np

from mxcy.onnx.errors import UnsupportedError
from mxcy.onnx.mx2onnx.values import Node, Value

__all__ = ["MXNetGraph", "Users"]

NodeOutput = namedtuple("NodeOutput", "name dtype")


class MXNetGraph:
    """Registry of users' converters.

    Examples
    --------
    >>> @MXNetGraph.register("my_operator")                      # doctest: +SKIP
    ... def convert_my_operator(node, **kwargs):
    ...     name, inputs, attrs = get_inputs(node, kwargs)
    ...     return [onnx.helper.make_node("Relu", inputs, [name], name=name)]
    """

    #: opset version -> operator -> function
    registry_ = {}

    @staticmethod
    def register(op_name, opset_version=12):
        """Decorator that registers a converter of an operator from an opset version on.

        Parameters
        ----------
        op_name : str
            Name of the operator in `mx.sym`.
        opset_version : int
            First opset version that the function supports.

        Returns
        -------
        callable
            The decorated function is called with the node (a dict of name, op, attrs and inputs)
            and the keywords `initializer` (a list that TensorProtos can be appended to), `idx`,
            `outputs_lookup`, `in_type`, `opset_version` and `weights`. It returns NodeProtos, in
            which results are named after the node (``name``, or ``name0``, ``name1``), optionally
            in a pair with a tuple of the results' dtypes.
        """

        def enter(function):
            MXNetGraph.registry_.setdefault(int(opset_version), {})[op_name] = function
            return function

        return enter

    @staticmethod
    def names():
        """The registered operators."""
        return {name for functions in MXNetGraph.registry_.values() for name in functions}

    @staticmethod
    def converter(name, opset):
        """The function with the highest version up to `opset`, or None."""
        for version in sorted(MXNetGraph.registry_, reverse=True):
            if version <= opset and name in MXNetGraph.registry_[version]:
                return MXNetGraph.registry_[version][name]
        return None


class Users:
    """Application of users' converters to one network."""

    def __init__(self, opset, sym, params):
        self.opset, self.sym, self.params = opset, sym, params
        self.initializer, self.lookup = [], {}
        self._numbers = None

    def start(self, builder):
        """Set the builder, whose values users' nodes refer to by name."""
        self.builder = builder

    def __contains__(self, name):
        return MXNetGraph.converter(name, self.opset) is not None

    def find(self, name):
        """Return a function ``(node, inputs, wanted)`` that calls the user's converter, or None."""
        function = MXNetGraph.converter(name, self.opset)
        if function is None:
            return None
        return lambda node, ins, wanted: self._call(function, node, ins, wanted)

    def _described(self, node, ins):
        """Describe the node as in the symbol's JSON file."""
        if self._numbers is None:
            self.nodes = json.loads(self.sym.tojson())["nodes"]
            self._numbers = {entry["name"]: i for i, entry in enumerate(self.nodes)}
            self.lookup = [[] for _ in self.nodes]
        number = self._numbers.get(node.name)
        if number is None:
            raise UnsupportedError("users' converters work on nodes outside of loops only")
        entry = self.nodes[number]
        for (source, index, *_), value in zip(entry["inputs"], ins, strict=True):
            known = self.lookup[source]
            known += [None] * (index + 1 - len(known))
            known[index] = NodeOutput(value.name, value.dtype)
        return {"attrs": {}, **entry}, number

    def _call(self, function, node, ins, wanted):
        from onnx import NodeProto

        entry, number = self._described(node, ins)
        result = function(
            entry,
            is_input=False,
            mx_graph=self.nodes,
            weights={name: array.asnumpy() for name, array in self.params.items()},
            proc_nodes=[],
            initializer=self.initializer,
            outputs_lookup=self.lookup,
            idx=number,
            in_type=None,
            opset_version=self.opset,
        )
        protos, types = result if isinstance(result, tuple) else (result, None)
        builder, name = self.builder, node.name
        values = {value.name: value for value in ins}
        results = {}
        for proto in protos:
            if not isinstance(proto, NodeProto):
                raise ValueError(f"node is of an unrecognized type: {type(proto)}")
            inputs = [values[n] for n in proto.input if n in values]
            outputs = []
            for output in proto.output:
                value = Value(builder, output)
                if output == name or output[: len(name)] == name and output[len(name) :].isdigit():
                    results[output] = value
                builder.claim(output)
                values[output] = value
                outputs.append(value)
            builder.nodes.append(Node(proto.op_type, inputs, outputs, proto=proto))
        result = [results[key] for key in sorted(results, key=lambda key: (len(key), key))]
        if not result:
            result = [values[protos[-1].output[0]]]
        for index, value in enumerate(result):
            known = types[index] if types else ins[0].dtype
            value.dtype = None if known is None else np.dtype(known)
        return result
