"""Symbols as pointers for functions of MXNet's C interface, and their conversion back."""

import ctypes
import weakref

from mxcy.base import MXNetError

__all__ = ["pointer_to", "pointer_to_new", "symbol_at", "take"]

_seen: weakref.WeakValueDictionary = weakref.WeakValueDictionary()  # address -> symbol
_new: dict = {}  # address -> symbol that C functions have made and nobody has taken yet


def pointer_to(symbol):
    """Return a pointer to a symbol, valid as long as the symbol exists.

    Parameters
    ----------
    symbol : Symbol

    Returns
    -------
    ctypes.c_void_p
    """
    _seen[id(symbol)] = symbol
    return ctypes.c_void_p(id(symbol))


def pointer_to_new(symbol):
    """Return a pointer to a new symbol, which is kept until `take`; otherwise as `pointer_to`."""
    _new[id(symbol)] = symbol
    return pointer_to(symbol)


def symbol_at(pointer):
    """Return the symbol of a pointer.

    Parameters
    ----------
    pointer : ctypes.c_void_p

    Returns
    -------
    Symbol

    Raises
    ------
    MXNetError
        If it does not point to a symbol.
    """
    symbol = _seen.get(pointer.value)
    if symbol is None:
        raise MXNetError("Symbol: the handle does not point to a symbol")
    return symbol


def take(pointer):
    """Return the entries of the symbol of a pointer, which loses a new symbol its keeper."""
    symbol = symbol_at(pointer)
    _new.pop(pointer.value, None)
    return list(symbol._entries)
