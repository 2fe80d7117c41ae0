"""Extents that a file leaves open, by name, while shapes are computed with.

Where a graph reads a shape whose extent has a name only, the constant gets a number that stands
for it. Such numbers may be moved about: an operator over them is computed twice, with different
numbers, and what does not move with them is computed when the graph runs. Sums, products and
quotients of them are extents again, whose names are their formulas.
"""

import numpy as np

from mxcy.graph.extents import FUNCTIONS

__all__ = ["Extent", "OpenExtents", "named_extents"]

#: initializers of more elements say nothing of shapes
_MOST = 64
#: where the numbers of two turns begin
_PROBES = (41, 151)
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
        self._trees, self._axes, self._probes = {}, {}, {}

    def of_axis(self, x, axis):
        """An extent of a Value: an int, or the name that it gets here."""
        if x.shape[axis] != -1:
            return x.shape[axis]
        place = id(x.entry[0]), x.entry[1], axis
        name = self._axes.setdefault(place, f"axis{len(self._axes)}")
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

    def probes(self, extents, turn):
        """Numbers in the place of names, others in each of two turns."""
        return tuple(
            720 * (2 * self._probes.setdefault(n, len(self._probes)) + _PROBES[turn])
            if isinstance(n, str)
            else n
            for n in extents
        )

    def recognized(self, first, second):
        """The extents behind what `probes` became in two turns; None where it is no name."""
        names = {self.probes([n], 0) + self.probes([n], 1): n for n in tuple(self._probes)}
        return tuple(
            left if left == right else self._name(names.get((left, right)))
            for left, right in zip(first, second, strict=True)
        )

    @staticmethod
    def _name(name):
        return None if name is None else Extent(name)

    def arithmetic(self, sign, left, right):
        """The array of a function of two arrays, some of whose elements stand for extents."""
        whole = np.broadcast_shapes(left.shape, right.shape)
        pairs = zip(
            self.named(np.broadcast_to(left, whole)),
            self.named(np.broadcast_to(right, whole)),
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

    def named(self, array):
        """The elements as a tuple, names in the place of their numbers."""
        named = (self.names.get(number, number) for number in array.reshape(-1).tolist())
        return tuple(Extent(n) if isinstance(n, str) else n for n in named)


def named_extents(graph, shapes):
    """Input -> its extents, numbers and names, None where there is neither.

    Parameters
    ----------
    graph : GraphProto
    shapes : dict of str to tuple
        What is known of inputs besides.

    Returns
    -------
    dict of str to tuple
    """
    extents = {}
    for entry in graph.input:
        given = shapes.get(entry.name)
        dims = entry.type.tensor_type.shape.dim
        if given is not None and len(given) != len(dims):
            continue
        extents[entry.name] = tuple(
            _named(f"{entry.name}.{axis}", dim, given[axis] if given is not None else None)
            for axis, dim in enumerate(dims)
        )
    return extents


def _named(usual, dim, given):
    if given is not None and given >= 0:
        return int(given)
    if dim.HasField("dim_value"):
        return dim.dim_value
    return dim.dim_param or usual
