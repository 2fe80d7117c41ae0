"""Symbols among the operands of functions of `mx.np`: operators are described in place of run.

Symbols stand above this package: `mxcy.symbol.numpy` tells what they are and how operators apply
to them. Until it was imported there are none.
"""

import threading

__all__ = ["any_symbols", "apply", "is_symbol", "kind", "offer", "scope"]


class _State(threading.local):
    on = False


_state = _State()
_offered: list = []  # the class of symbols, and what applies operators to them


def offer(cls, describe):
    """Tell the class of symbols, and ``describe(name, inputs, attrs)`` that makes them."""
    _offered[:] = cls, describe


def is_symbol(value):
    """Whether a value is a symbol of `mx.sym.np`."""
    return bool(_offered) and isinstance(value, _offered[0])


def kind(called):
    """The class of what a function gives: symbols' where it describes, else the function's own."""
    return _offered[0] if _state.on else called


def any_symbols(inputs):
    """Whether a call describes: an input is a symbol, or a function of `mx.sym.np` has none."""
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
    """The symbol of an operator, or a list of symbols of several outputs.

    Parameters
    ----------
    name : str
        The registered name.
    inputs : sequence of symbols or None
    attrs : dict
    """
    return _offered[1](name, inputs, attrs)


class scope:  # noqa: N801 - a context
    """Operators without inputs are described as well."""

    def __enter__(self):
        self._before, _state.on = _state.on, True

    def __exit__(self, *error):
        _state.on = self._before
