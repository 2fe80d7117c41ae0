"""Automatic differentiation: recording scopes and functions with custom gradients.

`mxcy.ndarray.gradients` walks the tape.
"""

from mxcy._base import older_paths
from mxcy._base.errors import TracedValueError
from mxcy._base.listing import listing
from mxcy._library import front
from mxcy.base import MXNetError
from mxcy.ndarray import NDArray
from mxcy.ndarray.gradients import as_list, backward, grad, mark_variables
from mxcy.ndarray.register import F

__all__ = [
    "NDArray",
    "record",
    "pause",
    "train_mode",
    "predict_mode",
    "is_recording",
    "is_training",
    "set_recording",
    "set_training",
    "mark_variables",
    "backward",
    "grad",
    "get_symbol",  # noqa: F822  provided by __getattr__
    "Function",
]

__getattr__ = older_paths.offer(__name__, "mxcy.symbol.recorded", ("get_symbol",))
__dir__ = listing(__name__)

is_recording = front.is_recording
is_training = front.is_training


def set_recording(is_recording):
    """Switch recording on this thread; returns the previous state."""
    return front.set_recording(bool(is_recording))


def set_training(train_mode):
    """Switch between training and prediction on this thread; returns the previous state."""
    return front.set_training(bool(train_mode))


class _Scope:
    """Sets recording and training mode (None: unchanged) in a ``with`` statement."""

    def __init__(self, recording, training):
        self._recording, self._training = recording, training
        self._before = []

    def __enter__(self):
        before = [None, None]
        if self._recording is not None:
            before[0] = front.set_recording(self._recording)
        if self._training is not None:
            before[1] = front.set_training(self._training)
        self._before.append(before)

    def __exit__(self, *error):
        recording, training = self._before.pop()
        if recording is not None:
            front.set_recording(recording)
        if training is not None:
            front.set_training(training)


def record(train_mode=True):
    """A scope whose operations are recorded for `backward`.

    Parameters
    ----------
    train_mode : bool
        Whether operators such as Dropout run in training mode inside.
    """
    return _Scope(True, train_mode)


def pause(train_mode=False):
    """A scope whose operations are not recorded."""
    return _Scope(False, train_mode)


def train_mode():
    """A scope in training mode; recording is unchanged."""
    return _Scope(None, True)


def predict_mode():
    """A scope in prediction mode; recording is unchanged."""
    return _Scope(None, False)


class Function:
    """An operation with user-defined `forward` and `backward`, for use in `record`.

    Derive from it, implement both methods on NDArrays, and call an instance. Arrays passed to
    `save_for_backward` are in `saved_tensors` during backward.
    """

    def __init__(self):
        self._saved = ()

    def save_for_backward(self, *args):
        """Keep arrays for `backward`."""
        self._saved = args

    @property
    def saved_tensors(self):
        """The arrays passed to `save_for_backward`."""
        return self._saved

    def forward(self, *inputs):
        """Compute the outputs from the inputs."""
        raise NotImplementedError(f"{type(self).__name__}.forward is not defined")

    def backward(self, *output_grads):
        """Compute the inputs' gradients from the outputs' gradients."""
        raise NotImplementedError(f"{type(self).__name__}.backward is not defined")

    def __call__(self, *inputs):
        if front.is_deferred():
            raise TracedValueError(
                f"deferred computation: {type(self).__name__} defines its own backward"
            )
        with pause(train_mode=is_training()):
            outputs = self.forward(*inputs)
        listed = as_list(outputs)
        if is_recording() and any([front.history(array) is not None for array in inputs]):
            node = front.Node()
            node.custom = self
            node.parents = tuple(array.node for array in inputs)
            node.positions = tuple(array.node_index for array in inputs)
            # The tape node of a returned input must not change: record a view of it.
            listed = [a.detach() if any(a is i for i in inputs) else a for a in listed]
            for i, array in enumerate(listed):
                array.node, array.node_index = node, i
            self._input_shapes = [array.shape for array in inputs]
            self._outputs = [(array.shape, array.dtype, array.context) for array in listed]
            self._are_numpy = [array._is_numpy for array in listed]
        return listed if isinstance(outputs, (list, tuple)) else listed[0]

    def _gradients(self, arrived, keep):
        heads = [
            arrived[i] if i in arrived else F._zeros(shape=shape, dtype=dtype, ctx=str(context))
            for i, (shape, dtype, context) in enumerate(self._outputs)
        ]
        heads = [g.as_np_ndarray() if self._are_numpy[i] else g for i, g in enumerate(heads)]
        gradients = as_list(self.backward(*heads))
        if len(gradients) != len(self._input_shapes):
            raise ValueError(
                f"{type(self).__name__}.backward: expected {len(self._input_shapes)} gradients, "
                f"one for each input, got {len(gradients)}"
            )
        return [
            None if gradient is None else self._fitted(gradient, shape)
            for gradient, shape in zip(gradients, self._input_shapes, strict=True)
        ]

    def _fitted(self, gradient, shape):
        """Broadcast a gradient to its input's shape, as MXNet does."""
        if not isinstance(gradient, NDArray):
            raise TypeError(
                f"{type(self).__name__}.backward must return NDArrays, "
                f"got {type(gradient).__name__}"
            )
        if gradient.shape == shape:
            return gradient
        try:
            return gradient.broadcast_to(shape)
        except (MXNetError, ValueError) as error:
            raise MXNetError(
                f"{type(self).__name__}.backward: expected a gradient of shape {shape}, the "
                f"input's, got {gradient.shape}"
            ) from error
