"""Symbolic extents: shape arithmetic with extents that a file leaves open.

If a graph reads a shape with a named extent, the constant gets a placeholder number. An operator on
such constants is evaluated twice, with different placeholders: if the results differ by these only,
elements were just moved, otherwise the operator is computed at run time. Sums, products and
quotients of extents are extents again, whose names are their formulas.
"""

import numpy as np

from mxcy.graph.extents import FUNCTIONS

__all__ = ["Extent", "OpenExtents", "named_extents"]

#: initializers with more elements are not taken for shapes
_MOST = 64
#: first placeholder of each of the two evaluations
_PROBES = (41, 151)
#: operator -> right identity element
_NEUTRAL = {"+": 0, "-": 0, "*": 1, "/": 1}
#: operator -> inverse operator
_INVERSE = {"+": "-", "-": "+", "/": "*"}


class Extent(str):
    """Name or formula of an extent known only at run time."""

    __slots__ = ()


class OpenExtents:
    """The placeholders of named extents.

    Attributes
    ----------
    homes : dict of str to (Value, int)
        Name -> an array and an axis with this extent.
    """

    def __init__(self):
        self.names, self._numbers = {}, {}
        self.homes = {}
        self._trees, self._axes, self._probes = {}, {}, {}

    def of_axis(self, x, axis):
        """Extent of a Value: an int, or a name created for it."""
        if x.shape[axis] != -1:
            return x.shape[axis]
        place = id(x.entry[0]), x.entry[1], axis
        name = self._axes.setdefault(place, f"axis{len(self._axes)}")
        self.homes.setdefault(name, (x, axis))
        return Extent(name)

    def combined(self, sign, left, right):
        """Combine two extents: an int if both are, or if they cancel."""
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

    def probes(self, extents, turn):
        """Replace names by placeholders, different ones in each of the two evaluations."""
        return tuple(
            720 * (2 * self._probes.setdefault(n, len(self._probes)) + _PROBES[turn])
            if isinstance(n, str)
            else n
            for n in extents
        )

    def recognized(self, first, second):
        """Identify the extents in the results of two evaluations; None if one is not an extent."""
        names = {self.probes([n], 0) + self.probes([n], 1): n for n in tuple(self._probes)}
        return tuple(
            left if left == right else self._name(names.get((left, right)))
            for left, right in zip(first, second, strict=True)
        )

    @staticmethod
    def _name(name):
        return None if name is None else Extent(name)

    def arithmetic(self, sign, left, right):
        """Apply a function to two arrays that contain placeholders."""
        shape = np.broadcast_shapes(left.shape, right.shape)
        pairs = zip(
            self.named(np.broadcast_to(left, shape)),
            self.named(np.broadcast_to(right, shape)),
            strict=True,
        )
        return self.array([self.combined(sign, x, y) for x, y in pairs]).reshape(shape)

    def array(self, extents):
        """Create a vector of ints and placeholders."""
        return np.array([self.number(n) if isinstance(n, str) else n for n in extents], np.int64)

    def tree(self, name):
        """The formula of a name, in the form for `mxcy.graph.extents.postfix`."""
        if not isinstance(name, str):
            return int(name)
        if name not in self._trees:
            return str(name)
        sign, left, right = self._trees[name]
        return sign, self.tree(left), self.tree(right)

    def number(self, name):
        """The placeholder of a name."""
        if name not in self._numbers:
            count = len(self._numbers)
            number = (1 << 60) + (count << 40) + 12345
            self._numbers[name], self.names[number] = number, name
        return self._numbers[name]

    def has(self, array):
        """Whether an array contains placeholders."""
        if not self.names or array.dtype != np.int64 or array.size > _MOST:
            return False
        return any(number in self.names for number in array.reshape(-1).tolist())

    def probed(self, array):
        """Replace the placeholders by the alternative ones."""
        flat = [self._other(number) for number in array.reshape(-1).tolist()]
        return np.array(flat, array.dtype).reshape(array.shape)

    def _other(self, number):
        return -7 - list(self.names).index(number) if number in self.names else number

    def moved(self, array, probe):
        """Whether two results differ by the placeholders only."""
        return array.dtype == np.int64 and np.array_equal(self.probed(array), probe)

    def named(self, array):
        """Return the elements as a tuple, with names for placeholders."""
        named = (self.names.get(number, number) for number in array.reshape(-1).tolist())
        return tuple(Extent(n) if isinstance(n, str) else n for n in named)


def named_extents(graph, shapes):
    """Return the extents of each input: numbers, names, or None.

    Parameters
    ----------
    graph : GraphProto
    shapes : dict of str to tuple
        Known shapes of inputs.

    Returns
    -------
    dict of str to tuple
    """
    extents = {}
    for entry in graph.input:
        sizes = shapes.get(entry.name)
        dims = entry.type.tensor_type.shape.dim
        if sizes is not None and len(sizes) != len(dims):
            continue
        extents[entry.name] = tuple(
            _named(f"{entry.name}.{axis}", dim, sizes[axis] if sizes is not None else None)
            for axis, dim in enumerate(dims)
        )
    return extents


def _named(usual, dim, size):
    if size is not None and size >= 0:
        return int(size)
    if dim.HasField("dim_value"):
        return dim.dim_value
    return dim.dim_param or usual
