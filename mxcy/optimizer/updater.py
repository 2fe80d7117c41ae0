"""Updaters: an optimizer together with the state of every weight."""

import pickle

from mxcy.ndarray import NDArray
from mxcy.optimizer import state_files
from mxcy.optimizer.whole_steps import Together, takes_all

__all__ = ["Updater", "get_updater"]


class Updater:
    """Callable ``updater(index, grad, weight)`` around an optimizer.

    Parameters
    ----------
    optimizer : Optimizer
        The optimizer.

    Attributes
    ----------
    states : dict of int to any
        State of each weight.
    states_synced : dict of int to bool
        Whether a state is on its weight's context (false after `set_states`).
    aggregate_updates : bool
        Whether several weights of one dtype are passed to the optimizer together.
    """

    def __init__(self, optimizer):
        self.optimizer = optimizer
        self.states = {}
        self.states_synced = {}
        self.aggregate_updates = optimizer.aggregate_num > 0
        self._together = None  # the last step, if it updated all weights in one call

    def __call__(self, index, grad, weight):
        """Update one weight or several.

        Parameters
        ----------
        index : int, str, bytes or list
            Index of the weight.
        grad : NDArray or list of NDArray
            The gradient.
        weight : NDArray or list of NDArray
            Updated in place.
        """
        if not isinstance(index, (list, tuple)):
            index, grad, weight = [index], [grad], [weight]
        index = [i.decode() if isinstance(i, bytes) else i for i in index]
        if weight:
            self.optimizer._set_current_context(weight[0].context.device_id)
        if self._repeat(index, grad, weight):
            return
        for i, w in zip(index, weight, strict=True):
            self._prepare_state(i, w)
        if len(index) > 1 and takes_all(self.optimizer):
            self._update_together(index, grad, weight, whole=True)
        elif self.aggregate_updates and len(index) > 1:
            self._update_together(index, grad, weight)
        else:
            for i, g, w in zip(index, grad, weight, strict=True):
                self.optimizer.update_multi_precision(i, w, g, self.states[i])

    def _repeat(self, index, grad, weight):
        """Repeat the last step if the arguments are unchanged; return whether they were."""
        together = self._together
        return (
            together is not None
            and together.is_for(
                self.optimizer, index, weight, grad, list(map(self.states.get, index))
            )
            and takes_all(self.optimizer)
            and together.step()
        )

    def _prepare_state(self, index, weight):
        if index not in self.states:
            self.states[index] = self.optimizer.create_state_multi_precision(index, weight)
        elif not self.states_synced[index]:
            self.states[index] = self.sync_state_context(self.states[index], weight.context)
        self.states_synced[index] = True

    def _update_together(self, index, grad, weight, whole=False):
        """Pass weights to the optimizer grouped by dtype; `whole`: all of a group in one call."""
        by_type = {}
        for i, g, w in zip(index, grad, weight, strict=True):
            by_type.setdefault((w.dtype, w.stype, g.dtype, g.stype), []).append((i, g, w))
        most = self.optimizer.aggregate_num or 1
        for (dtype, stype, grad_dtype, grad_stype), group in by_type.items():
            dense = stype == grad_stype == "default" and dtype == grad_dtype
            if whole and dense and len(group) > 1:
                indices, grads, weights = map(list, zip(*group, strict=True))
                states = [self.states[i] for i in indices]
                together = Together(self.optimizer, indices, weights, grads, states)
                if together.step():
                    if len(group) == len(index):
                        self._together = together
                    continue
            for start in range(0, len(group), most):
                indices, grads, weights = map(list, zip(*group[start : start + most], strict=True))
                states = [self.states[i] for i in indices]
                if len(indices) == 1:
                    self.optimizer.update_multi_precision(
                        indices[0], weights[0], grads[0], states[0]
                    )
                else:
                    self.optimizer.update_multi_precision(indices, weights, grads, states)

    def sync_state_context(self, state, context):
        """Copy the arrays of a state to a context.

        Parameters
        ----------
        state : NDArray, tuple, list or any
            The state; anything but arrays is kept.
        context : Context
            Context of its weight.

        Returns
        -------
        The same kind of state.
        """
        if isinstance(state, NDArray):
            return state.as_in_context(context)
        if isinstance(state, (tuple, list)):
            return type(state)(self.sync_state_context(part, context) for part in state)
        return state

    def set_states(self, states):
        """Load states serialized by `get_states` or by MXNet.

        Parameters
        ----------
        states : bytes
            Result of `get_states`.

        Raises
        ------
        MXNetError
            If the bytes are damaged or are not states; the updater then keeps its current
            states.
        """
        self.states, optimizer = state_files.loads(states)
        self.states_synced = dict.fromkeys(self.states, False)
        if optimizer is not None:
            self.optimizer = optimizer

    def get_states(self, dump_optimizer=False):
        """Serialize all states.

        Parameters
        ----------
        dump_optimizer : bool
            Include the optimizer itself, with its counts and its scheduler.

        Returns
        -------
        bytes
        """
        return pickle.dumps((self.states, self.optimizer) if dump_optimizer else self.states)


def get_updater(optimizer):
    """Return an `Updater` around an optimizer.

    Parameters
    ----------
    optimizer : Optimizer
        The optimizer.

    Returns
    -------
    Updater
    """
    return Updater(optimizer)
