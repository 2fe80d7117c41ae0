"""MXNet's `gluon.contrib`: layers, cells, samplers, and the estimator, which trains networks."""

from mxcy.gluon.contrib import cnn, data, estimator, nn, rnn

__all__ = ["cnn", "data", "estimator", "nn", "rnn"]
