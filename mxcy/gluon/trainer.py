"""Trainers: apply an optimizer to a set of parameters."""

import weakref
from operator import itemgetter

from mxcy import optimizer as optimizers
from mxcy._base.listing import listing
from mxcy.gluon.parameter import Parameter
from mxcy.gluon.parameter_dict import ParameterDict
from mxcy.gluon.trainer_stores import check_kind, joins_job, spans_processes, store_for
from mxcy.kvstore import KVStore
from mxcy.optimizer import state_files

__all__ = ["Trainer"]

__dir__ = listing(__name__)


class Trainer:
    """Applies an optimizer to parameters, summing gradients over contexts.

    Parameters
    ----------
    params : ParameterDict, dict or list of Parameter
        The parameters; those of a dictionary are sorted by name.
    optimizer : str or Optimizer
        The optimizer.
    optimizer_params : dict, optional
        Arguments of an optimizer given by name.
    kvstore : str or KVStoreBase, optional
        Store that sums gradients over contexts; one given by name is not used for a single
        context.
    compression_params : dict, optional
        See `KVStore.set_gradient_compression`.
    update_on_kvstore : bool, optional
        Run the optimizer once, in the store, and copy the weights to all contexts, instead of
        one optimizer per context. Defaults to MXNET_UPDATE_ON_KVSTORE if the store supports it,
        but to False for weights of more than 2**24 elements in 'local'.

    Raises
    ------
    ValueError
        If `params` contains anything else, or `kvstore` is not available in this process.
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
        self._as_given = _order_of(params, self._params)
        self._param2idx = {
            parameter._full_name or parameter.name: i for i, parameter in enumerate(self._params)
        }
        for parameter in self._params:
            parameter._set_trainer(self)
        check_kind(kvstore)
        self._kvstore_params = {"kvstore": kvstore, "update_on_kvstore": update_on_kvstore}
        self._compression_params = compression_params
        self._contexts = self._check_contexts()
        optimizer_params = optimizer_params or {}
        self._scale = float(optimizer_params.get("rescale_grad", 1.0))
        self._amp_loss_scaler = self._amp_original_scale = None  # set by `mxcy.amp`
        self._optimizer = self._make_optimizer(optimizer, optimizer_params)
        self._updaters = [optimizers.get_updater(self._optimizer) for _ in self._contexts]
        # Third-party programs use these names, and override or call the methods that set them.
        self._kvstore = None
        self._reset_kvstore()
        if joins_job(kvstore):  # compute the first gradients with the job's weights
            self._ready()

    def _reset_kvstore(self):
        """Discard the store; the next step creates one from the parameters' current values.

        Raises
        ------
        RuntimeError
            If other processes share the store.
        """
        if spans_processes(self._kvstore):
            raise RuntimeError("Trainer: cannot replace a store shared by several processes")
        for parameter in self._params:
            parameter._take_rows_back()
        self._kv_initialized = False
        self._kvstore = self._update_on_kvstore = self._distributed = None
        self._params_to_init = list(self._params)  # not initialized in the store yet

    def _forget_stored(self, parameter):
        """Make a store that updates weights reload a parameter's new value."""
        if self._update_on_kvstore and all(p is not parameter for p in self._params_to_init):
            self._reset_kvstore()

    def _make_optimizer(self, optimizer, optimizer_params):
        by_index = self._by_index()
        if isinstance(optimizer, optimizers.Optimizer):
            assert not optimizer_params, (
                "optimizer_params must be None if optimizer is an instance of Optimizer "
                "instead of str"
            )
            optimizer.param_dict = by_index
            return optimizer
        return optimizers.create(optimizer, param_dict=by_index, **optimizer_params)

    def _by_index(self):
        """The parameters by index, for the optimizer.

        Row_sparse ones are left out: they refer to the store and thereby to the optimizer.
        """
        in_store = any(parameter._stype != "default" for parameter in self._params)
        return (weakref.WeakValueDictionary if in_store else dict)(enumerate(self._params))

    def _init_kvstore(self):
        """Create the store and decide whether it runs the optimizer."""
        store, on_store = store_for(
            self._params,
            len(self._contexts),
            self._kvstore_params["kvstore"],
            self._kvstore_params["update_on_kvstore"],
        )
        if store is not None and self._compression_params:
            store.set_gradient_compression(self._compression_params)
        if on_store:
            store.set_optimizer(self._optimizer)
        self._kvstore = store
        self._update_on_kvstore = None if store is None else on_store
        self._distributed = spans_processes(store)
        self._kv_initialized = True

    def _check_contexts(self):
        """Return the contexts, which must be the same for all parameters.

        Raises
        ------
        AssertionError
            If the contexts differ.
        RuntimeError
            If a parameter has not been initialized.
        """
        contexts = None
        for parameter in self._params:
            own = parameter.list_ctx()
            assert contexts is None or contexts == own, (
                "All Parameters must be initialized on the same set of contexts, but Parameter "
                f"{parameter.name} is initialized on {own} while previous Parameters are "
                f"initialized on {contexts}."
            )
            contexts = own
        return contexts or []

    def _init_params(self):
        """Initialize in the store those parameters that have values by now."""
        waiting = {id(p) for p in self._params_to_init if p._data is None}
        if self._kvstore is not None:
            ready = {id(p) for p in self._params_to_init} - waiting
            keys = [i for i in self._as_given if id(self._params[i]) in ready]
            arrays = [self._params[i]._list_arrays() for i in keys]
            if isinstance(self._kvstore, KVStore):
                still = [i for i in keys if self._params[i].grad_req == "null"]
                values = [each[0] for each in arrays]
                self._kvstore._init_parameters(keys, values, arrays, still)
            else:
                for i, each in sorted(zip(keys, arrays, strict=True), key=itemgetter(0)):
                    self._kvstore.broadcast(i, each[0], out=each)
            for i in keys:
                if self._params[i]._stype != "default":
                    self._params[i]._rows_in = self._kvstore, i
        self._params_to_init = [p for p in self._params_to_init if id(p) in waiting]

    def _ready(self):
        if not self._kv_initialized:
            self._init_kvstore()
        if self._params_to_init:
            self._init_params()

    # -- the optimizer ----------------------------------------------------------------------------

    @property
    def optimizer(self):
        """Optimizer: the optimizer."""
        return self._optimizer

    @property
    def learning_rate(self):
        """float: the optimizer's current learning rate."""
        return self._optimizer.learning_rate

    def set_learning_rate(self, lr):
        """Set the optimizer's learning rate.

        Parameters
        ----------
        lr : float
            The new learning rate.
        """
        self._settle()
        self._optimizer.set_learning_rate(lr)

    def _settle(self):
        """Wait for the last step before changing settings that the store's thread reads."""
        if self._distributed and self._update_on_kvstore:
            self._kvstore._settle()

    def _rescale(self, batch_size):
        try:
            scale = self._scale / batch_size
        except (ZeroDivisionError, TypeError) as error:
            raise type(error)(
                f"Trainer.step: batch_size: expected the number of samples, got {batch_size!r}"
            ) from error
        if scale != self._optimizer.rescale_grad:
            self._settle()
            self._optimizer.rescale_grad = scale

    # -- the step ---------------------------------------------------------------------------------

    def step(self, batch_size, ignore_stale_grad=False):
        """Sum gradients over all contexts and update the parameters.

        Call it after `autograd.backward`, outside of `autograd.record`.

        Parameters
        ----------
        batch_size : int
            Divisor of the gradients.
        ignore_stale_grad : bool
            Skip parameters whose gradients were not computed since the last step, instead of
            raising.

        Raises
        ------
        UserWarning
            If a gradient is stale.
        """
        self._ready()
        self._rescale(batch_size)
        if self._update_on_kvstore and not ignore_stale_grad:
            self._refuse_stale(self._trained())
        if self._update_on_kvstore and self._overflows():
            return  # a skipped step: the store must not update the weights
        self._allreduce_grads()
        self._update(ignore_stale_grad)
        if self._distributed and isinstance(self._kvstore, KVStore):
            self._kvstore._note_samples(batch_size)

    def allreduce_grads(self):
        """Sum gradients over all contexts, without updating; see `update`."""
        self._ready()
        assert not self._update_on_kvstore, (
            "allreduce_grads() when parameters are updated on kvstore is not supported. "
            "Try setting `update_on_kvstore` to False when creating trainer."
        )
        self._allreduce_grads()

    def update(self, batch_size, ignore_stale_grad=False):
        """Update the parameters, without summing gradients; see `allreduce_grads`.

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
        self._rescale(batch_size)
        self._update(ignore_stale_grad)

    @property
    def amp_loss_scale(self):
        """float: loss scale of mixed precision; 1 without it."""
        return 1.0 if self._amp_loss_scaler is None else self._amp_loss_scaler.loss_scale

    def _overflows(self):
        """Whether mixed precision skips this step because a gradient is inf or nan."""
        scaler = self._amp_loss_scaler
        return scaler is not None and scaler.has_overflow(self._params)

    def _trained(self):
        """The parameters that have gradients, with their indices."""
        return [(i, p) for i, p in enumerate(self._params) if p.grad_req != "null"]

    def _allreduce_grads(self):
        """Sum gradients; distributed trainers override this method."""
        if self._kvstore is None:
            return
        trained = self._trained()
        if isinstance(self._kvstore, KVStore) and self._distributed:
            dense = [(i, p) for i, p in trained if p._stype == p._grad_stype == "default"]
            keys = [i for i, _ in dense]
            arrays = [p.list_grad() for _, p in dense]
            outs = [p.list_data() for _, p in dense] if self._update_on_kvstore else None
            self._kvstore.pushpull(keys, arrays, outs)  # the store orders the exchange
            trained = [(i, p) for i, p in trained if not p._stype == p._grad_stype == "default"]
        for i, parameter in trained:
            if parameter._stype != "default":
                # readers of the weight pull the rows they need
                self._kvstore.push(i, parameter.list_grad(), priority=-i)
                continue
            out = {"out": parameter.list_data()} if self._update_on_kvstore else {}
            # the next forward pass needs the first layers first
            self._kvstore.pushpull(i, parameter.list_grad(), priority=-i, **out)

    def _update(self, ignore_stale_grad=False):
        """Update parameters with new gradients, or only clear the flag if the store did it."""
        if not self._update_on_kvstore and self._overflows():
            return
        trained = self._trained()
        if not ignore_stale_grad:
            self._refuse_stale(trained)
        if self._update_on_kvstore:
            for _, parameter in trained:
                _mark_as_stale(parameter._list_arrays())
            return
        work = [([], [], []) for _ in self._updaters]
        for i, parameter in trained:
            arrays, gradients = parameter._list_arrays(), parameter.list_grad()
            places = zip(work, gradients, arrays, strict=False)
            for (indices, grads, weights), gradient, array in places:
                if array._fresh_grad:
                    indices.append(i)
                    grads.append(gradient)
                    weights.append(array)
            _mark_as_stale(arrays)
        for updater, (indices, grads, weights) in zip(self._updaters, work, strict=True):
            if indices:
                updater(indices, grads, weights)

    def _refuse_stale(self, trained):
        # the list visits all parameters, and so reports uninitialized ones before stale gradients
        stale = [
            (parameter, array)
            for _, parameter in trained
            for array in parameter._list_arrays()
            if not array._fresh_grad
        ]
        if stale:
            parameter, array = stale[0]
            raise UserWarning(
                f"Gradient of Parameter `{parameter.name}` on context {array.context} has "
                "not been updated by backward since last `step`. This could mean a bug in "
                "your model that made it only use a subset of the Parameters (Blocks) for "
                "this iteration. If you are intentionally only using a subset, call step "
                "with ignore_stale_grad=True to suppress this warning and skip updating of "
                "Parameters with stale gradient"
            )

    # -- files ------------------------------------------------------------------------------------

    def save_states(self, fname):
        """Write the optimizer and its states (e.g. momenta) to a file.

        Parameters
        ----------
        fname : str
            The file.
        """
        self._ready()
        if self._update_on_kvstore:
            self._kvstore.save_optimizer_states(fname, dump_optimizer=True)
            return
        state_files.save(fname, self._updaters[0].get_states(dump_optimizer=True))

    def load_states(self, fname):
        """Load the optimizer and its states from a file written by `save_states`.

        Parameters
        ----------
        fname : str
            The file.
        """
        self._ready()
        if self._update_on_kvstore:
            self._kvstore.load_optimizer_states(fname)
            self._optimizer = self._kvstore._updater.optimizer
        else:
            for updater in self._updaters:
                state_files.load(fname, updater)
                updater.optimizer = self._updaters[0].optimizer
            self._optimizer = self._updaters[0].optimizer
        self._optimizer.param_dict = self._by_index()


def _mark_as_stale(arrays):
    for array in arrays:
        array._fresh_grad = False


def _order_of(params, listed):
    """The positions of listed parameters in the order in which they were given, that of layers."""
    numbers = {id(parameter): i for i, parameter in enumerate(listed)}
    given = params.values() if isinstance(params, (dict, ParameterDict)) else params
    return list(dict.fromkeys(numbers[id(parameter)] for parameter in given))


def _as_list(params):
    """The parameters in training order, without duplicates."""
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
