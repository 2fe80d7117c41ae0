"""`mx.sym.np.linalg`: linear algebra on (stacks of) matrices in the last two axes, for symbols."""

from mxcy.symbol.numpy import register

__getattr__, __dir__ = register.offer(__name__, "linalg", "mxcy.numpy.linalg")
