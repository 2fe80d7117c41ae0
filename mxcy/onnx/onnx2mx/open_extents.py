"""Extents that a file leaves open, by name, while shapes are computed with.

Where a graph reads a shape whose extent has a name only, the constant gets a number that stands
for it. Such numbers may be moved about, not computed with: an operator over them is computed twice,
with different numbers, and what does not move with them is refused.
"""

import numpy as np
import onnx
from onnx import helper, shape_inference

__all__ = ["OpenExtents", "inferred_names"]

#: initializers of more elements say nothing of shapes
_MOST = 64


class OpenExtents:
    """The numbers that stand for names."""

    def __init__(self):
        self.names, self._numbers = {}, {}
        self.homes = {}  # name -> (an input of the graph, the axis that has the extent)

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
        return tuple(self.names.get(number, number) for number in array.reshape(-1).tolist())


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
