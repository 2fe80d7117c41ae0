"""`mx.nd.linalg`: linear algebra."""

from mxcy.ndarray import namespaces

__getattr__, __dir__ = namespaces.offer(__name__, "linalg")
