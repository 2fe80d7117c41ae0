"""`mx.nd.image`: operators on images."""

from mxcy.ndarray import namespaces

__getattr__, __dir__ = namespaces.offer(__name__, "image")
