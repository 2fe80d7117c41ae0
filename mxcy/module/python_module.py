"""Modules implemented in Python."""

import logging

from mxcy import ndarray as nd
from mxcy.initializer import Uniform
from mxcy.module.base_module import BaseModule

__all__ = ["PythonLossModule", "PythonModule"]


class PythonModule(BaseModule):
    """Base class of modules without parameters.

    A subclass defines `forward`, `backward`, `get_outputs`, `get_input_grads` and
    `_compute_output_shapes`.

    Parameters
    ----------
    data_names : list of str
        Names of the inputs.
    label_names : list of str or None
        Names of the labels.
    output_names : list of str
        Names of the outputs.
    logger : Logger
        Destination of messages.
    """

    def __init__(self, data_names, label_names, output_names, logger=logging):
        super().__init__(logger)
        self._data_names = list(data_names)
        self._label_names = None if label_names is None else list(label_names)
        self._output_names = output_names
        self._data_shapes = self._label_shapes = self._output_shapes = None

    @property
    def data_names(self):
        return self._data_names

    @property
    def output_names(self):
        return self._output_names

    @property
    def data_shapes(self):
        return self._data_shapes

    @property
    def label_shapes(self):
        return self._label_shapes

    @property
    def output_shapes(self):
        return self._output_shapes

    def get_params(self):
        """Return two empty dicts: there are no parameters."""
        return {}, {}

    def init_params(
        self,
        initializer=Uniform(0.01),  # noqa: B008
        arg_params=None,
        aux_params=None,
        allow_missing=False,
        force_init=False,
        allow_extra=False,
    ):
        """Do nothing: there are no parameters."""
        self.params_initialized = True

    def init_optimizer(
        self,
        kvstore="local",
        optimizer="sgd",
        optimizer_params=(("learning_rate", 0.01),),
        force_init=False,
    ):
        """Do nothing: there are no parameters."""
        self.optimizer_initialized = True

    def update(self):
        """Do nothing: there are no parameters."""

    def update_metric(self, eval_metric, labels, pre_sliced=False):
        if self._label_shapes is None:
            return
        if pre_sliced:
            raise RuntimeError("PythonModule does not support presliced labels")
        eval_metric.update_dict(
            dict(zip(self._label_names, labels, strict=True)),
            dict(zip(self._output_names, self.get_outputs(), strict=True)),
        )

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
        assert grad_req == "write", "Python module only support write gradient"
        for names, shapes, kind in (
            (self._data_names, data_shapes, "data"),
            (self._label_names, label_shapes, "label"),
        ):
            if shapes is not None:
                assert [desc[0] for desc in shapes] == names, (
                    f"{kind}_shapes must be for {names}, got {[desc[0] for desc in shapes]}"
                )
        self.for_training = for_training
        self.inputs_need_grad = inputs_need_grad
        self._data_shapes, self._label_shapes = data_shapes, label_shapes
        self._output_shapes = self._compute_output_shapes()
        self.binded = True

    def _compute_output_shapes(self):
        """Return a list of (name, shape) of the outputs; defined by subclasses."""
        raise self._refuse("_compute_output_shapes")


class PythonLossModule(PythonModule):
    """A loss at the end of a chain: outputs its input and computes the gradient.

    Parameters
    ----------
    name : str
        The output is called ``name_output``.
    data_names, label_names : list of str
        One name each.
    logger : Logger
        Destination of messages.
    grad_func : callable, optional
        ``grad_func(scores, labels)`` returns the gradient of the scores, array-like. A subclass
        can define `_backward_impl` instead.
    """

    def __init__(
        self,
        name="pyloss",
        data_names=("data",),
        label_names=("softmax_label",),
        logger=logging,
        grad_func=None,
    ):
        super().__init__(data_names, label_names, [name + "_output"], logger)
        assert len(data_names) == 1 and len(label_names) == 1, "a loss has one input and one label"
        assert grad_func is None or callable(grad_func), "grad_func must be a function"
        self._name = name
        self._grad_func = grad_func
        self._scores = self._labels = self._scores_grad = None

    def _compute_output_shapes(self):
        return [(self._name + "_output", self._data_shapes[0][1])]

    def forward(self, data_batch, is_train=None):
        self._scores = data_batch.data[0]
        if self.for_training if is_train is None else is_train:
            self._labels = data_batch.label[0]

    def get_outputs(self, merge_multi_context=True):
        assert merge_multi_context is True, "the scores are on one device: merge them"
        return [self._scores]

    def backward(self, out_grads=None):
        assert out_grads is None, "For a loss module, out_grads should be None"
        assert self.for_training, "re-bind with for_training=True to run backward"
        self._backward_impl()

    def _backward_impl(self):
        """Set `_scores_grad`."""
        if self._grad_func is None:
            raise self._refuse("grad_func")
        gradient = self._grad_func(self._scores, self._labels)
        self._scores_grad = gradient if isinstance(gradient, nd.NDArray) else nd.array(gradient)

    def get_input_grads(self, merge_multi_context=True):
        assert merge_multi_context is True, "the gradients are on one device: merge them"
        return [self._scores_grad]

    def install_monitor(self, mon):
        """Do nothing: there are no operators to monitor."""
