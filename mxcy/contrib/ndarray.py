"""`mx.contrib.nd`: the names of `mx.nd.contrib` under their oldest path."""

from mxcy.ndarray import contrib


def __getattr__(name):
    found = getattr(contrib, name, None)
    if found is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return found


def __dir__():
    return dir(contrib)
