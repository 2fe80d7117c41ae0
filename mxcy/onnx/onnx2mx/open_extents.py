"""Extents that a file leaves open, by name, while shapes are computed with.

Where a graph reads a shape whose extent has a name only, the constant gets a number that stands
for it. Such numbers may be moved about: an operator over them is computed twice, with different
numbers, and what does not move with them is computed when the graph runs. Sums, products and
quotients of them are extents again, whose names are their formulas.
"""

import numpy as np
import onnx
from onnx import helper, shape_inference

from mxcy.graph.extents import FUNCTIONS

__all__ = ["Extent", "OpenExtents", "inferred_names"]

#: initializers of more elements say nothing of shapes
_MOST = 64
#: sign -> the right operand that changes nothing
_NEUTRAL = {"+": 0, "-": 0, "*": 1, "/": 1}
#: sign -> what it takes back
_INVERSE = {"+": "-", "-": "+", "/": "*"}


class Extent(str):
    """The name or the formula of an extent that is known only when the graph runs."""

    __slots__ = ()


class OpenExtents:
    """The numbers that stand for names.

    Attributes
    ----------
    homes : dict of str to (Value, int)
        Name -> an array and its axis that has this extent.
    """

    def __init__(self):
        self.names, self._numbers = {}, {}
        self.homes = {}
        self._trees, self._axes = {}, {}

    def of_axis(self, x, axis, name=None):
        """An extent of a Value: an int, or its name, which it gets here if it has none."""
        if x.shape[axis] != -1:
            return x.shape[axis]
        if name is None:
            name = self._axes.setdefault(
                (id(x.entry[0]), x.entry[1], axis), f"axis{len(self._axes)}"
            )
        self.homes.setdefault(name, (x, axis))
        return Extent(name)

    def combined(self, sign, left, right):
        """A function of two extents: an int where both are, or where they cancel out."""
        if not isinstance(left, str) and not isinstance(right, str):
            return FUNCTIONS[sign](left, right)
        if right == _NEUTRAL.get(sign) or sign in ("max", "min") and left == right:
            return left
        if left == _NEUTRAL.get(sign) and sign in "+*":
            return right
        if left == right and sign in "-/":
            return 0 if sign == "-" else 1
        inner, first, second = self._trees.get(left, (None, None, None))
        if inner == _INVERSE.get(sign) and second == right:
            return first
        if inner == "*" and sign == "/" and first == right:
            return second
        if inner == "*" and isinstance(second, int) and isinstance(right, int):
            if sign == "*":
                return self.combined("*", first, second * right)
            if sign == "/" and right and second % right == 0:
                return self.combined("*", first, second // right)
        name = Extent(f"({left} {sign} {right})")
        self._trees[name] = sign, left, right
        return name

    def arithmetic(self, sign, left, right):
        """The array of a function of two arrays, some of whose elements stand for extents."""
        whole = np.broadcast_shapes(left.shape, right.shape)
        pairs = zip(
            self.told(np.broadcast_to(left, whole)),
            self.told(np.broadcast_to(right, whole)),
            strict=True,
        )
        return self.array([self.combined(sign, x, y) for x, y in pairs]).reshape(whole)

    def array(self, extents):
        """A vector of ints and of what stands for names."""
        return np.array([self.number(n) if isinstance(n, str) else n for n in extents], np.int64)

    def tree(self, name):
        """The formula behind a name, as `mxcy.graph.extents.postfix` takes it."""
        if not isinstance(name, str):
            return int(name)
        if name not in self._trees:
            return str(name)
        sign, left, right = self._trees[name]
        return sign, self.tree(left), self.tree(right)

    def number(self, name):
        """The number of a name."""
        if name not in self._numbers:
            count = len(self._numbers)
            number = (1 << 60) + (count << 40) + 12345
            self._numbers[name], self.names[number] = number, name
        return self._numbers[name]

    def has(self, array):
        """Whether an array has such a number."""
        if not self.names or array.dtype != np.int64 or array.size > _MOST:
            return False
        return any(number in self.names for number in array.reshape(-1).tolist())

    def probed(self, array):
        """The array with other numbers."""
        flat = [self._other(number) for number in array.reshape(-1).tolist()]
        return np.array(flat, array.dtype).reshape(array.shape)

    def _other(self, number):
        return -7 - list(self.names).index(number) if number in self.names else number

    def moved(self, array, probe):
        """Whether results with the numbers and with the others differ by them alone."""
        return array.dtype == np.int64 and np.array_equal(self.probed(array), probe)

    def told(self, array):
        """The elements as a tuple, names in the place of their numbers."""
        told = (self.names.get(number, number) for number in array.reshape(-1).tolist())
        return tuple(Extent(n) if isinstance(n, str) else n for n in told)


def _light(graph, shapes):
    """The graph without large tensors, all open extents of its inputs named."""
    light = onnx.GraphProto(name="light")
    light.node.extend(graph.node)
    light.output.extend(graph.output)
    known = {tensor.name for tensor in graph.initializer}
    for given in graph.input:
        if given.name in known:
            continue
        added = light.input.add()
        added.CopyFrom(given)
        for axis, dim in enumerate(added.type.tensor_type.shape.dim):
            extent = shapes[given.name][axis] if given.name in shapes else None
            if extent is not None and extent >= 0:
                dim.dim_value = extent
            elif not dim.HasField("dim_value") and not dim.dim_param:
                dim.dim_param = f"{given.name}.{axis}"
    for tensor in graph.initializer:
        if np.prod(tensor.dims, dtype=float) <= _MOST:
            light.initializer.add().CopyFrom(tensor)
        else:
            made = helper.make_tensor_value_info(tensor.name, tensor.data_type, list(tensor.dims))
            light.input.add().CopyFrom(made)
    return light


def inferred_names(graph, opsets, functions, shapes):
    """Tensor -> its extents, numbers and names, as ONNX infers them; None where it cannot.

    Parameters
    ----------
    graph : GraphProto
    opsets : dict of str to int
    functions : sequence of FunctionProto
    shapes : dict of str to tuple
        What is known of inputs.

    Returns
    -------
    dict of str to tuple
    """
    if not any(node.op_type == "Shape" for node in graph.node):
        return {}
    imports = [helper.make_opsetid(domain, version) for domain, version in opsets.items()]
    try:
        model = helper.make_model(
            _light(graph, shapes), opset_imports=imports, functions=list(functions)
        )
        inferred = shape_inference.infer_shapes(model, data_prop=True).graph
    except Exception:  # it is a help, and its errors are those of the nodes, which follow
        return {}
    found = {}
    for value in (*inferred.value_info, *inferred.input, *inferred.output):
        if value.type.tensor_type.HasField("shape"):
            found[value.name] = tuple(
                dim.dim_value if dim.HasField("dim_value") else dim.dim_param or None
                for dim in value.type.tensor_type.shape.dim
            )
    return found
