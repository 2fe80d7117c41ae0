"""`mx.np.linalg`: linear algebra on (stacks of) matrices in the last two axes."""

from mxcy.numpy import register
from mxcy.numpy.factors import *  # noqa: F403
from mxcy.numpy.norms import *  # noqa: F403
from mxcy.numpy.products import outer, tensordot  # noqa: F401

__getattr__, __dir__ = register.offer(__name__, "linalg")
