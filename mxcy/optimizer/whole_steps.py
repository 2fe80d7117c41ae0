"""Training steps that update all weights in one operator call.

MXNet's optimizers pass at most `aggregate_num` weights to an operator, which is limited to 60. The
number does not affect results, not even in the last bit. Unless it was requested, all weights of a
step therefore go into one call, which is one operation of the engine.
"""

import operator

import numpy as np

from mxcy import ndarray as nd

__all__ = ["Together", "WholeStep", "columns_of", "momentum_step", "takes_all"]

#: methods that, if a user's class overrides them, require MXNet's calling sequence
_OVERRIDABLE = ("update", "update_multi_precision", "step", "fused_step", "_apply", "_update_some")


class WholeStep:
    """The operator of a step, and its arguments.

    Parameters
    ----------
    name : str
        Name of the operator, with ``{}`` in place of the multi-precision prefix ``mp_``.
    states : int
        Number of states per weight; 0: None instead of a tuple, 1: an array.
    rates : list of list of float
        Learning rates, decays etc., each for all weights.
    **arguments
        Attributes of the operator.
    """

    def __init__(self, name, states, rates, **arguments):
        self.name, self.states, self.rates, self.arguments = name, states, rates, arguments


def momentum_step(optimizer, indices, states, name):
    """Count an update and return the step of (momentum) gradient descent for all weights.

    Parameters
    ----------
    optimizer : Optimizer
        Optimizer with attribute `momentum`.
    indices : list
        Indices of the weights, whose counts are incremented.
    states : int
        Number of states per weight.
    name : str
        Name of the operator with momentum, see `WholeStep`.

    Returns
    -------
    WholeStep or None
        None if no operator has this number of states.
    """
    if states > 1:
        return None
    optimizer._update_count(indices)
    rates = [optimizer._get_lrs(indices), optimizer._get_wds(indices)]
    if not states:
        return WholeStep("_{}sgd_all", 0, rates)
    return WholeStep(name, 1, rates, momentum=optimizer.momentum)


def takes_all(optimizer):
    """Return whether an optimizer can update all weights in one call.

    Parameters
    ----------
    optimizer : Optimizer

    Returns
    -------
    bool
        False if `aggregate_num` was requested, or if a user's class overrides the update.
    """
    if optimizer.aggregates_as_asked:
        return False
    kind = type(optimizer)
    owner = next((k for k in kind.__mro__ if "_whole_step" in vars(k)), None)
    if owner is None or owner is kind.__mro__[-2]:
        return False
    own = vars(optimizer)
    return all(
        getattr(kind, name) is getattr(owner, name) and name not in own for name in _OVERRIDABLE
    )


class Together:
    """Weights of one dtype that are updated in one call, with that call's inputs.

    Training passes the same arrays at each step, so the prepared inputs can be reused.

    Parameters
    ----------
    optimizer : Optimizer
        Optimizer for which `takes_all` is true.
    indices : list of int
    weights, grads : list of NDArray
        Dense arrays of the same dtype.
    states : list
    """

    def __init__(self, optimizer, indices, weights, grads, states):
        self._optimizer, self._mixed = optimizer, optimizer._has_master(weights[0])
        self._indices, self._weights = indices, weights
        self._arrays = (weights, grads, states)
        self._rates = self._given_rates = None
        columns = self._state_columns(states)
        if len(set(map(id, weights))) < len(weights):
            columns = None  # update the weights separately
        self._inputs = None
        if columns is not None:
            self._kinds = len(columns) - self._mixed
            by_weight = zip(weights, grads, *columns, strict=True)
            self._inputs = [array for arrays in by_weight for array in arrays]

    def _state_columns(self, states):
        """The states by kind, with float32 master weights last; None for inconsistent ones."""
        if not self._mixed:
            return columns_of(states)
        if not all(isinstance(state, tuple) and len(state) == 2 for state in states):
            return None
        pairs = map(self._optimizer._master_and_state, states)
        masters, inner = map(list, zip(*pairs, strict=True))
        columns = columns_of(inner)
        return None if columns is None else (*columns, masters)

    def is_for(self, optimizer, indices, *arrays):
        """Whether the arrays are identical to those of the last step, in the same order."""
        return (
            optimizer is self._optimizer
            and indices == self._indices
            and optimizer._has_master(self._weights[0]) == self._mixed
            and all(
                len(new) == len(old) and all(map(operator.is_, new, old))
                for new, old in zip(arrays, self._arrays, strict=True)
            )
        )

    def step(self):
        """Update the weights.

        Returns
        -------
        bool
            False, without any update, if the states were not created by the optimizer.
        """
        if self._inputs is None:
            return False
        optimizer = self._optimizer
        prepared = optimizer._whole_step(self._indices, self._kinds)
        if prepared is None:
            return False
        if prepared.rates != self._given_rates:
            context = self._weights[0].context
            rates = np.ravel(prepared.rates).astype("float32")  # rounded as for single weights
            self._rates = nd.array(rates, ctx=context, dtype="float64")
            self._given_rates = prepared.rates
        getattr(nd._internal, prepared.name.format("mp_" if self._mixed else ""))(
            *self._inputs,
            self._rates,
            out=self._weights,
            num_weights=len(self._weights),
            **prepared.arguments,
            **optimizer._operator_arguments(),
        )
        return True


def columns_of(states):
    """The states by kind: none, one list, or one list per element of their tuples.

    None if the weights' states differ in structure.
    """
    kinds = {len(state) if isinstance(state, tuple) else state is not None for state in states}
    if len(kinds) != 1:
        return None
    if states[0] is None:
        return ()
    parts = zip(*states, strict=True) if isinstance(states[0], tuple) else (states,)
    columns = tuple(map(list, parts))
    plain = all(isinstance(array, nd.NDArray) for column in columns for array in column)
    return columns if plain and all(a.stype == "default" for c in columns for a in c) else None
