"""A sequence of modules, each taking the outputs of the previous one."""

import copy
import logging

from mxcy.initializer import Uniform
from mxcy.module.base_module import BaseModule

__all__ = ["SequentialModule"]


class SequentialModule(BaseModule):
    """A chain of modules.

    Parameters
    ----------
    logger : Logger
        Destination of messages.
    """

    META_TAKE_LABELS = "take_labels"
    META_AUTO_WIRING = "auto_wiring"

    def __init__(self, logger=logging):
        super().__init__(logger)
        self._modules = []
        self._metas = []
        self._label_shapes = None
        self._data_shapes = None

    def add(self, module, **kwargs):
        """Append a module; the chain must then be bound and initialized again.

        Parameters
        ----------
        module : BaseModule
            The module.
        **kwargs
            ``take_labels=True`` passes it the labels. ``auto_wiring=True`` matches its inputs with
            the previous outputs by position instead of by name.

        Returns
        -------
        SequentialModule
            Self, for chaining.
        """
        for key in kwargs:
            assert key in (self.META_TAKE_LABELS, self.META_AUTO_WIRING), (
                f'Unknown meta "{key}", a typo?'
            )
        self._modules.append(module)
        self._metas.append(kwargs)
        self.binded = self.params_initialized = self.optimizer_initialized = False
        return self

    # -- names and shapes -------------------------------------------------------------------------

    @property
    def data_names(self):
        return self._modules[0].data_names if self._modules else []

    @property
    def output_names(self):
        return self._modules[-1].output_names if self._modules else []

    @property
    def data_shapes(self):
        assert self.binded, "the module is not bound: call bind first"
        return self._modules[0].data_shapes

    @property
    def label_shapes(self):
        assert self.binded, "the module is not bound: call bind first"
        return self._label_shapes

    @property
    def output_shapes(self):
        assert self.binded, "the module is not bound: call bind first"
        return self._modules[-1].output_shapes

    # -- binding and initializing -----------------------------------------------------------------

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
        if self.binded and not force_rebind:
            self.logger.warning("Already bound, ignoring bind()")
            return
        assert for_training or not inputs_need_grad, (
            "gradients of inputs are only computed with for_training=True"
        )
        assert shared_module is None, "Shared module is not supported"
        assert self._modules, "Attempting to bind an empty SequentialModule"
        self.for_training = for_training
        self.inputs_need_grad = inputs_need_grad
        self._label_shapes = None
        for i, (module, meta) in enumerate(zip(self._modules, self._metas, strict=True)):
            takes_labels = meta.get(self.META_TAKE_LABELS, False)
            if takes_labels:
                self._label_shapes = label_shapes
            if meta.get(self.META_AUTO_WIRING, False):
                data_shapes = [
                    (name, shape[1])
                    for name, shape in zip(module.data_names, data_shapes, strict=True)
                ]
            module.bind(
                data_shapes=data_shapes,
                label_shapes=label_shapes if takes_labels else None,
                for_training=for_training,
                inputs_need_grad=inputs_need_grad or (for_training and i > 0),
                force_rebind=force_rebind,
                grad_req=grad_req,
            )
            data_shapes = module.output_shapes
        self.binded = True

    def get_params(self):
        self._assert_ready()
        arg_params, aux_params = {}, {}
        for module in self._modules:
            arg, aux = module.get_params()
            arg_params.update(arg)
            aux_params.update(aux)
        return arg_params, aux_params

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
        for module in self._modules:
            # The dictionaries also contain the other modules' parameters.
            module.init_params(
                initializer, arg_params, aux_params, allow_missing, force_init, allow_extra=True
            )
        self._refuse_duplicates()
        self.params_initialized = True

    def _refuse_duplicates(self):
        owners = {}
        for i, module in enumerate(self._modules):
            for name in [name for params in module.get_params() for name in params]:
                assert name not in owners, (
                    f"Duplicated parameter names: name {name!r} in layer {i} "
                    f"({type(module)}) is already used in layer {owners[name]} "
                    f"({type(self._modules[owners[name]])})"
                )
                owners[name] = i

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
        for module in self._modules:
            module.init_optimizer(kvstore, optimizer, optimizer_params, force_init)
        self.optimizer_initialized = True

    def install_monitor(self, mon):
        assert self.binded, "the module is not bound: call bind first"
        for module in self._modules:
            module.install_monitor(mon)

    # -- running ----------------------------------------------------------------------------------

    def forward(self, data_batch, is_train=None):
        self._assert_ready()
        batch = copy.copy(data_batch)
        for module, following in zip(self._modules, [*self._modules[1:], None], strict=True):
            module.forward(batch, is_train=is_train)
            if following is None:
                return
            batch.data = module.get_outputs()
            if getattr(batch, "provide_data", None):
                shapes = [shape for _, shape in module.output_shapes]
                batch.provide_data = list(zip(following.data_names, shapes, strict=True))

    def backward(self, out_grads=None):
        self._assert_ready()
        for module in reversed(self._modules):
            module.backward(out_grads=out_grads)
            if module is not self._modules[0]:
                out_grads = module.get_input_grads()

    def update(self):
        self._assert_ready(optimizer=True)
        for module in self._modules:
            module.update()

    def get_outputs(self, merge_multi_context=True):
        self._assert_ready()
        return self._modules[-1].get_outputs(merge_multi_context)

    def get_input_grads(self, merge_multi_context=True):
        self._assert_ready()
        assert self.inputs_need_grad, "bind with inputs_need_grad=True to get gradients of inputs"
        return self._modules[0].get_input_grads(merge_multi_context)

    def update_metric(self, eval_metric, labels, pre_sliced=False):
        self._assert_ready()
        for module, meta in zip(self._modules, self._metas, strict=True):
            if meta.get(self.META_TAKE_LABELS, False):
                module.update_metric(eval_metric, labels, pre_sliced)
