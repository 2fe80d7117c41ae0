"""`mx.nd.np._internal`: the operators of `mx.np` under their registered names, without prefix."""

from importlib import import_module


def _offered():
    return import_module("mxcy.numpy._internal")  # lazily: it imports this package


def __getattr__(name):
    return getattr(_offered(), name)


def __dir__():
    return dir(_offered())
