"""Functions that a front has in C for usual arguments: this one has none."""

__all__ = ["shortcut"]


def shortcut(plain, cls=None, op=None):
    """Decorate a function or method that another front has in C for usual arguments."""
    return plain
