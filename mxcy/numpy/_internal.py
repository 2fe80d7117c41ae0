"""`mx.nd.np._internal`: the operators of `mx.np` under their registered names, unprefixed."""

from mxcy.numpy import register

__getattr__, __dir__ = register.offer(__name__, "_internal")
