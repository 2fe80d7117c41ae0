"""The optimizer-related methods of modules."""

from mxcy import optimizer as optimizers
from mxcy._base.warning import warn
from mxcy.kvstore import KVStore
from mxcy.module.checkpoints import Checkpoints
from mxcy.module.updates import Updates, choose_store

__all__ = ["OptimizedModule"]


class OptimizedModule(Checkpoints):
    """Mixin for modules whose parameters are updated on the devices or in a store."""

    def init_optimizer(
        self,
        kvstore="local",
        optimizer="sgd",
        optimizer_params=(("learning_rate", 0.01),),
        force_init=False,
    ):
        self._assert_ready()
        if self.optimizer_initialized and not force_init:
            self.logger.warning("optimizer already initialized, ignoring...")
            return
        arg_params, _ = self.get_params()
        store, on_store = choose_store(kvstore, len(self._context), arg_params)
        batch_size = self._exec_group.batch_size
        if store is not None and "dist" in store.type and "_sync" in store.type:
            batch_size *= store.num_workers
        optimizer = self._make_optimizer(optimizer, optimizer_params, 1.0 / batch_size, on_store)
        self._updates = Updates(optimizer, store, on_store, self._compression_params)
        self._updates.start(self._own_names(), self._exec_group.param_arrays, arg_params)
        self.optimizer_initialized = True
        if self._states_to_load is not None:
            self.load_optimizer_states(self._states_to_load)
            self._states_to_load = None

    def _own_names(self):
        """The parameters in the order of the executors' arrays."""
        return [name for name in self._exec_group.arg_names if name in self._param_names]

    def _make_optimizer(self, optimizer, optimizer_params, rescale_grad, on_store):
        copies = 1 if on_store else len(self._context)
        names = {
            i * copies + k: name for i, name in enumerate(self._own_names()) for k in range(copies)
        }
        if isinstance(optimizer, str):
            arguments = {"rescale_grad": rescale_grad, **dict(optimizer_params)}
            return optimizers.create(optimizer, sym=self.symbol, param_idx2name=names, **arguments)
        assert isinstance(optimizer, optimizers.Optimizer), (
            "optimizer must be a name or an Optimizer"
        )
        if optimizer.rescale_grad != rescale_grad:
            warn(
                "Optimizer created manually outside Module but rescale_grad is not normalized to "
                f"1.0/batch_size/num_workers ({optimizer.rescale_grad} vs. {rescale_grad}). Is "
                "this intended?"
            )
        if not optimizer.idx2name:
            optimizer.idx2name = names
        return optimizer

    @property
    def _optimizer(self):
        """The optimizer, under a name that published programs access."""
        return None if self._updates is None else self._updates.optimizer

    @property
    def _kvstore(self):
        return None if self._updates is None else self._updates.store

    @property
    def _updater(self):
        return None if self._updates is None else self._updates.updater

    def borrow_optimizer(self, shared_module):
        """Share the optimizer of another module, with its states.

        Parameters
        ----------
        shared_module : Module
            The other module.
        """
        assert shared_module.optimizer_initialized, "the other module has no optimizer to borrow"
        self._updates = shared_module._updates
        self.optimizer_initialized = True

    def update(self):
        self._assert_ready(optimizer=True)
        self._params_dirty = True
        group = self._exec_group
        self._updates.step(self._own_names(), group.param_arrays, group.grad_arrays)
        if isinstance(self._updates.store, KVStore):
            self._updates.store._note_samples(group.batch_size)
