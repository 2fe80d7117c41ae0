"""Updates that a kernel can do piece by piece, from an optimizer's step for all weights."""

import operator

import numpy as np

from mxcy._base.dtypes import CODES
from mxcy._library.pieces import STATES, FlatUpdate
from mxcy.kvstore.kernel_calls import kernel_of
from mxcy.optimizer.whole_steps import columns_of, takes_all

__all__ = ["FlatUpdates"]


class FlatUpdates:
    """The updates of some weights, of which one that is like the last one needs no preparation.

    Parameters
    ----------
    keys : list
    """

    def __init__(self, keys):
        self._keys = keys
        self._arguments = self._columns = self._terms = self._update = None

    def next(self, optimizer, weights, states):
        """The next update, which the optimizer counts.

        Parameters
        ----------
        optimizer : Optimizer
        weights : list of NDArray
            Of one dtype, and not of mixed precision.
        states : list
            Of each weight.

        Returns
        -------
        FlatUpdate or None
            None, and nothing is counted, if the optimizer has none.
        """
        if not takes_all(optimizer):
            return None
        arguments = (optimizer, *states)
        if self._arguments is None or not all(map(operator.is_, arguments, self._arguments)):
            self._arguments, self._terms = arguments, None
            self._columns = _columns(weights, states)
        if self._columns is None:
            return None
        step = optimizer._whole_step(self._keys, len(self._columns))
        if step is None:
            return None
        options = {**step.arguments, **optimizer._operator_arguments()}
        terms = step.name, step.rates, options
        if terms != self._terms:
            self._terms, self._update = terms, self._new(weights, *terms)
        return self._update

    def _new(self, weights, name, rates, options):
        rates = np.array(rates, "float32").astype("float64").T.copy()  # rounded as operators do
        array = (1,), weights[0].dtype_code
        arrays = [array] * (2 + len(self._columns))
        last = rates[0].shape, CODES["float64"]
        kernel, params = kernel_of(name.format(""), {**options, "num_weights": 1}, *arrays, last)
        memory = [[state.numpy_view().reshape(-1) for state in column] for column in self._columns]
        shares = [
            (weight.size, row, [column[i] for column in memory])
            for i, (weight, row) in enumerate(zip(weights, rates, strict=True))
        ]
        return FlatUpdate(kernel, params, shares)


def _columns(weights, states):
    """The states by kind; None for more of them or other types than a kernel takes here."""
    columns, code = columns_of(states), weights[0].dtype_code
    if columns is None or len(columns) > STATES:
        return None
    alike = all(state.dtype_code == code for column in columns for state in column)
    return columns if alike else None
