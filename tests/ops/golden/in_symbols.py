"""Calls of operators that MXNet has in symbols only, because of their states."""

import numpy as np

from .case import Case, draw, normal


class InSymbol(Case):
    """A symbol of one operator; its states are the last inputs, which `states` names."""

    def run(self, mx):
        """The outputs, gradients and states by name."""
        arrays = [mx.nd.array(values) for values in self.inputs]
        grads = {i: mx.nd.zeros(arrays[i].shape) for i in self.wrt}
        symbol = getattr(mx.sym, self.op)(mx.sym.var("data"), name="one", **self.attrs)
        names = symbol.list_arguments()
        executor = symbol.bind(
            mx.cpu(),
            arrays[: len(names)],
            aux_states=arrays[len(names) :],
            args_grad={names[i]: grad for i, grad in grads.items()},
        )
        (out,) = executor.forward(is_train=self.train)
        actual = {"out0": out.asnumpy()}
        if self.train:
            rng = np.random.RandomState(7)
            executor.backward(mx.nd.array(rng.normal(size=out.shape)))
        actual |= {f"grad{i}": grad.asnumpy() for i, grad in grads.items()}
        return actual | {f"state{i}": arrays[i].asnumpy() for i in self.states}


def normalised():
    inputs = normal(4, 3, 2, 2), draw(3, low=0.5, high=2), normal(3, seed=3)
    states = normal(3, seed=4), draw(3, low=0.5, high=2, seed=4)
    for name, more in (
        ("learned", {"fix_gamma": False}),
        ("fixed", {}),
        ("momentum", {"momentum": 0.5}),
    ):
        trained = InSymbol("BatchNorm_v1", *inputs, *states, wrt=(0, 1, 2), states=(3, 4), **more)
        yield name, trained
        yield f"{name}-predict", InSymbol("BatchNorm_v1", *inputs, *states, train=False, **more)


def sparse():
    keywords = {"sparseness_target": 0.2, "penalty": 0.01, "momentum": 0.7}
    inputs = draw(5, 4, low=0.1, high=0.9), draw(4, low=0.2, high=0.8, seed=1)
    yield (
        "attached",
        InSymbol("IdentityAttachKLSparseReg", *inputs, wrt=(0,), states=(1,), **keywords),
    )


FAMILY = (normalised, sparse)
