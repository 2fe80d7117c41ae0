"""The operators of `mx.np` under their registered names, without prefix: `mx.nd.np._internal`."""

from mxcy.numpy import register

__getattr__, __dir__ = register.offer(__name__, "_internal")
