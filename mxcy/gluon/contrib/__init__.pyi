"""MXNet's `gluon.contrib`: layers, cells, samplers, and the training estimator."""

# Written by `python -m tools.stubs --write`.

from mxcy.gluon.contrib import (
    cnn as cnn, data as data, estimator as estimator, nn as nn, rnn as rnn,
)
