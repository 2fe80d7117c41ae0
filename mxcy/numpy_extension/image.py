"""`mx.npx.image`: operators on images."""

from mxcy.numpy import register

__getattr__, __dir__ = register.offer(__name__, "npx.image")
