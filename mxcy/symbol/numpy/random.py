"""`mx.sym.np.random`: random arrays over symbols: parameters are numbers or symbols."""

from mxcy.numpy._calls.general import operate
from mxcy.symbol.numpy import register

__all__ = ["shuffle"]

__getattr__, __dir__ = register.offer(__name__, "random", "mxcy.numpy.random")


def shuffle(x):
    """An array shuffled along its first axis.

    Parameters
    ----------
    x : Symbol

    Returns
    -------
    Symbol
    """
    return operate("_shuffle", x)
