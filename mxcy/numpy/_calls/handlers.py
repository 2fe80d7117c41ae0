"""Who sees to the parameters of a function that its operator does not know."""

__all__ = ["UNUSUAL", "handles"]

#: public name -> ``handler(called, inputs, raw, out, keywords)``, as `general.call`
UNUSUAL = {}


def handles(*names):
    """Decorate what runs in place of `general.call` for functions of these names."""

    def decorate(handler):
        UNUSUAL.update(dict.fromkeys(names, handler))
        return handler

    return decorate
