"""Steps of training that change all weights in one call of an operator.

MXNet's optimizers hand at most `aggregate_num` weights to an operator, whose parameters have room
for 60. That number was never a promise: results are the same bits, whatever it is. So unless it was
asked for, all weights of a step go into one call, one operation of the engine.
"""

import numpy as np

from mxcy import ndarray as nd

__all__ = ["WholeStep", "step_all", "takes_all"]

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


def takes_all(optimizer):
    """Whether an optimizer's steps can be made for all weights at once.

    Parameters
    ----------
    optimizer : Optimizer

    Returns
    -------
    bool
        False where a number of weights was asked for, or where a class of the user's changes
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


def step_all(optimizer, indices, weights, grads, states):
    """Change weights of one type in one call.

    Parameters
    ----------
    optimizer : Optimizer
        One that `takes_all`.
    indices : list of int
    weights, grads : list of NDArray
        Of one element type and without sparse ones.
    states : list

    Returns
    -------
    bool
        False, and nothing has been done, where states are not those that the optimizer made.
    """
    if len(set(map(id, weights))) < len(weights):
        return False  # one after the other
    mixed = optimizer._has_master(weights[0])
    masters, inner = (), states
    if mixed:
        if not all(isinstance(state, tuple) and len(state) == 2 for state in states):
            return False
        masters, inner = map(list, zip(*map(optimizer._master_and_state, states), strict=True))
        masters = (masters,)
    kept = _columns(inner)
    if kept is None:
        return False
    whole = optimizer._whole_step(indices, len(kept))
    if whole is None:
        return False
    rates = nd.array(np.ravel(whole.rates), ctx=weights[0].context, dtype="float64")
    inputs = []
    for turn in zip(weights, grads, *kept, *masters, strict=True):
        inputs.extend(turn)
    getattr(nd._internal, whole.name.format("mp_" if mixed else ""))(
        *inputs,
        rates,
        out=weights,
        num_weights=len(weights),
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
