"""Steps of training that change all weights in one call of an operator.

MXNet's optimizers hand at most `aggregate_num` weights to an operator, whose parameters have room
for 60. That number was never a promise: results are the same bits, whatever it is. So unless it was
asked for, all weights of a step go into one call, one operation of the engine.
"""

import operator

import numpy as np

from mxcy import ndarray as nd

__all__ = ["Together", "WholeStep", "momentum_step", "takes_all"]

#: what users' classes may do otherwise; then their weights are handed to them as MXNet does
_OVERRIDABLE = ("update", "update_multi_precision", "step", "fused_step", "_apply", "_update_some")


class WholeStep:
    """The operator of a step, and what it is told.

    Parameters
    ----------
    name : str
        The operator's, with ``{}`` where the multi-precision form has ``mp_``.
    states : int
        How many states a weight has; 0: None instead of a tuple, 1: an array.
    rates : list of list of float
        Learning rates, decays and the like, each for all weights.
    **arguments
        Attributes of the operator.
    """

    def __init__(self, name, states, rates, **arguments):
        self.name, self.states, self.rates, self.arguments = name, states, rates, arguments


def momentum_step(optimizer, indices, states, name):
    """The step of gradient descent for all weights: plain, or with a momentum as the one state.

    Parameters
    ----------
    optimizer : Optimizer
        Has a `momentum`.
    indices : list
        Of the weights, whose counts grow.
    states : int
        How many states a weight has.
    name : str
        The operator's with a momentum, as `WholeStep` takes it.

    Returns
    -------
    WholeStep or None
        None where no operator has so many states.
    """
    if states > 1:
        return None
    optimizer._update_count(indices)
    rates = [optimizer._get_lrs(indices), optimizer._get_wds(indices)]
    if not states:
        return WholeStep("_{}sgd_all", 0, rates)
    return WholeStep(name, 1, rates, momentum=optimizer.momentum)


def takes_all(optimizer):
    """Whether an optimizer's steps can be made for all weights at once.

    Parameters
    ----------
    optimizer : Optimizer

    Returns
    -------
    bool
        False where a number of weights was requested, or where a class of the user's changes
        weights in its own way.
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
    """Weights of one type that change in one call, and the inputs of that call.

    A program hands in the same arrays at each step, so what was found out about them stays true.

    Parameters
    ----------
    optimizer : Optimizer
        One that `takes_all`.
    indices : list of int
    weights, grads : list of NDArray
        Of one element type and without sparse ones.
    states : list
    """

    def __init__(self, optimizer, indices, weights, grads, states):
        self._optimizer, self._mixed = optimizer, optimizer._has_master(weights[0])
        self._indices, self._weights = indices, weights
        self._arrays = (weights, grads, states)
        self._rates = self._given_rates = None
        columns = self._state_columns(states)
        if len(set(map(id, weights))) < len(weights):
            columns = None  # one after the other
        self._inputs = None
        if columns is not None:
            self._kinds = len(columns) - self._mixed
            turns = zip(weights, grads, *columns, strict=True)
            self._inputs = [array for turn in turns for array in turn]

    def _state_columns(self, states):
        """The states by kind, at the end the masters of mixed precision; None: odd ones."""
        if not self._mixed:
            return _columns(states)
        if not all(isinstance(state, tuple) and len(state) == 2 for state in states):
            return None
        pairs = map(self._optimizer._master_and_state, states)
        masters, inner = map(list, zip(*pairs, strict=True))
        columns = _columns(inner)
        return None if columns is None else (*columns, masters)

    def is_for(self, optimizer, indices, *arrays):
        """Whether these are the very same arrays as last time, in the same order."""
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
        """Change the weights.

        Returns
        -------
        bool
            False, and nothing has been done, where states are not those that the optimizer made.
        """
        if self._inputs is None:
            return False
        optimizer = self._optimizer
        whole = optimizer._whole_step(self._indices, self._kinds)
        if whole is None:
            return False
        if whole.rates != self._given_rates:
            context = self._weights[0].context
            rates = np.ravel(whole.rates).astype("float32")  # as single weights' steps round them
            self._rates = nd.array(rates, ctx=context, dtype="float64")
            self._given_rates = whole.rates
        getattr(nd._internal, whole.name.format("mp_" if self._mixed else ""))(
            *self._inputs,
            self._rates,
            out=self._weights,
            num_weights=len(self._weights),
            **whole.arguments,
            **optimizer._operator_arguments(),
        )
        return True


def _columns(states):
    """The states by kind: none, one list, or a list for each element of their tuples.

    None where weights have different ones.
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
