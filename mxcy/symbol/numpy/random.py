"""`mx.sym.np.random`: random arrays for symbols, with numbers or symbols as parameters."""

from mxcy.numpy._calls.general import operate
from mxcy.symbol.numpy import register

__all__ = ["shuffle"]

__getattr__, __dir__ = register.offer(__name__, "random", "mxcy.numpy.random")


def shuffle(x):
    """Shuffle an array along its first axis.

    Parameters
    ----------
    x : Symbol

    Returns
    -------
    Symbol
    """
    return operate("_shuffle", x)
