"""Named scopes for attributing memory."""

import contextlib
import contextvars

from mxcy._library import front

__all__ = ["IMPERATIVE", "MEMORY", "scope"]

# Bits of `recorder.bits()`, MX_PROFILE_*: whether calls are recorded, and memory is followed.
IMPERATIVE, MEMORY = 2, 8

_current = contextvars.ContextVar("profiler_scope", default="<unk>:")


@contextlib.contextmanager
def scope(name="<unk>:", append_mode=True):
    """A scope that prefixes the names of its allocations with `name`.

    Parameters
    ----------
    name : str
        The prefix; a colon is appended if it does not end with one.
    append_mode : bool
        Whether to prepend the enclosing scopes' names.

    Yields
    ------
    str : the whole name
    """
    name = name if name.endswith(":") else f"{name}:"
    outside = _current.get()
    if append_mode and outside != "<unk>:":
        name = outside + name
    token = _current.set(name)
    front.recorder.set_scope(name)
    try:
        yield name
    finally:
        _current.reset(token)
        front.recorder.set_scope(outside)
