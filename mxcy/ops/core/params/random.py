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
    "two parameters of a distribution of mx.np.random; arrays: bit mask of those that are inputs "
    "instead",
    first="f64", second="f64", arrays="i32",
)
NUMPY_CHOICE = _struct(
    "numpy_choice",
    "size of the population, whether to draw with replacement, and how many random words to skip",
    n="i64", replace="i32", spare="i64",
)
RANDINT = _struct("randint", "bounds of uniform integers", low="i64", high="i64")
DROPOUT = _struct("dropout", "probability of a zero; 0 copies", p="f64")
DENSITY = _struct(
    "density", "probability densities of `length` samples per distribution",
    distributions="i64", length="i64", is_log="i32",
)
HAWKES = _struct(
    "hawkes", "Hawkes processes: sequences of up to `steps` events with marks of `kinds` types",
    rows="i64", kinds="i64", steps="i64",
)
