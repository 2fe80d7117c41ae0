"""The interface of modules."""

import logging

from mxcy._base.warning import warn
from mxcy.initializer import Uniform

__all__ = ["ModuleInterface"]


class ModuleInterface:
    """Methods that subclasses of `BaseModule` define.

    A module is constructed, bound to shapes (`bind`), and given parameters (`init_params`,
    `set_params`) and an optimizer (`init_optimizer`). After that `forward`, `backward` and `update`
    are available, and the methods of `BaseModule` built on them.

    Parameters
    ----------
    logger : Logger
        Destination of messages.

    Attributes
    ----------
    binded, params_initialized, optimizer_initialized : bool
        Completed steps.
    for_training, inputs_need_grad : bool
        Arguments of `bind`.
    """

    def __init__(self, logger=logging):
        self.logger = logger
        self.binded = False
        self.for_training = False
        self.inputs_need_grad = False
        self.params_initialized = False
        self.optimizer_initialized = False
        self._symbol = None

    def _assert_ready(self, optimizer=False):
        """Raise AssertionError, naming the missing step, unless the module is ready."""
        assert self.binded, "the module is not bound: call bind first"
        assert self.params_initialized, "the parameters are not initialized: call init_params first"
        if optimizer:
            assert self.optimizer_initialized, (
                "the optimizer is not initialized: call init_optimizer first"
            )

    def _ignores_init_params(self, force_init, what="init_params"):
        """Whether parameters are already initialized and kept; warns if so."""
        if not self.params_initialized or force_init:
            return False
        warn(f"Parameters already initialized and force_init=False. {what} call ignored.")
        return True

    # -- methods that subclasses define ------------------------------------------------------------

    def _refuse(self, what):
        return NotImplementedError(f"{type(self).__name__} has no {what}")

    @property
    def data_names(self):
        """list of str: names of the inputs."""
        raise self._refuse("data_names")

    @property
    def output_names(self):
        """list of str: names of the outputs."""
        raise self._refuse("output_names")

    @property
    def data_shapes(self):
        """list of DataDesc: descriptions of the inputs."""
        raise self._refuse("data_shapes")

    @property
    def label_shapes(self):
        """list of DataDesc: descriptions of the labels; None or empty if there are none."""
        raise self._refuse("label_shapes")

    @property
    def output_shapes(self):
        """list of (str, tuple of int): names and shapes of the outputs."""
        raise self._refuse("output_shapes")

    @property
    def symbol(self):
        """Symbol: the network, or None."""
        return self._symbol

    def get_params(self):
        """Return parameters and auxiliary states, two dicts of str to NDArray."""
        raise self._refuse("get_params")

    def init_params(
        self,
        initializer=Uniform(0.01),  # noqa: B008
        arg_params=None,
        aux_params=None,
        allow_missing=False,
        force_init=False,
        allow_extra=False,
    ):
        """Initialize parameters and auxiliary states.

        Parameters
        ----------
        initializer : Initializer, optional
            The initializer.
        arg_params, aux_params : dict of str to NDArray, optional
            Values to copy instead.
        allow_missing : bool
            Use the initializer for names missing in these dictionaries.
        force_init : bool
            Reinitialize.
        allow_extra : bool
            Ignore values with unknown names.
        """
        raise self._refuse("init_params")

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
        """Bind to shapes and allocate arrays.

        Parameters
        ----------
        data_shapes, label_shapes : list of DataDesc or of (str, tuple of int)
            Inputs and labels; usually the iterator's `provide_data` and `provide_label`.
        for_training : bool
            Whether `backward` will be called.
        inputs_need_grad : bool
            Whether to compute gradients of the inputs.
        force_rebind : bool
            Rebind a module that is already bound.
        shared_module : BaseModule, optional
            A module to share parameters with.
        grad_req : str, list of str or dict of str to str
            Whether gradients are written ('write'), added ('add') or not computed ('null').
        """
        raise self._refuse("bind")

    def init_optimizer(
        self,
        kvstore="local",
        optimizer="sgd",
        optimizer_params=(("learning_rate", 0.01),),
        force_init=False,
    ):
        """Create the optimizer.

        Parameters
        ----------
        kvstore : str, KVStore or None
            Store that sums gradients over devices.
        optimizer : str or Optimizer
            The optimizer.
        optimizer_params : dict or sequence of pairs
            Arguments of an optimizer given by name.
        force_init : bool
            Replace an existing optimizer.
        """
        raise self._refuse("init_optimizer")

    def prepare(self, data_batch, sparse_row_id_fn=None):
        """Prepare for the next batch.

        Parameters
        ----------
        data_batch : DataBatch
            The batch.
        sparse_row_id_fn : callable, optional
            Returns the rows of sparse parameters needed by the batch.
        """
        if sparse_row_id_fn is not None:
            warn("sparse_row_id_fn is not invoked for BaseModule.")

    def forward(self, data_batch, is_train=None):
        """Compute the outputs.

        Parameters
        ----------
        data_batch : DataBatch
            The inputs.
        is_train : bool, optional
            Training mode; defaults to `for_training` of `bind`.
        """
        raise self._refuse("forward")

    def backward(self, out_grads=None):
        """Compute gradients.

        Parameters
        ----------
        out_grads : NDArray or list of NDArray, optional
            Gradients of the outputs; not needed for losses.
        """
        raise self._refuse("backward")

    def update(self):
        """Update the parameters with the gradients of the last `backward`."""
        raise self._refuse("update")

    def update_metric(self, eval_metric, labels, pre_sliced=False):
        """Update a metric with the outputs.

        Parameters
        ----------
        eval_metric : EvalMetric
            The metric.
        labels : list of NDArray, or one such list per device
            The labels.
        pre_sliced : bool
            Whether `labels` has one list per device.
        """
        raise self._refuse("update_metric")

    def get_outputs(self, merge_multi_context=True):
        """Return the outputs of the last `forward`.

        Parameters
        ----------
        merge_multi_context : bool
            Concatenate the parts of several devices.

        Returns
        -------
        list of NDArray, or list of list of NDArray
        """
        raise self._refuse("get_outputs")

    def get_input_grads(self, merge_multi_context=True):
        """Return the gradients of the inputs, see `get_outputs`."""
        raise self._refuse("get_input_grads")

    def get_states(self, merge_multi_context=True):
        """Return the states, see `get_outputs`; there are none by default."""
        self._assert_ready()
        assert not merge_multi_context, "states are kept for each device: do not merge them"
        return []

    def set_states(self, states=None, value=None):
        """Set the states.

        Parameters
        ----------
        states : list of list of NDArray, optional
            For each state, one array per device.
        value : float, optional
            Value for all states.
        """
        self._assert_ready()
        assert not states and not value, f"{type(self).__name__} has no states"

    def install_monitor(self, mon):
        """Install a monitor on the arrays.

        Parameters
        ----------
        mon : Monitor
            The monitor.
        """
        raise self._refuse("install_monitor")
