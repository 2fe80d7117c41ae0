"""Trainers and optimizers that average gradients over all processes."""

import warnings

from mxcy.gluon import Trainer
from mxcy.horovod.compression import Compression
from mxcy.kvstore.processes import allreduce, allreduce_, broadcast_, size
from mxcy.optimizer import Optimizer

__all__ = ["DistributedOptimizer", "DistributedTrainer", "broadcast_parameters"]


class DistributedOptimizer(Optimizer):
    """An optimizer that averages gradients over all processes before each update.

    Parameters
    ----------
    optimizer : Optimizer
        The wrapped optimizer.
    gradient_predivide_factor : float
        Divide gradients by this before the sum, and by the remaining factor after it.
    num_groups : int
        Accepted for compatibility; gradients are reduced individually.
    """

    def __init__(self, optimizer, gradient_predivide_factor=1.0, num_groups=0):
        self.__dict__.update(_optimizer=optimizer, _predivide=gradient_predivide_factor)
        optimizer.rescale_grad *= gradient_predivide_factor / size()

    def __getattr__(self, name):
        return getattr(self.__dict__["_optimizer"], name)

    def __setattr__(self, name, value):
        setattr(self._optimizer, name, value)

    def _add_up(self, index, gradient):
        if isinstance(index, (list, tuple)):
            for name, array in zip(index, gradient, strict=True):
                self._add_up(name, array)
            return
        priority = -index if isinstance(index, int) else 0
        allreduce_(gradient, False, str(index), priority, prescale_factor=1.0 / self._predivide)

    def update(self, index, weight, grad, state):
        """Reduce gradients, then call `Optimizer.update`."""
        self._add_up(index, grad)
        self._optimizer.update(index, weight, grad, state)

    def update_multi_precision(self, index, weight, grad, state):
        """Reduce gradients, then call `Optimizer.update_multi_precision`."""
        self._add_up(index, grad)
        self._optimizer.update_multi_precision(index, weight, grad, state)

    def create_state(self, index, weight):
        return self._optimizer.create_state(index, weight)

    def create_state_multi_precision(self, index, weight):
        return self._optimizer.create_state_multi_precision(index, weight)

    def set_learning_rate(self, lr):
        self._optimizer.set_learning_rate(lr)

    def set_lr_mult(self, args_lr_mult):
        self._optimizer.set_lr_mult(args_lr_mult)

    def set_wd_mult(self, args_wd_mult):
        self._optimizer.set_wd_mult(args_wd_mult)


class DistributedTrainer(Trainer):
    """A trainer that averages gradients over all processes; call ``step(local_batch_size)``.

    Parameters
    ----------
    params : ParameterDict, dict or list of Parameter
    optimizer : str or Optimizer
    optimizer_params : dict, optional
        See `mxcy.gluon.Trainer`.
    compression : type
        Method from `Compression`.
    gradient_predivide_factor : float
        Divide gradients by this before the sum, and by the remaining factor after it.
    prefix : str, optional
        Prefix of the names of collective calls; trainers used alternately need different ones.
    num_groups : int
        Accepted for compatibility; gradients are reduced individually.
    """

    def __init__(
        self,
        params,
        optimizer,
        optimizer_params=None,
        compression=Compression.none,
        gradient_predivide_factor=1.0,
        prefix=None,
        num_groups=0,
    ):
        if isinstance(optimizer, DistributedOptimizer):
            optimizer = optimizer._optimizer
            warnings.warn(
                "DistributedTrainer does not take DistributedOptimizer as its optimizer; the one "
                "in it is used.",
                stacklevel=2,
            )
        super().__init__(params, optimizer, optimizer_params, kvstore=None)
        self._scale *= gradient_predivide_factor / size()
        self._compression, self._predivide = compression, gradient_predivide_factor
        self._names = prefix or ""

    def _allreduce_grads(self):
        if size() == 1:
            return
        for i, parameter in self._trained():
            gradient = parameter.list_grad()[0]
            sent, known = self._compression.compress(gradient)
            settings = (False, f"{self._names}{i}", -i, 1.0 / self._predivide)
            if known is None:
                allreduce_(gradient, *settings)
            else:
                total = allreduce(sent, *settings)
                self._compression.decompress(total, known).copyto(gradient)


def broadcast_parameters(params, root_rank=0, prefix=None):
    """Broadcast the parameters of one process to all.

    Parameters
    ----------
    params : dict of str to NDArray or Parameter, or ParameterDict
        The parameters; those with deferred initialization follow once initialized.
    root_rank : int
        Rank of the source.
    prefix : str, optional
        Prefix of the names of the collective calls.

    Raises
    ------
    ValueError
        If `params` has another type.
    """
    if not isinstance(params, dict):
        raise ValueError(f"invalid params of type: {type(params)}")
    for name, parameter in sorted(params.items()):
        name = f"{prefix or ''}parameter {name}"
        if not hasattr(parameter, "list_data"):
            broadcast_(parameter, root_rank, name)
        elif parameter._data is None:
            _broadcast_later(parameter, root_rank, name)
        else:
            _broadcast(parameter, root_rank, name)


def _broadcast(parameter, root_rank, name):
    for i, array in enumerate(parameter.list_data()):
        broadcast_(array, root_rank, f"{name}.{i}")


def _broadcast_later(parameter, root_rank, name):
    finish = parameter._finish_deferred_init

    def finish_and_broadcast():
        waited = parameter._data is None
        finish()
        if waited and parameter._data is not None:
            del parameter._finish_deferred_init
            _broadcast(parameter, root_rank, name)

    parameter._finish_deferred_init = finish_and_broadcast
