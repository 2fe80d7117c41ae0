"""Structs of random draws and densities: ``kernels/params/random.gen.h``."""

from functools import partial

from mxcy.ops.core.struct_layout import Params

_struct = partial(Params, "random")

# Random kernels read the doubles of these by position.
RANDOM = {
    name: _struct(
        f"random_{name}",
        f"one set of parameters for all {name} samples",
        **dict.fromkeys(fields, "f64"),
    )
    for name, fields in {
        "uniform": ("low", "high"),
        "normal": ("loc", "scale"),
        "exponential": ("lam",),
        "gamma": ("alpha", "beta"),
        "poisson": ("lam",),
        "binomial": ("n", "p"),
        "negative_binomial": ("k", "p"),
        "generalized_negative_binomial": ("mu", "alpha"),
    }.items()
}
NUMPY_RANDOM = _struct(
    "numpy_random",
    "the two parameters of samples of mx.np.random; bits of `arrays` tell which are inputs instead",
    first="f64", second="f64", arrays="i32",
)
NUMPY_CHOICE = _struct(
    "numpy_choice",
    "how many numbers there are, whether one may come twice, and the words to pass over",
    n="i64", replace="i32", spare="i64",
)
RANDINT = _struct("randint", "the bounds of uniform integers", low="i64", high="i64")
DROPOUT = _struct("dropout", "the probability of a zero; 0 copies", p="f64")
DENSITY = _struct(
    "density", "probability densities of `length` samples for each of some distributions",
    distributions="i64", length="i64", is_log="i32",
)
HAWKES = _struct(
    "hawkes", "sequences of up to `steps` events with marks",
    rows="i64", kinds="i64", steps="i64",
)
