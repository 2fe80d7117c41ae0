"""Networks of several lengths with shared parameters."""

import logging

import numpy as np

from mxcy import ndarray as nd
from mxcy._files.checkpoint import file_name, load_params
from mxcy.context import cpu
from mxcy.initializer import Uniform
from mxcy.module.base_module import BaseModule
from mxcy.module.module import Module
from mxcy.name import NameManager

__all__ = ["BucketingModule"]


class BucketingModule(BaseModule):
    """One `Module` per bucket key, created on the key's first batch; all share the parameters.

    Parameters
    ----------
    sym_gen : callable
        ``sym_gen(bucket_key)`` returns ``(symbol, data_names, label_names)``.
    default_bucket_key : any
        Key of the largest network, whose parameters the others share.
    logger, context, work_load_list, fixed_param_names, state_names, group2ctxs, compression_params
        See `Module`.
    """

    def __init__(
        self,
        sym_gen,
        default_bucket_key=None,
        logger=logging,
        context=cpu(),  # noqa: B008
        work_load_list=None,
        fixed_param_names=None,
        state_names=None,
        group2ctxs=None,
        compression_params=None,
    ):
        super().__init__(logger)
        assert default_bucket_key is not None, "default_bucket_key must be given"
        self._sym_gen = sym_gen
        self._default_bucket_key = default_bucket_key
        self._options = {
            "logger": logger,
            "context": context,
            "work_load_list": work_load_list,
            "fixed_param_names": fixed_param_names,
            "state_names": state_names,
            "group2ctxs": group2ctxs,
            "compression_params": compression_params,
        }
        self._make(default_bucket_key)  # checks the names early
        self._buckets = {}
        self._curr_module = None
        self._curr_bucket_key = None
        self._params_dirty = False
        self._monitor = None
        self._grad_req = None

    def _call_sym_gen(self, bucket_key):
        """Call `sym_gen`; automatic names restart at 0 in each bucket so that parameters match."""
        with NameManager():
            parts = self._sym_gen(bucket_key)
        if not isinstance(parts, (tuple, list)) or len(parts) != 3:
            raise TypeError(
                "BucketingModule: sym_gen: expected a function that returns (symbol, data_names, "
                f"label_names), but it returned {parts!r}"
            )
        return parts

    def _make(self, bucket_key):
        symbol, data_names, label_names = self._call_sym_gen(bucket_key)
        return Module(symbol, data_names, label_names, **self._options)

    # -- files ------------------------------------------------------------------------------------

    def save_checkpoint(self, prefix, epoch, remove_amp_cast=False):
        """Write ``prefix-0001.params``, ``prefix-KEY-symbol.json`` and ``prefix.buckets``.

        Parameters
        ----------
        prefix : str
            Prefix of the file names.
        epoch : int
            Epoch number in the file name.
        remove_amp_cast : bool
            Remove casts inserted by automatic mixed precision.
        """
        assert self._buckets, "Empty BucketingModule cannot be saved"
        self.save_params(file_name(prefix, epoch))
        for bucket_key in self._buckets:
            symbol, _, _ = self._call_sym_gen(bucket_key)
            symbol.save(f"{prefix}-{bucket_key}-symbol.json", remove_amp_cast=remove_amp_cast)
        nd.save(f"{prefix}.buckets", nd.array(list(self._buckets), dtype=np.int32))

    @staticmethod
    def load(prefix, epoch, sym_gen=None, default_bucket_key=None, **kwargs):
        """Load a module from files written by `save_checkpoint`.

        Parameters
        ----------
        prefix : str
            Prefix of the file names.
        epoch : int
            Epoch number in the file name.
        sym_gen, default_bucket_key
            See the class; the files' symbols take precedence.
        **kwargs
            Further arguments of `BucketingModule`.

        Returns
        -------
        BucketingModule
        """
        assert sym_gen is not None, "sym_gen is required for loading BucketingModule"
        from mxcy import symbol

        keys = [int(key) for key in nd.load(f"{prefix}.buckets")[0].asnumpy()]
        symbols = {key: symbol.load(f"{prefix}-{key}-symbol.json") for key in keys}
        arg_params, aux_params = load_params(prefix, epoch)
        return BucketingModule.load_dict(
            symbols, sym_gen, default_bucket_key, arg_params, aux_params, **kwargs
        )

    @staticmethod
    def load_dict(
        sym_dict=None,
        sym_gen=None,
        default_bucket_key=None,
        arg_params=None,
        aux_params=None,
        **kwargs,
    ):
        """Create a module from symbols and parameters.

        Parameters
        ----------
        sym_dict : dict
            Symbols by bucket key.
        sym_gen, default_bucket_key
            See the class.
        arg_params, aux_params : dict of str to NDArray
            Parameters and auxiliary states.
        **kwargs
            Further arguments of `BucketingModule`.

        Returns
        -------
        BucketingModule
        """
        for value, name in (
            (sym_dict, "sym_dict"),
            (arg_params, "arg_params"),
            (aux_params, "aux_params"),
            (default_bucket_key, "default_bucket_key"),
        ):
            assert value is not None, f"{name} is required for loading BucketingModule"

        def known_or_generated(bucket_key):
            symbol, data_names, label_names = sym_gen(bucket_key)
            return sym_dict.get(bucket_key, symbol), data_names, label_names

        module = BucketingModule(known_or_generated, default_bucket_key, **kwargs)
        first = module._make(default_bucket_key)
        first._arg_params, first._aux_params = arg_params, aux_params
        first.params_initialized = True
        module._buckets[default_bucket_key] = module._curr_module = first
        module.params_initialized = True
        return module

    # -- names and shapes -------------------------------------------------------------------------

    @property
    def data_names(self):
        if self.binded:
            return self._curr_module.data_names
        return self._call_sym_gen(self._default_bucket_key)[1]

    @property
    def output_names(self):
        if self.binded:
            return self._curr_module.output_names
        return self._call_sym_gen(self._default_bucket_key)[0].list_outputs()

    @property
    def data_shapes(self):
        return self._current().data_shapes

    @property
    def label_shapes(self):
        return self._current().label_shapes

    @property
    def output_shapes(self):
        return self._current().output_shapes

    @property
    def symbol(self):
        return self._current().symbol

    def _current(self):
        """The module of the current bucket."""
        assert self.binded, "the module is not bound: call bind first"
        return self._curr_module

    # -- binding ----------------------------------------------------------------------------------

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
        assert shared_module is None, "shared_module for BucketingModule is not supported"
        if force_rebind:
            self._unbind()
        if self.binded:
            self.logger.warning("Already bound, ignoring bind()")
            return
        self.for_training = for_training
        self.inputs_need_grad = inputs_need_grad
        self._grad_req = grad_req
        default = self._buckets.get(self._default_bucket_key)
        if default is None:
            default = self._make(self._default_bucket_key)
        default.bind(
            data_shapes,
            label_shapes,
            for_training,
            inputs_need_grad,
            force_rebind=force_rebind,
            grad_req=grad_req,
        )
        self.binded = True
        self._curr_module, self._curr_bucket_key = default, self._default_bucket_key
        self._buckets[self._default_bucket_key] = default

    def _unbind(self):
        if self.binded and self.params_initialized:
            self.get_params()
        # The default module keeps its parameters and optimizer; the others are recreated from it.
        self._buckets = {k: m for k, m in self._buckets.items() if k == self._default_bucket_key}
        self.binded = False
        self._curr_module = None

    def switch_bucket(self, bucket_key, data_shapes, label_shapes=None):
        """Switch to the network of another bucket.

        Parameters
        ----------
        bucket_key : any
            Bucket key.
        data_shapes, label_shapes : list of DataDesc or of (str, tuple of int)
            Shapes to bind a new network to.
        """
        assert self.binded, "call bind before switching bucket"
        if bucket_key not in self._buckets:
            default = self._buckets[self._default_bucket_key]
            module = self._make(bucket_key)
            module.bind(
                data_shapes,
                label_shapes,
                self.for_training,
                self.inputs_need_grad,
                shared_module=default,
                grad_req=self._grad_req,
            )
            if self._monitor is not None:
                module.install_monitor(self._monitor)
            self._buckets[bucket_key] = module
        self._curr_module, self._curr_bucket_key = self._buckets[bucket_key], bucket_key

    def install_monitor(self, mon):
        assert self.binded, "the module is not bound: call bind first"
        self._monitor = mon
        for module in self._buckets.values():
            module.install_monitor(mon)

    # -- parameters -------------------------------------------------------------------------------

    def get_params(self):
        assert self.params_initialized, "the parameters are not initialized: call init_params first"
        self._curr_module._params_dirty = self._params_dirty
        params = self._curr_module.get_params()
        self._params_dirty = False
        return params

    def init_params(
        self,
        initializer=Uniform(0.01),  # noqa: B008
        arg_params=None,
        aux_params=None,
        allow_missing=False,
        force_init=False,
        allow_extra=False,
    ):
        if self.params_initialized and not force_init:
            return
        assert self.binded, "call bind before initializing the parameters"
        self._curr_module.init_params(
            initializer, arg_params, aux_params, allow_missing, force_init, allow_extra
        )
        self._params_dirty = False
        self.params_initialized = True

    def set_params(
        self, arg_params, aux_params, allow_missing=False, force_init=True, allow_extra=False
    ):
        if not allow_missing:
            super().set_params(arg_params, aux_params, False, force_init, allow_extra)
            return
        if self._ignores_init_params(force_init, "set_params"):
            return
        self._curr_module.set_params(arg_params, aux_params, allow_missing, force_init, allow_extra)
        self._params_dirty = True  # the devices hold the newest values
        self.params_initialized = True

    def get_states(self, merge_multi_context=True):
        self._assert_ready()
        return self._curr_module.get_states(merge_multi_context)

    def set_states(self, states=None, value=None):
        self._assert_ready()
        self._curr_module.set_states(states, value)

    # -- the optimizer ----------------------------------------------------------------------------

    def init_optimizer(
        self,
        kvstore="local",
        optimizer="sgd",
        optimizer_params=(("learning_rate", 0.01),),
        force_init=False,
    ):
        self._assert_ready()
        if self.optimizer_initialized and not force_init:
            self.logger.warning("optimizer already initialized, ignoring.")
            return
        self._curr_module.init_optimizer(kvstore, optimizer, optimizer_params, force_init)
        for module in self._buckets.values():
            if module is not self._curr_module:
                module.borrow_optimizer(self._curr_module)
        self.optimizer_initialized = True

    def update(self):
        self._assert_ready(optimizer=True)
        self._params_dirty = True
        self._curr_module.update()

    # -- running ----------------------------------------------------------------------------------

    def prepare(self, data_batch, sparse_row_id_fn=None):
        """Create the network of the next batch, see `BaseModule.prepare`."""
        self._assert_ready()
        current = self._curr_bucket_key
        self._switch_to(data_batch)
        self._curr_module.prepare(data_batch, sparse_row_id_fn=sparse_row_id_fn)
        self.switch_bucket(current, None, None)

    def _switch_to(self, batch):
        self.switch_bucket(batch.bucket_key, batch.provide_data, batch.provide_label)

    def forward(self, data_batch, is_train=None):
        self._assert_ready()
        self._switch_to(data_batch)
        self._curr_module.forward(data_batch, is_train=is_train)

    def backward(self, out_grads=None):
        self._assert_ready()
        self._curr_module.backward(out_grads)

    def get_outputs(self, merge_multi_context=True):
        self._assert_ready()
        return self._curr_module.get_outputs(merge_multi_context)

    def get_input_grads(self, merge_multi_context=True):
        self._assert_ready()
        return self._curr_module.get_input_grads(merge_multi_context)

    def update_metric(self, eval_metric, labels, pre_sliced=False):
        self._assert_ready()
        self._curr_module.update_metric(eval_metric, labels, pre_sliced)
