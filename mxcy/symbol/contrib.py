"""`mx.sym.contrib`: non-core operators and control flow for symbols."""

import math

from mxcy.ndarray._contrib.updates import step_of_one
from mxcy.symbol import namespaces
from mxcy.symbol.control import cond, foreach, while_loop
from mxcy.symbol.creation import full
from mxcy.symbol.random import uniform
from mxcy.symbol.register import F
from mxcy.symbol.symbol import Symbol

__all__ = ["adamw_update", "cond", "foreach", "mp_adamw_update", "rand_zipfian", "while_loop"]

__getattr__, __dir__ = namespaces.offer(__name__, "contrib")


def _as_factor(rescale_grad, weight):
    """Convert the gradient factor to a symbol."""
    if isinstance(rescale_grad, Symbol):
        return rescale_grad
    return full(shape=(1,), val=rescale_grad)


adamw_update = step_of_one(
    __name__,
    F,
    _as_factor,
    "adamw_update",
    "One step of AdamW: Adam with decoupled weight decay.",
    "Symbol",
)
mp_adamw_update = step_of_one(
    __name__,
    F,
    _as_factor,
    "mp_adamw_update",
    "One step of `adamw_update` for a weight in half precision.",
    "Symbol",
)


def rand_zipfian(true_classes, num_sampled, range_max):
    """Draw classes from an approximately log-uniform (Zipfian) distribution.

    Class c, of `range_max`, has the probability ``log((c + 2) / (c + 1)) / log(range_max + 1)``.

    Parameters
    ----------
    true_classes : Symbol
        Classes whose expected counts are returned as well.
    num_sampled : int
        Number of classes to draw, with replacement.
    range_max : int
        The number of classes.

    Returns
    -------
    samples : Symbol
        int64, shape (num_sampled,).
    expected_count_true, expected_count_sampled : Symbol
        Expected counts of the true and the drawn classes, float64.
    """
    assert isinstance(true_classes, Symbol), f"unexpected type {type(true_classes)}"
    log_range = math.log(range_max + 1)

    def expected(classes):
        probability = ((classes + 2.0) / (classes + 1.0)).log() / log_range
        return probability * num_sampled

    drawn = uniform(0, log_range, shape=(num_sampled,), dtype="float64")
    samples = (drawn.exp() - 1).astype("int64") % range_max
    return samples, expected(true_classes.astype("float64")), expected(samples.astype("float64"))
