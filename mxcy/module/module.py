"""`Module`: a symbol with parameters and an optimizer, on one or several devices."""

import logging

from mxcy import ndarray as nd
from mxcy._base.warning import warn
from mxcy._files.checkpoint import file_name, load_checkpoint
from mxcy._library.tracebacks import with_short_tracebacks
from mxcy.base import MXNetError
from mxcy.context import as_contexts, cpu
from mxcy.initializer import InitDesc, Uniform
from mxcy.module.descriptions import check_names_in_symbol, describe_batch, shapes_for
from mxcy.module.executor_group import DataParallelExecutorGroup
from mxcy.module.optimized import OptimizedModule

__all__ = ["Module"]


class Module(OptimizedModule):
    """A symbol with its parameters and an optimizer.

    Parameters
    ----------
    symbol : Symbol
        The network.
    data_names, label_names : list of str
        Arguments that batches provide, as inputs and as labels.
    logger : Logger
        Destination of messages.
    context : Context, str or list of these
        Devices, over which batches are split.
    work_load_list : list of number, optional
        Relative share of the batch per device; equal by default.
    fixed_param_names : list of str, optional
        Parameters that are not trained.
    state_names : list of str, optional
        Arguments set by `set_states`, neither trained nor part of batches.
    group2ctxs : dict of str to Context, or a list of them, optional
        Devices of the groups defined by `AttrScope(ctx_group=...)`.
    compression_params : dict, optional
        See `KVStore.set_gradient_compression`.

    Raises
    ------
    ValueError
        If the symbol lacks arguments with these names.
    """

    def __init__(
        self,
        symbol,
        data_names=("data",),
        label_names=("softmax_label",),
        logger=logging,
        context=cpu(),  # noqa: B008
        work_load_list=None,
        fixed_param_names=None,
        state_names=None,
        group2ctxs=None,
        compression_params=None,
    ):
        super().__init__(logger)
        self._context = as_contexts(context)
        self._work_load_list = work_load_list or [1] * len(self._context)
        assert len(self._work_load_list) == len(self._context), (
            f"work_load_list has {len(self._work_load_list)} items for {len(self._context)} "
            "contexts"
        )
        self._symbol = symbol
        self._group2ctxs = group2ctxs
        self._compression_params = compression_params
        self._data_names = list(data_names or [])
        self._label_names = list(label_names or [])
        self._state_names = list(state_names or [])
        self._fixed_param_names = list(fixed_param_names or [])
        for names, kind, strict in (
            (self._data_names, "data", True),
            (self._label_names, "label", False),
            (self._state_names, "state", True),
            (self._fixed_param_names, "fixed_param", True),
        ):
            check_names_in_symbol(symbol, names, kind, strict)
        inputs = {*self._data_names, *self._label_names, *self._state_names}
        self._param_names = [name for name in symbol.list_arguments() if name not in inputs]
        self._aux_names = symbol.list_auxiliary_states()
        self._output_names = symbol.list_outputs()
        self._arg_params = self._aux_params = None
        self._params_dirty = False  # whether the devices hold newer parameters
        self._updates = None
        self._states_to_load = None
        self._exec_group = None
        self._data_shapes = self._label_shapes = self._grad_req = None

    @staticmethod
    def load(prefix, epoch, load_optimizer_states=False, **kwargs):
        """Load a module from files written by `save_checkpoint`.

        Parameters
        ----------
        prefix : str
            Prefix of the file names.
        epoch : int
            Epoch number in the file names.
        load_optimizer_states : bool
            Whether `init_optimizer` loads the optimizer's states.
        **kwargs
            Arguments of `Module`.

        Returns
        -------
        Module
        """
        symbol, arg_params, aux_params = load_checkpoint(prefix, epoch)
        module = Module(symbol, **kwargs)
        module._arg_params, module._aux_params = arg_params, aux_params
        module.params_initialized = True
        if load_optimizer_states:
            module._states_to_load = file_name(prefix, epoch, "states")
        return module

    # -- names and shapes -------------------------------------------------------------------------

    @property
    def data_names(self):
        return self._data_names

    @property
    def label_names(self):
        """list of str: names of the labels."""
        return self._label_names

    @property
    def output_names(self):
        return self._output_names

    @property
    def data_shapes(self):
        assert self.binded, "the module is not bound: call bind first"
        return self._data_shapes

    @property
    def label_shapes(self):
        assert self.binded, "the module is not bound: call bind first"
        return self._label_shapes

    @property
    def output_shapes(self):
        assert self.binded, "the module is not bound: call bind first"
        return self._exec_group.get_output_shapes()

    # -- binding ----------------------------------------------------------------------------------

    @with_short_tracebacks
    def bind(
        self,
        data_shapes,
        label_shapes=None,
        for_training=True,
        inputs_need_grad=False,
        force_rebind=False,
        shared_module=None,
        grad_req="write",
    ):
        if force_rebind:
            self._unbind()
        if self.binded:
            self.logger.warning("Already bound, ignoring bind()")
            return
        assert for_training or not inputs_need_grad, (
            "gradients of inputs are only computed with for_training=True"
        )
        shared_group = None
        if shared_module is not None:
            assert isinstance(shared_module, Module), "shared_module must be a Module"
            shared_module._assert_ready()
            shared_group = shared_module._exec_group
            assert len(shared_group.execs) >= len(self._context), (
                "shared_module is on fewer contexts"
            )
        self.for_training = for_training
        self.inputs_need_grad = inputs_need_grad
        self._grad_req = grad_req
        self._data_shapes, self._label_shapes = self._described(data_shapes, label_shapes)
        self._exec_group = DataParallelExecutorGroup(
            self._symbol,
            self._context,
            self._work_load_list,
            self._data_shapes,
            self._label_shapes,
            self._param_names,
            for_training,
            inputs_need_grad,
            shared_group,
            logger=self.logger,
            fixed_param_names=self._fixed_param_names,
            grad_req=grad_req,
            state_names=self._state_names,
            group2ctxs=self._group2ctxs,
        )
        self.binded = True
        if shared_module is not None:
            self.params_initialized = True
            self._arg_params, self._aux_params = (
                shared_module._arg_params,
                shared_module._aux_params,
            )
            if shared_module.optimizer_initialized:
                self.borrow_optimizer(shared_module)
        elif self.params_initialized:
            self._exec_group.set_params(self._arg_params, self._aux_params)

    @property
    def _total_exec_bytes(self):
        """int: memory of intermediate results in all devices' plans."""
        return sum(executor.plan(self.for_training).arena for executor in self._exec_group.execs)

    def _unbind(self):
        if self.binded and self.params_initialized:
            self.get_params()  # keep the trained values of the executors
        self.binded = False
        self._exec_group = None
        self._data_shapes = self._label_shapes = None

    def _described(self, data_shapes, label_shapes):
        return describe_batch(self._data_names, self._label_names, data_shapes, label_shapes)

    def reshape(self, data_shapes, label_shapes=None):
        """Rebind to other shapes, keeping parameters and optimizer.

        Parameters
        ----------
        data_shapes, label_shapes : list of DataDesc or of (str, tuple of int)
            See `bind`.
        """
        assert self.binded, "the module is not bound: call bind first"
        data_shapes, label_shapes = self._described(data_shapes, label_shapes)
        self._exec_group.reshape(data_shapes, label_shapes)
        self._data_shapes, self._label_shapes = data_shapes, label_shapes

    # -- parameters -------------------------------------------------------------------------------

    def get_params(self):
        self._assert_ready()
        if self._params_dirty:
            self._exec_group.get_params(self._arg_params, self._aux_params)
            if self._updates is not None:
                self._updates.pull_all_rows(self._arg_params)
            self._params_dirty = False
        return self._arg_params, self._aux_params

    def init_params(
        self,
        initializer=Uniform(0.01),  # noqa: B008
        arg_params=None,
        aux_params=None,
        allow_missing=False,
        force_init=False,
        allow_extra=False,
    ):
        if self._ignores_init_params(force_init):
            return
        assert self.binded, "call bind before initializing the parameters"
        if initializer is not None and not callable(initializer):
            raise TypeError(
                "init_params: initializer: expected an Initializer such as mx.init.Xavier(), got "
                f"{initializer!r}"
            )
        group = self._exec_group
        if self._arg_params is None:
            own = [name for name in group.arg_names if name in self._param_names]
            self._arg_params = _on_cpu(own, group.param_arrays)
        if self._aux_params is None:
            self._aux_params = _on_cpu(group.aux_names, group.aux_arrays)
        attributes = self._symbol.attr_dict()
        for own, source in ((self._arg_params, arg_params), (self._aux_params, aux_params)):
            for name, array in sorted(own.items()):
                if source is not None and name in source:
                    _check_shape(name, source[name], array)
                    if source[name] is not array:
                        source[name].copyto(array)
                    continue
                if source is not None and not allow_missing:
                    raise RuntimeError(
                        f"{name} is not presented: allow_missing=True lets the initializer fill it"
                    )
                if initializer is not None:
                    initializer(InitDesc(name, attributes.get(name)), array)
        self.params_initialized = True
        self._params_dirty = False
        group.set_params(self._arg_params, self._aux_params)

    def set_params(
        self, arg_params, aux_params, allow_missing=False, force_init=True, allow_extra=False
    ):
        if not allow_missing:
            super().set_params(arg_params, aux_params, False, force_init, allow_extra)
            return
        if self._ignores_init_params(force_init, "set_params"):
            return
        self._exec_group.set_params(arg_params, aux_params, allow_extra)
        self._params_dirty = True
        self.params_initialized = True

    def get_states(self, merge_multi_context=True):
        self._assert_ready()
        return self._exec_group.get_states(merge_multi_context)

    def set_states(self, states=None, value=None):
        self._assert_ready()
        self._exec_group.set_states(states, value)

    # -- running ----------------------------------------------------------------------------------

    def prepare(self, data_batch, sparse_row_id_fn=None):
        """Prepare for the next batch: fetch the rows of row_sparse parameters that it needs.

        Parameters
        ----------
        data_batch : DataBatch
            The next batch.
        sparse_row_id_fn : callable, optional
            ``sparse_row_id_fn(data_batch)`` returns a dict from parameter names to row ids. Rows
            are pulled only if the store runs the optimizer; otherwise all are present.
        """
        self._assert_ready()
        if sparse_row_id_fn is None:
            return
        if self._updates is None or not self._updates.on_store:
            warn("sparse_row_id_fn is not invoked.")
            return
        row_ids = sparse_row_id_fn(data_batch)
        assert isinstance(row_ids, dict), f"sparse_row_id_fn: expected a dict, got {row_ids!r}"
        self._updates.pull_rows(self._own_names(), self._exec_group.param_arrays, row_ids)

    @with_short_tracebacks
    def forward(self, data_batch, is_train=None):
        self._assert_ready()
        self._fit_shapes(data_batch)
        self._exec_group.forward(data_batch, is_train)

    def _fit_shapes(self, batch):
        """Rebind if a batch has other shapes."""
        shapes = shapes_for(batch, self._data_shapes, self._label_shapes)
        if shapes is not None:
            self.reshape(*shapes)

    def backward(self, out_grads=None):
        self._assert_ready()
        self._exec_group.backward(out_grads)

    def get_outputs(self, merge_multi_context=True):
        self._assert_ready()
        return self._exec_group.get_outputs(merge_multi_context)

    def get_input_grads(self, merge_multi_context=True):
        self._assert_ready()
        assert self.inputs_need_grad, "bind with inputs_need_grad=True to get gradients of inputs"
        return self._exec_group.get_input_grads(merge_multi_context)

    def update_metric(self, eval_metric, labels, pre_sliced=False):
        self._exec_group.update_metric(eval_metric, labels, pre_sliced)

    def install_monitor(self, mon):
        assert self.binded, "the module is not bound: call bind first"
        self._exec_group.install_monitor(mon)


def _check_shape(name, array, target):
    """Check the shape of a parameter's value."""
    if array.shape != target.shape:
        raise MXNetError(
            f"init_params: {name}: expected shape {target.shape} for the bound data, got "
            f"{array.shape}"
        )


def _on_cpu(names, arrays):
    """Create CPU arrays with the devices' shapes and dtypes."""
    return {
        name: nd.zeros(parts[0].shape, cpu(), parts[0].dtype, parts[0].stype)
        for name, parts in zip(names, arrays, strict=True)
    }
