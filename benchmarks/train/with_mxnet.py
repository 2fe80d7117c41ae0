"""MXNet 1.9.1 with oneDNN."""

import mxnet as mx

from benchmarks.train import with_gluon


class Gluon(with_gluon.Gluon):
    mx = mx


class Module(with_gluon.Module):
    mx = mx


class Chain(with_gluon.Chain):
    mx = mx
