"""Deferred computation: recording operations on arrays as a symbol.

The arrays involved are ordinary ones with values. Every operator is recorded, random and
non-differentiable ones included; anything else, such as reading values or writing to arrays, raises
`TracedValueError`.
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
    """Switch deferred computation on or off for this thread.

    Parameters
    ----------
    state : bool

    Returns
    -------
    bool
        The previous state.
    """
    return front.set_deferred(bool(state)) != 0


class context:  # noqa: N801 - its name in MXNet
    """A scope with deferred computation on, or off for ``state=False``.

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
    """Declare which symbol variables represent arrays.

    Parameters
    ----------
    arrays : NDArray or list of NDArray
        Arrays that are not results of recorded operations.
    variables : Symbol or list of Symbol
        The variables, one per array.

    Raises
    ------
    MXNetError
        If an array already is a variable or a recorded result.
    """
    for array, variable in zip(_listed(arrays), _listed(variables), strict=True):
        if array.node is not None:
            raise MXNetError("set_variable: the array already is a variable or a recorded result")
        node = front.Node()
        node.custom, node.parents = _Variable(variable), ()
        array.node, array.node_index = node, 0


class _Variable:
    """The graph entry that a tape node represents."""

    def __init__(self, variable):
        (self.entry,) = variable._entries


def get_symbol(output_arrays, sym_cls=Symbol):
    """Return the recorded computation of arrays as a symbol.

    Parameters
    ----------
    output_arrays : NDArray or list of NDArray
    sym_cls : type
        The class of the symbol.

    Returns
    -------
    Symbol
        A symbol whose operations are named ``node_0``, ``node_1`` and so on.

    Raises
    ------
    UntracedInputError
        If the computation uses an array that is neither a variable nor recorded; both an MXNetError
        and a TypeError.
    """
    entries, constants = noted(_listed(output_arrays))
    if constants:
        raise UntracedInputError(
            "get_symbol: the computation uses an array that is neither a variable nor one of its "
            "results: {next(iter(constants.values()))!r}"
        )
    return sym_cls(entries)


_numbers = itertools.count(2)  # ids of parts; 1 is everything outside a part
_CONSTRAINT_BITS = 28  # position of the constraint flags in an operation's number


def constrain(flags):
    """Set attribute ``__opt_constraint__`` on operations recorded from now on.

    Parameters
    ----------
    flags : int
        Flags to add to the current ones.

    Returns
    -------
    int
        The argument of `front.set_deferred` that ends it; 0 if nothing is recorded.
    """
    before = front.set_deferred(0)
    front.set_deferred(before | flags << _CONSTRAINT_BITS if before else 0)
    return before


def _part_of(number):
    return number & (1 << _CONSTRAINT_BITS) - 1


@contextlib.contextmanager
def part():
    """A scope whose operations form a part that `noted` can extract.

    Yields
    ------
    int
        The id of the part.
    """
    number, before = next(_numbers), front.set_deferred(0)
    front.set_deferred(before - _part_of(before) + number)
    try:
        yield number
    finally:
        front.set_deferred(before)


@contextlib.contextmanager
def values():
    """A scope without recording, which may read values.

    Yields
    ------
    int
        The id of the part being recorded outside.
    """
    before = front.set_deferred(0)
    try:
        yield before
    finally:
        front.set_deferred(before)


def noted(arrays, part=None, variables=()):
    """Return the recorded graph of arrays.

    Parameters
    ----------
    arrays : list of NDArray
    part : int, optional
        Restrict the graph to this `part`.
    variables : list of NDArray
        Variables local to the part.

    Returns
    -------
    entries : list of (SymbolNode, int)
        One per array.
    constants : dict of str to NDArray
        Inputs that are not variables, or were recorded outside the part, by the names of their
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
    if own is not None:  # restricted to a part
        return _part_of(node.fresh) == own[0] or id(node) in own[1]
    return node.fresh != 0 or isinstance(node.custom, _Variable)


def _in_order(heads, own):
    """The recorded nodes that some nodes depend on, in topological order."""
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
    """Delete the recorded computation of arrays.

    Parameters
    ----------
    arrays : NDArray or list of NDArray
    """
    for array in _listed(arrays):
        array.node = None


def _listed(values):
    return list(values) if isinstance(values, (list, tuple)) else [values]
