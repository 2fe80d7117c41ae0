"""Helpers for optimizer states and for the inputs of multi-weight operators."""

import logging

from mxcy import ndarray as nd

__all__ = ["in_turns", "lazy_stype", "warn_of_lazy_updates", "zeros_like"]


def in_turns(*lists):
    """Interleave lists, as multi-weight operators expect their inputs."""
    return [array for turn in zip(*lists, strict=True) for array in turn]


def zeros_like(weight, dtype=None, stype="default"):
    """Zeros with a weight's shape and context (and dtype), as initial state."""
    return nd.zeros(weight.shape, weight.context, dtype=dtype or weight.dtype, stype=stype)


def lazy_stype(weight, lazy):
    """Storage type of a weight's state, given whether updates are lazy."""
    return weight.stype if lazy else "default"


_warned: set = set()


def warn_of_lazy_updates(optimizer):
    """Log once that rows without gradient are skipped, which changes the results of training."""
    name = type(optimizer).__name__
    if name not in _warned:
        _warned.add(name)
        logging.getLogger("mxcy").info(
            "%s updates only the rows that row_sparse gradients have: momentum and weight decay of "
            "others wait. lazy_update=False updates all rows.",
            name,
        )
