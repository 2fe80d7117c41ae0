"""Squeeze-and-excitation of blocked arrays against float64."""

import numpy as np
import pytest

import mxcy as mx
from mxcy.base import MXNetError
from mxcy.ops.core.params import EXCITATION
from tests.ops.fused.fused_conv import ACTIVATIONS, BLOCK, from_blocked, to_blocked
from tests.ops.kernel_call import run_kernel

GATE = {"gate_alpha": 0.3, "gate_beta": 0.45}


class Problem:
    """An operator with random arrays; its channels are whole blocks."""

    def __init__(self, images, blocks, spatial, hidden, act="relu", hard=False):
        rng = np.random.default_rng(7)
        channels = blocks * BLOCK
        shapes = ((images, channels, *spatial), (hidden, channels), hidden, (channels, hidden))
        shapes += (channels,)
        self.arrays = [rng.uniform(-1, 1, shape).astype(np.float32) for shape in shapes]
        self.act, self.hard = act, hard
        self.attrs = {"hard": hard, "alpha": 0.25, "beta": 0.5, **GATE}
        self.extents = {"images": images, "blocks": blocks, "hidden": hidden}
        self.extents |= {"inner": int(np.prod(spatial)), "block": BLOCK}

    def inputs(self):
        """The inputs of the operator."""
        data, squeeze, squeeze_bias, excite, excite_bias = self.arrays
        rows = to_blocked(excite[None])[0]
        return [to_blocked(data), squeeze.T.copy(), squeeze_bias, rows, excite_bias]

    def run(self, threads=1, in_place=False):
        """The output as (N, C, spatial...)."""
        params = EXCITATION.pack(act=ACTIVATIONS[self.act][0], **self.attrs, **self.extents)
        inputs = self.inputs()
        out = inputs[0] if in_place else np.full_like(inputs[0], np.nan)
        run_kernel("blocked_excitation", inputs, [out], params, threads=threads)
        return from_blocked(out)

    def answer(self):
        """The output in float64."""
        data, squeeze, squeeze_bias, excite, excite_bias = (x.astype(float) for x in self.arrays)
        means = data.reshape(*data.shape[:2], -1).mean(2)
        hidden = ACTIVATIONS[self.act][1](means @ squeeze.T + squeeze_bias)
        gates = hidden @ excite.T + excite_bias
        if self.hard:
            gates = np.clip(GATE["gate_alpha"] * gates + GATE["gate_beta"], 0, 1)
        else:
            gates = 1 / (1 + np.exp(-gates))
        return data * gates.reshape(*gates.shape, *[1] * (data.ndim - 2))


@pytest.mark.parametrize("hard", [False, True])
@pytest.mark.parametrize(
    "images, blocks, spatial, hidden",
    [
        (1, 1, (1, 1), 1),
        (1, 5, (7, 7), 3),
        (2, 16, (3, 5), 8),
        (1, 17, (4, 4), 37),
        (3, 33, (2, 3, 3), 16),
        (5, 3, (6,), 66),
        (1, 60, (7, 7), 240),
    ],
)
def test_results_do_not_depend_on_threads(images, blocks, spatial, hidden, hard):
    problem = Problem(images, blocks, spatial, hidden, hard=hard)
    out = problem.run()
    np.testing.assert_allclose(out, problem.answer(), rtol=2e-5, atol=1e-6)
    for threads in (2, 3):
        np.testing.assert_array_equal(problem.run(threads), out)
    np.testing.assert_array_equal(problem.run(2, in_place=True), out)


@pytest.mark.parametrize("act", ACTIVATIONS)
def test_activations_of_hidden_units(act):
    problem = Problem(2, 3, (5, 4), 19, act)
    np.testing.assert_allclose(problem.run(2), problem.answer(), rtol=2e-5, atol=1e-6)


def test_operator():
    problem = Problem(2, 4, (6, 6), 10, "leaky", hard=True)
    arrays = [mx.nd.array(x) for x in problem.inputs()]
    out = mx.nd._internal._blocked_excitation(*arrays, act="leaky", **problem.attrs).asnumpy()
    np.testing.assert_allclose(from_blocked(out), problem.answer(), rtol=2e-5, atol=1e-6)


def test_shapes_that_do_not_fit_are_refused():
    arrays = [mx.nd.array(x) for x in Problem(1, 2, (3, 3), 4).inputs()]
    arrays[4] = mx.nd.ones(BLOCK)
    with pytest.raises(MXNetError, match="_blocked_excitation.*excite_bias"):
        mx.nd._internal._blocked_excitation(*arrays)
