"""Likelihood of marked Hawkes processes, self-exciting point processes.

An event with mark k increases the intensity of that mark by ``alpha[k] beta[k]``, decaying as
``exp(-beta[k] t)``.
"""

from mxcy._base import dtypes
from mxcy.ops.core.infer import Spec, same_dtype
from mxcy.ops.core.params import HAWKES
from mxcy.ops.core.record import native, no_rule, op, sample, values

__all__ = []

_INPUTS = "lda alpha beta state lags marks valid_length max_time"


def _infer(a, lda, alpha, beta, state, lags, marks, valid_length, max_time):
    floats = (lda, alpha, beta, state, lags, valid_length, max_time)
    names = ("lda", "alpha", "beta", "state", "lags", "valid_length", "max_time")
    dtype = same_dtype(floats, names)
    rows = next((s.shape[0] for s in (lda, state, lags, marks) if s.shape), -1)
    kinds = next((s.shape[-1] for s in (lda, state, alpha, beta) if s.shape), -1)
    steps = next((s.shape[-1] for s in (lags, marks) if s.shape), -1)
    for spec, name in ((lda, "lda"), (state, "state")):
        spec.fill(name, (rows, kinds))
    for spec, name in ((alpha, "alpha"), (beta, "beta")):
        spec.fill(name, (kinds,))
    for spec, name in ((lags, "lags"), (marks, "marks")):
        spec.fill(name, (rows, steps))
    for spec, name in ((valid_length, "valid_length"), (max_time, "max_time")):
        spec.fill(name, (rows,))
    return Spec((rows,), dtype), Spec((rows, kinds), dtype)


def _kernel(name, first):
    """Return a native kernel whose input `first` is `lda`."""

    def params(a, ins, outs):
        rows, steps = ins[first + 4].shape
        return {"rows": rows, "kinds": ins[first].shape[1], "steps": steps}

    def when(a, ins, outs):
        marks = ins[first + 5]
        return None if marks.dtype == dtypes.code_of("int32") else "marks are not int32"

    def work(a, ins, outs):
        return 32 * (ins[first].size + ins[first + 4].size)

    return (native(name, HAWKES, params, when=when, work=work, mixed=True),)


