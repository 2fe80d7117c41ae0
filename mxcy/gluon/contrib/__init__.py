"""MXNet's `gluon.contrib`: layers, cells, samplers, and the estimator, which trains networks."""

from mxcy.gluon.contrib import data, estimator, nn, rnn

__all__ = ["data", "estimator", "nn", "rnn"]
