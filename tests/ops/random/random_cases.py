"""Cases for comparing random operators with real MXNet.

The test draws with mxcy, tests/data/make_random_golden.py with MXNet 1.9.1. For each seed an
operator is called several times, so that later calls continue the streams.
"""

import hashlib

import numpy as np

SEEDS = (0, 1, 2, 7, 42, 1234, 99999, 2**31 - 1, 2**31, -1)
KEPT = 4
SHAPES = ((1000,), (7,), (3, 50))
MANY_SEED, MANY = 5, ((70000,), (3,))  # enough for all 1024 states
FLOATS = ("float32", "float64", "float16")

#: distribution -> (parameters of the scalar form, parameter arrays of the row form)
DISTRIBUTIONS = {
    "uniform": ([{}, {"low": -2.7, "high": 9.1}], [[0.1, -5.0], [0.3, 8.0]]),
    "normal": ([{}, {"loc": 0.3, "scale": 2.7}], [[0.0, -5.0], [1.0, 8.0]]),
    "exponential": ([{"lam": 0.37}], [[1.0, 7.3]]),
    "gamma": ([{"alpha": 0.3, "beta": 2.5}, {"alpha": 9.1}], [[0.3, 2.0], [2.5, 0.7]]),
    "poisson": ([{"lam": 3.0}, {"lam": 33.3}], [[3.0, 33.3]]),
    "negative_binomial": ([{"k": 3, "p": 0.4}], [[3.0, 30.0], [0.4, 0.1]]),
    "generalized_negative_binomial": ([{"mu": 2.0, "alpha": 0.3}], [[2.0, 40.0], [0.3, 0.0]]),
}
#: in float64 the last bit of their samples is that of the C library's logarithm
LOGARITHMIC = ("normal", "exponential", "gamma")


class Case:
    """An operator with its inputs and attributes."""

    def __init__(self, operator, inputs=(), rounded=False, shapes=SHAPES, **attrs):
        self.operator, self.inputs, self.attrs = operator, inputs, attrs
        self.rounded, self.shapes = rounded, shapes

    @property
    def name(self):
        """What identifies the case."""
        inputs = [f"{v.dtype}{list(v.shape)}" for v in self.inputs]
        return " ".join([self.operator, *inputs, *(f"{k}={v}" for k, v in self.attrs.items())])

    def seeds(self):
        """(seed, shapes of the calls) pairs."""
        runs = [(seed, self.shapes) for seed in SEEDS]
        return runs + [(MANY_SEED, MANY)] if self.shapes is SHAPES else runs

    def draw(self, library, seed, shapes):
        """The outputs of all calls after seeding, as NumPy arrays."""
        library.random.seed(seed)
        arrays = [library.nd.array(values, dtype=values.dtype) for values in self.inputs]
        drawn = []
        for shape in shapes:
            given = self.attrs if shape is None else {**self.attrs, "shape": shape}
            actual = getattr(library.nd, self.operator)(*arrays, **given)
            drawn += [out.asnumpy() for out in (actual if isinstance(actual, list) else [actual])]
        return drawn

    def summary(self, drawn):
        """The first values, and a digest of all (rounded to float32 if the case says so)."""
        digest = hashlib.sha256()
        for values in drawn:
            digest.update((values.astype("float32") if self.rounded else values).tobytes())
        return {"first": drawn[0].ravel()[:KEPT].tolist(), "digest": digest.hexdigest()[:16]}


def cases():
    """All cases."""
    for name, (numbers, rows) in DISTRIBUTIONS.items():
        for dtype in FLOATS:
            rounded = dtype == "float64" and name in LOGARITHMIC
            for given in numbers:
                yield Case(f"random_{name}", rounded=rounded, dtype=dtype, **given)
            arrays = [np.array(row, dtype) for row in rows]
            yield Case(f"sample_{name}", arrays, rounded=rounded, dtype=dtype)
        yield Case(f"sample_{name}", [np.array(row, "float16") for row in rows])
    for low, high, dtype in ((-5, 10, "int32"), (0, 2**31 - 1, "int32"), (0, 2**40, "int64")):
        yield Case("random_randint", low=low, high=high, dtype=dtype)
    table = np.array([[0.1, 0.2, 0.3, 0.4], [0.7, 0.0, 0.2, 0.1]], "float32")
    for dtype in FLOATS:
        yield Case("sample_multinomial", [table.astype(dtype)], get_prob=True)
        yield Case("sample_multinomial", [table.astype(dtype)], dtype=dtype)
    for shape in ((1000,), (50, 3)):
        data = np.arange(np.prod(shape), dtype="float32").reshape(shape)
        yield Case("shuffle", [data], shapes=(None, None))
    for dtype in FLOATS:
        for axes in ((), (0,), (1,)):
            data = np.linspace(-1, 1, 3000).reshape(50, 60).astype(dtype)
            yield Case("Dropout", [data], shapes=(None, None), p=0.3, mode="always", axes=axes)
