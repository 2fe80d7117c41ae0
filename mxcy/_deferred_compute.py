"""Deferred computation: operations on arrays are recorded, and become a symbol when asked for.

The arrays inside are ordinary ones with values. Everything an operator computes is noted, random
numbers and gradientless operators included; what a program does besides, such as looking at values
or writing to arrays, raises `TracedValueError`.
"""

import contextlib
import itertools

from mxcy import symbol
from mxcy._base.errors import UntracedInputError
from mxcy._library import front
from mxcy.base import MXNetError
from mxcy.ops.core.precision import CONSTRAINT
from mxcy.symbol import Symbol
from mxcy.symbol.recorded import outputs_of

__all__ = [
    "clear",
    "context",
    "get_symbol",
    "is_deferred_compute",
    "noted",
    "set_deferred_compute",
    "set_variable",
]


def is_deferred_compute():
    """Whether this thread records operations."""
    return front.is_deferred()


def set_deferred_compute(state):
    """Switch deferred computation for this thread.

    Parameters
    ----------
    state : bool

    Returns
    -------
    bool
        The state before.
    """
    return front.set_deferred(bool(state)) != 0


class context:  # noqa: N801 - its name in MXNet
    """A scope in which operations are recorded, or with ``state=False`` are not.

    Parameters
    ----------
    state : bool
    """

    def __init__(self, state=True):
        self._state, self._before = bool(state), []

    def __enter__(self):
        self._before.append(front.set_deferred(self._state))
        return self

    def __exit__(self, *error):
        front.set_deferred(self._before.pop())


def set_variable(arrays, variables):
    """Say which variables of symbols stand for arrays.

    Parameters
    ----------
    arrays : NDArray or list of NDArray
        Arrays that no noted operation made.
    variables : Symbol or list of Symbol
        As many.

    Raises
    ------
    MXNetError
        When an array stands for something else already.
    """
    for array, variable in zip(_listed(arrays), _listed(variables), strict=True):
        if array.node is not None:
            raise MXNetError("set_variable: the array is a variable already, or was computed")
        node = front.Node()
        node.custom, node.parents = _Variable(variable), ()
        array.node, array.node_index = node, 0


class _Variable:
    """What a node on the tape stands for: an entry of a graph."""

    def __init__(self, variable):
        (self.entry,) = variable._entries


def get_symbol(output_arrays, sym_cls=Symbol):
    """What was noted of arrays, as a symbol.

    Parameters
    ----------
    output_arrays : NDArray or list of NDArray
    sym_cls : type
        The class of the symbol.

    Returns
    -------
    Symbol
        Its operations are called ``node_0``, ``node_1`` and so on.

    Raises
    ------
    UntracedInputError
        When something went in that is neither a variable nor was noted: an MXNetError and a
        TypeError.
    """
    entries, constants = noted(_listed(output_arrays))
    if constants:
        raise UntracedInputError(
            "get_symbol: the computation uses an array that is neither a variable nor one of its "
            "results: {next(iter(constants.values()))!r}"
        )
    return sym_cls(entries)


_numbers = itertools.count(2)  # of parts; 1 is that of everything else
_CONSTRAINT_BITS = 28  # what lies above in the numbers of operations


def constrain(flags):
    """Give the operations that are recorded from now on attribute ``__opt_constraint__``.

    Parameters
    ----------
    flags : int
        They are added to those in force.

    Returns
    -------
    int
        What `front.set_deferred` takes to end it; 0 where nothing is recorded.
    """
    before = front.set_deferred(0)
    front.set_deferred(before | flags << _CONSTRAINT_BITS if before else 0)
    return before


def _part_of(number):
    return number & (1 << _CONSTRAINT_BITS) - 1


@contextlib.contextmanager
def part():
    """A scope whose operations are recorded as a part that `noted` can cut out.

    Yields
    ------
    int
        The number of the part.
    """
    number, before = next(_numbers), front.set_deferred(0)
    front.set_deferred(before - _part_of(before) + number)
    try:
        yield number
    finally:
        front.set_deferred(before)


@contextlib.contextmanager
def values():
    """A scope that computes while nothing is recorded, and may look at values.

    Yields
    ------
    int
        The number of the part that is being recorded outside.
    """
    before = front.set_deferred(0)
    try:
        yield before
    finally:
        front.set_deferred(before)


def noted(arrays, part=None, variables=()):
    """The graph of what was noted.

    Parameters
    ----------
    arrays : list of NDArray
    part : int, optional
        Only what was noted in this `part`.
    variables : list of NDArray
        Those which the part has for itself.

    Returns
    -------
    entries : list of (SymbolNode, int)
        One for each array.
    constants : dict of str to NDArray
        What went in but is no variable, or was noted outside the part, by the names of their
        variables in the graph.
    """
    entries, constants, of_constants = {}, {}, {}
    own = None if part is None else (part, {id(array.node) for array in variables})

    def constant(array, *place):
        key = id(array) if own is None or place[0] is None else (id(place[0]), place[1])
        known = of_constants.get(key)
        if known is None:
            name = f"_constant{len(constants)}"
            constants[name] = array
            known = of_constants[key] = symbol.var(name)._entries[0]
        return known

    def entry(array, node, index):
        if node is None or id(node) not in entries:
            return constant(array, node, index)
        return entries[id(node)][index]

    number = 0
    for node in _in_order([array.node for array in arrays], own):
        if isinstance(node.custom, _Variable):
            entries[id(node)] = [node.custom.entry]
            continue
        positions = node.positions or (0,) * len(node.parents)
        inputs = [
            entry(array, parent, position)
            for array, parent, position in zip(
                node.saved_inputs, node.parents, positions, strict=True
            )
        ]
        outputs = entries[id(node)] = outputs_of(node, f"node_{number}", inputs)
        flags = node.fresh >> _CONSTRAINT_BITS
        if flags:
            for symbol_node, _ in outputs:
                symbol_node.attrs = {**symbol_node.attrs, CONSTRAINT: str(flags)}
        number += 1
    return [entry(a, a.node, a.node_index) for a in arrays], constants


def _is_noted(node, own):
    if node is None:
        return False
    if own is not None:  # only what belongs to a part
        return _part_of(node.fresh) == own[0] or id(node) in own[1]
    return node.fresh != 0 or isinstance(node.custom, _Variable)


def _in_order(heads, own):
    """What was noted for some nodes, each after those it depends on."""
    order, seen = [], set()
    stack = [(node, False) for node in reversed(heads) if _is_noted(node, own)]
    while stack:
        node, done = stack.pop()
        if done:
            order.append(node)
        elif id(node) not in seen:
            seen.add(id(node))
            stack.append((node, True))
            parents = [parent for parent in node.parents if _is_noted(parent, own)]
            stack += [(parent, False) for parent in reversed(parents)]
    return order


def clear(arrays):
    """Forget what was noted of arrays.

    Parameters
    ----------
    arrays : NDArray or list of NDArray
    """
    for array in _listed(arrays):
        array.node = None


def _listed(values):
    return list(values) if isinstance(values, (list, tuple)) else [values]
