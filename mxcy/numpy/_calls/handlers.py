"""Handlers for parameters that a function has and its operator lacks."""

__all__ = ["UNUSUAL", "handles"]

#: public name -> ``handler(called, inputs, raw, out, keywords)``, see `general.call`
UNUSUAL = {}


def handles(*names):
    """Register the decorated function as a replacement of `general.call` for these names."""

    def decorate(handler):
        UNUSUAL.update(dict.fromkeys(names, handler))
        return handler

    return decorate
