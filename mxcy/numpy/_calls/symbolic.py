"""Symbols as operands of `mx.np` functions: operators build a graph instead of running.

Symbols belong to a higher layer: `mxcy.symbol.numpy` registers their class and how operators apply
to them. Until it is imported there are none.
"""

import threading

__all__ = ["any_symbols", "apply", "is_symbol", "kind", "offer", "scope"]


class _State(threading.local):
    on = False


_state = _State()
_offered: list = []  # symbol class, and the function that applies operators


def offer(cls, describe):
    """Register the symbol class and ``describe(name, inputs, attrs)``, which creates symbols."""
    _offered[:] = cls, describe


def is_symbol(value):
    """Return whether a value is an `mx.sym.np` symbol."""
    return bool(_offered) and isinstance(value, _offered[0])


def kind(called):
    """Return the result class of a function: symbols if it builds a graph, else its own."""
    return _offered[0] if _state.on else called


def any_symbols(inputs):
    """Return whether a call builds a graph: an input is a symbol, or it is a source in `scope`."""
    if not _offered:
        return False
    if not inputs:
        return _state.on
    cls = _offered[0]
    for x in inputs:  # noqa: SIM110  a generator would take longer than many operators
        if isinstance(x, cls):
            return True
    return False


def apply(name, inputs, attrs):
    """Return the symbol of an operator, or a list of symbols if it has several outputs.

    Parameters
    ----------
    name : str
        The registered name.
    inputs : sequence of symbols or None
    attrs : dict
    """
    return _offered[1](name, inputs, attrs)


class scope:  # noqa: N801 - a context
    """Context in which operators without inputs build a graph, too."""

    def __enter__(self):
        self._before, _state.on = _state.on, True

    def __exit__(self, *error):
        _state.on = self._before
