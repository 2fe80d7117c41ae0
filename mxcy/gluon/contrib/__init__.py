"""MXNet's `gluon.contrib`: layers, cells, samplers, and the training estimator."""

from mxcy._base.listing import listing
from mxcy.gluon.contrib import cnn, data, estimator, nn, rnn

__all__ = ["cnn", "data", "estimator", "nn", "rnn"]

__dir__ = listing(__name__)