def _samples(*head):
    """Return samples of two and of many sequences; `head` are the leading inputs."""
    for n, steps, kinds in ((2, 4, 3), (9, 30, 5)):
        yield sample(
            *(shape(n) for shape in head),
            values(0.5, 1.5, (n, kinds)),
            values(0.2, 0.6, (kinds,)),
            values(0.5, 2, (kinds,)),
            values(0, 1, (n, kinds)),
            values(0.1, 1, (n, steps)),
            values(0, kinds, (n, steps), "int32"),
            lambda rng, n=n, steps=steps: rng.integers(steps // 2, steps + 1, n).astype(float),
            values(steps + 1, steps + 2, (n,)),
            tol=10,
            grad=False,
        )


class _Walk:
    """Iteration over events; each step takes one event of every sequence.

    Attributes
    ----------
    state : array
        Contribution of past events to each mark's intensity, in units of alpha beta.
    since : array
        Time of each mark's last event.
    """

    def __init__(self, xp, state, lags, marks, valid_length):
        self.xp, self.state, self.since = xp, state.copy(), xp.zeros_like(state)
        self.lags, self.marks = lags, marks.astype("int64")
        self.steps = int(valid_length.max()) if len(valid_length) else 0
        self.valid_length, self.rows = valid_length, xp.arange(len(state))

    def events(self):
        """Yield (sequences, marks, time since the mark's last event) for each step."""
        now = self.xp.zeros(len(self.rows), self.state.dtype)
        for step in range(min(self.steps, self.lags.shape[1])):
            rows = self.rows[self.valid_length > step]
            now[rows] += self.lags[rows, step]
            marks = self.marks[rows, step]
            yield rows, marks, now[rows] - self.since[rows, marks]
            self.since[rows, marks] = now[rows]


@op("_contrib_hawkesll", inputs=_INPUTS, outputs="output out_state", amp="fp32")
class HawkesLogLikelihood:
    """Compute the log-likelihood of event sequences under a marked Hawkes process.

    Parameters
    ----------
    lda : NDArray
        Background intensities, shape (n, k) for n sequences and k marks.
    alpha, beta : NDArray
        Infectivity and decay rate of each mark, shape (k,).
    state : NDArray
        Initial states, shape (n, k).
    lags, marks : NDArray
        Interarrival times and int32 marks of the events, shape (n, t).
    valid_length : NDArray
        Number of events per sequence, shape (n,).
    max_time : NDArray
        Length of the observation interval per sequence, shape (n,).

    Returns
    -------
    list of NDArray
        Log-likelihoods, shape (n,), and final states, shape (n, k). Gradients flow from the first
        to `lda`, `alpha` and `beta`.
    """

    samples = tuple(_samples())
    kernels = _kernel("hawkesll", 0)
    infer = _infer

    def grad(a, F, g, inputs):
        gradients = F._hawkesll_grad(g[0], *inputs)
        return (*gradients, None, None, None, None, None)

    def ref(a, xp, lda, alpha, beta, state, lags, marks, valid_length, max_time):
        walk = _Walk(xp, state, lags, marks, valid_length)
        out = xp.zeros_like(lda[:, 0])
        for rows, marked, passed in walk.events():
            left = walk.state[rows, marked] * xp.exp(-beta[marked] * passed)
            gone = walk.state[rows, marked] - left
            rate = lda[rows, marked] + alpha[marked] * beta[marked] * left
            out[rows] += xp.log(rate) - lda[rows, marked] * passed - alpha[marked] * gone
            walk.state[rows, marked] = 1 + left
        passed = max_time[:, None] - walk.since
        left = walk.state * xp.exp(-beta * passed)
        out -= (lda * passed + alpha * (walk.state - left)).sum(1)
        return out, left


@op("_hawkesll_grad", inputs=f"grad {_INPUTS}", outputs="output0 output1 output2")
class HawkesGradient:
    """Gradients of `_contrib_hawkesll` with respect to `lda`, `alpha` and `beta`."""

    grad = no_rule
    samples = tuple(_samples(lambda n: (n,)))
    kernels = _kernel("hawkesll_grad", 1)

    def infer(a, grad, lda, alpha, beta, *others):
        out, _ = _infer(a, lda, alpha, beta, *others)
        grad.fill("grad", out.shape, out.dtype)
        return [Spec(spec.shape, spec.dtype) for spec in (lda, alpha, beta)]

    def ref(a, xp, grad, lda, alpha, beta, state, lags, marks, valid_length, max_time):
        walk = _Walk(xp, state, lags, marks, valid_length)
        by_lda, by_alpha, by_beta = (xp.zeros_like(lda) for _ in range(3))
        slope = xp.zeros_like(state)  # derivative of the state with respect to beta
        for rows, marked, passed in walk.events():
            at, strength, decay = (rows, marked), alpha[marked], beta[marked]
            factor = xp.exp(-decay * passed)
            left = walk.state[at] * factor
            left_slope = (slope[at] - passed * walk.state[at]) * factor
            rate = lda[at] + strength * decay * left
            by_lda[at] += 1 / rate - passed
            by_alpha[at] += decay * left / rate - (walk.state[at] - left)
            by_beta[at] += strength * (left + decay * left_slope) / rate
            by_beta[at] -= strength * (slope[at] - left_slope)
            walk.state[at], slope[at] = 1 + left, left_slope
        passed = max_time[:, None] - walk.since
        factor = xp.exp(-beta * passed)
        by_lda -= passed
        by_alpha -= walk.state * (1 - factor)
        by_beta -= alpha * (slope - (slope - passed * walk.state) * factor)
        weight = grad[:, None]
        return weight * by_lda, (weight * by_alpha).sum(0), (weight * by_beta).sum(0)
