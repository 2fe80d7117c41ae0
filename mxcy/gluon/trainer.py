"""Trainers: let an optimizer change a set of parameters by their gradients."""

import math

from mxcy import env
from mxcy import kvstore as stores
from mxcy import optimizer as optimizers
from mxcy.gluon.parameter import Parameter
from mxcy.gluon.parameter_dict import ParameterDict
from mxcy.kvstore import KVStoreBase
from mxcy.kvstore.base import LARGEST_UPDATE

__all__ = ["Trainer"]

_LOCAL_STORES = ("device", "local", "nccl", "local_allreduce_cpu", "local_allreduce_device")


class Trainer:
    """Applies an optimizer to parameters; gradients of several contexts are added up.

    Parameters
    ----------
    params : ParameterDict, dict or list of Parameter
        The parameters; those of dictionaries are taken in the order of their names.
    optimizer : str or Optimizer
        The optimizer.
    optimizer_params : dict, optional
        Its arguments, when it is given by name.
    kvstore : str or KVStoreBase, optional
        How gradients of several contexts are added up; all local ways do the same. Another store
        is asked to `broadcast` the parameters and to `pushpull` the gradients.
    compression_params : dict, optional
        Accepted; gradients are only compressed between machines.
    update_on_kvstore : bool, optional
        Update once and copy the weights to all contexts, instead of updating on each. Without
        meaning, and false, unless there are several contexts and a `kvstore`; then by default as
        MXNET_UPDATE_ON_KVSTORE says, but not for weights of more than 2**24 elements in 'local'.

    Raises
    ------
    ValueError
        When `params` holds something else, or `kvstore` is not one of the local ones.
    """

    def __init__(
        self,
        params,
        optimizer,
        optimizer_params=None,
        kvstore="device",
        compression_params=None,
        update_on_kvstore=None,
    ):
        self._params = _as_list(params)
        self._compression_params = compression_params
        self._kvstore = kvstore
        self._store = None  # what is not local
        if isinstance(kvstore, KVStoreBase):
            self._store = None if kvstore.type in _LOCAL_STORES else kvstore
        elif isinstance(kvstore, str) and kvstore.lower() in KVStoreBase.kv_registry:
            self._store = stores.create(kvstore)
        elif kvstore is not None and kvstore not in _LOCAL_STORES:
            raise ValueError(
                "kvstore must be None, a KVStoreBase, the name of a registered one or one of "
                f"{_LOCAL_STORES}, got {kvstore!r}"
            )
        self._asked_update_on_kvstore = update_on_kvstore
        optimizer_params = optimizer_params or {}
        self._scale = float(optimizer_params.get("rescale_grad", 1.0))
        self._optimizer = self._make_optimizer(optimizer, optimizer_params)
        self._updaters = None
        self._contexts = None
        for parameter in self._params:
            parameter._trainer = self

    def _make_optimizer(self, optimizer, optimizer_params):
        by_index = dict(enumerate(self._params))
        if isinstance(optimizer, optimizers.Optimizer):
            assert not optimizer_params, (
                "optimizer_params must be None if optimizer is an instance of Optimizer "
                "instead of str"
            )
            optimizer.param_dict = by_index
            return optimizer
        return optimizers.create(optimizer, param_dict=by_index, **optimizer_params)

    def _prepare(self):
        """Find out on which contexts the parameters are, and make an updater for each."""
        contexts = None
        for parameter in self._params:
            found = parameter.list_ctx()
            assert contexts is None or contexts == found, (
                "All Parameters must be initialized on the same set of contexts, but Parameter "
                f"{parameter.name} is initialized on {found} while previous Parameters are "
                f"initialized on {contexts}."
            )
            contexts = found
        self._contexts = contexts or []
        asked = self._asked_update_on_kvstore
        asked = env.get("MXNET_UPDATE_ON_KVSTORE") if asked is None else asked
        local = self._kvstore is not None and self._store is None
        if self._asked_update_on_kvstore is None and self._kvstore == "local":
            asked = asked and all(math.prod(p.shape) <= LARGEST_UPDATE for p in self._params)
        self._update_on_kvstore = local and len(self._contexts) > 1 and bool(asked)
        copies = 1 if self._update_on_kvstore else max(1, len(self._contexts))
        self._updaters = [optimizers.get_updater(self._optimizer) for _ in range(copies)]
        if self._store is not None:
            for i, parameter in enumerate(self._params):
                arrays = parameter.list_data()
                self._store.broadcast(i, arrays[0], out=arrays)

    def _ready(self):
        if self._updaters is None:
            self._prepare()

    # -- the optimizer ----------------------------------------------------------------------------

    @property
    def optimizer(self):
        """Optimizer: the optimizer."""
        return self._optimizer

    @property
    def learning_rate(self):
        """float: the current rate of the optimizer."""
        return self._optimizer.learning_rate

    def set_learning_rate(self, lr):
        """Set the rate of the optimizer.

        Parameters
        ----------
        lr : float
            The new rate.
        """
        self._optimizer.set_learning_rate(lr)

    # -- the step ---------------------------------------------------------------------------------

    def step(self, batch_size, ignore_stale_grad=False):
        """Add up gradients over all contexts, then change the parameters by them.

        Call it after `autograd.backward`, outside of `autograd.record`.

        Parameters
        ----------
        batch_size : int
            Gradients are divided by this.
        ignore_stale_grad : bool
            Leave parameters alone whose gradients `backward` did not compute since the last
            step, instead of refusing.

        Raises
        ------
        UserWarning
            When a gradient is stale.
        """
        self._ready()
        self._optimizer.rescale_grad = self._scale / batch_size
        self._allreduce()
        self._update(ignore_stale_grad)

    def allreduce_grads(self):
        """Add up gradients over all contexts, for use with `update`."""
        self._ready()
        assert not self._update_on_kvstore, (
            "allreduce_grads() when parameters are updated on kvstore is not supported. "
            "Try setting `update_on_kvstore` to False when creating trainer."
        )
        self._allreduce()

    def update(self, batch_size, ignore_stale_grad=False):
        """Change the parameters, without adding up gradients first; see `allreduce_grads`.

        Parameters
        ----------
        batch_size, ignore_stale_grad
            See `step`.
        """
        self._ready()
        assert not self._update_on_kvstore, (
            "update() when parameters are updated on kvstore is not supported. "
            "Try setting `update_on_kvstore` to False when creating trainer."
        )
        self._optimizer.rescale_grad = self._scale / batch_size
        self._update(ignore_stale_grad)

    def _trained(self):
        """The parameters that have gradients, with their indices."""
        return [(i, p) for i, p in enumerate(self._params) if p.grad_req != "null"]

    def _allreduce(self):
        if self._store is not None:
            for i, parameter in self._trained():
                # The first layers are needed first in the next step.
                self._store.pushpull(i, parameter.list_grad(), priority=-i)
            return
        if len(self._contexts) < 2:
            return
        for _, parameter in self._trained():
            gradients = parameter.list_grad()
            total = gradients[0]
            for gradient in gradients[1:]:
                total += gradient.as_in_context(total.context)
            for gradient in gradients[1:]:
                gradient[:] = total.as_in_context(gradient.context)

    def _update(self, ignore_stale_grad):
        trained = self._trained()
        if not ignore_stale_grad:
            for _, parameter in trained:
                self._refuse_stale(parameter)
        work = [([], [], []) for _ in self._updaters]
        for i, parameter in trained:
            arrays = parameter.list_data()
            for (indices, grads, weights), gradient, array in zip(
                work, parameter.list_grad(), arrays, strict=False
            ):
                if array._fresh_grad:
                    indices.append(i)
                    grads.append(gradient)
                    weights.append(array)
            for array in arrays:
                array._fresh_grad = False
        for updater, (indices, grads, weights) in zip(self._updaters, work, strict=True):
            if indices:
                updater(indices, grads, weights)
        if self._update_on_kvstore:
            self._spread_weights()

    @staticmethod
    def _refuse_stale(parameter):
        for array in parameter.list_data():
            if not array._fresh_grad:
                raise UserWarning(
                    f"Gradient of Parameter `{parameter.name}` on context {array.context} has not "
                    "been updated by backward since last `step`. This could mean a bug in your "
                    "model that made it only use a subset of the Parameters (Blocks) for this "
                    "iteration. If you are intentionally only using a subset, call step with "
                    "ignore_stale_grad=True to suppress this warning and skip updating of "
                    "Parameters with stale gradient"
                )

    def _spread_weights(self):
        for _, parameter in self._trained():
            first, *others = parameter.list_data()
            for array in others:
                array[:] = first.as_in_context(array.context)

    # -- files ------------------------------------------------------------------------------------

    def save_states(self, fname):
        """Write the optimizer and its states (momenta and the like) to a file.

        Parameters
        ----------
        fname : str
            The file.
        """
        self._ready()
        with open(fname, "wb") as file:
            file.write(self._updaters[0].get_states(dump_optimizer=True))

    def load_states(self, fname):
        """Read the optimizer and its states from a file that `save_states` wrote.

        Parameters
        ----------
        fname : str
            The file.
        """
        self._ready()
        with open(fname, "rb") as file:
            states = file.read()
        for updater in self._updaters:
            updater.set_states(states)
            updater.optimizer = self._updaters[0].optimizer
        self._optimizer = self._updaters[0].optimizer
        self._optimizer.param_dict = dict(enumerate(self._params))


def _as_list(params):
    """The parameters in their order of training, each once."""
    if isinstance(params, (dict, ParameterDict)):
        params = [params[name] for name in sorted(params.keys())]
    if not isinstance(params, (list, tuple)):
        raise ValueError(
            f"First argument must be a list or dict of Parameters, got {type(params).__name__}."
        )
    unique = {}
    for parameter in params:
        if not isinstance(parameter, Parameter):
            raise ValueError(
                "First argument must be a list or dict of Parameters, "
                f"got list of {type(parameter).__name__}."
            )
        unique[id(parameter)] = parameter
    return list(unique.values())
