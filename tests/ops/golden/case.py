"""An operator call whose results are compared with real MXNet's."""

from functools import reduce

import numpy as np


class Case:
    """An operator call, and the results to compare.

    Parameters
    ----------
    op : str
        The operator below ``mx.nd``, such as ``"linalg.gemm"``.
    *inputs : numpy.ndarray
    train : bool, optional
        Record the call in this mode; not recorded by default.
    wrt : tuple of int
        Inputs whose gradients are compared, for random output gradients.
    heads : bool
        Whether the outputs' gradients are drawn; ones otherwise.
    states : tuple of int
        Inputs that the call or its backward pass changes.
    outputs : int
        So many outputs take part in the backward pass.
    out : tuple of int
        Inputs that the call overwrites (``out=``).
    version : int
        The major version of MXNet that is followed.
    tol : float
        A factor on the test's tolerances, where MXNet computes less exactly.
    **attrs
    """

    def __init__(
        self,
        op,
        *inputs,
        train=None,
        wrt=(),
        heads=True,
        states=(),
        outputs=None,
        out=(),
        version=1,
        tol=1.0,
        **attrs,
    ):
        self.op, self.inputs, self.attrs = op, inputs, attrs
        self.train, self.wrt, self.heads = (True if wrt and train is None else train), wrt, heads
        self.states, self.outputs, self.out, self.version = states, outputs, out, version
        self.tol = tol

    def run(self, mx):
        """The outputs, gradients and states by name, with real MXNet or with mxcy."""
        arrays = [mx.nd.array(values, dtype=values.dtype) for values in self.inputs]
        for i in self.wrt:
            arrays[i].attach_grad()
        function, attrs = reduce(getattr, self.op.split("."), mx.nd), dict(self.attrs)
        if self.out:
            attrs["out"] = (
                [arrays[i] for i in self.out] if len(self.out) > 1 else arrays[self.out[0]]
            )
        if self.train is None:
            outs = function(*arrays, **attrs)
        else:
            with mx.autograd.record(train_mode=self.train):
                outs = function(*arrays, **attrs)
        outs = list(outs) if isinstance(outs, (list, tuple)) else [outs]
        if self.wrt:
            heads = outs[: self.outputs]
            rng = np.random.RandomState(7)
            grads = [mx.nd.array(rng.normal(size=y.shape), dtype=y.dtype) for y in heads]
            mx.autograd.backward(heads, grads if self.heads else None)
        actual = {f"out{i}": y.asnumpy() for i, y in enumerate(outs)}
        actual |= {f"grad{i}": arrays[i].grad.asnumpy() for i in self.wrt}
        return actual | {f"state{i}": arrays[i].asnumpy() for i in self.states}


def draw(*shape, low=-1.0, high=1.0, seed=0, dtype="float32"):
    """An array drawn evenly from [low, high)."""
    rng = np.random.RandomState(seed + 31 * len(shape) + sum(shape))
    return rng.uniform(low, high, shape).astype(dtype)


def normal(*shape, seed=0, dtype="float32"):
    """An array drawn from the standard normal distribution."""
    rng = np.random.RandomState(seed + 31 * len(shape) + sum(shape))
    return rng.normal(size=shape).astype(dtype)


def array(*values, dtype="float32"):
    """An array of given values."""
    return np.array(values, dtype)
