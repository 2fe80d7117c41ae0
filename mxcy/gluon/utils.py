"""Helpers for training: splitting batches, clipping gradients, downloading files."""

import math
import weakref
from collections import OrderedDict

from mxcy import ndarray as nd
from mxcy._base.listing import listing
from mxcy._base.warning import warn
from mxcy._files.download import (  # noqa: F401
    _get_repo_file_url,
    _get_repo_url,
    check_sha1,
    download,
    replace_file,
)
from mxcy.base import MXNetError
from mxcy.context import as_contexts
from mxcy.ndarray import NDArray
from mxcy.util import is_np_array

__all__ = [
    "split_data",
    "split_and_load",
    "clip_global_norm",
    "check_sha1",
    "download",
    "replace_file",
    "shape_is_known",
    "split_rnn_params",
    "HookHandle",
]

__dir__ = listing(__name__)


def in_numpy(array):
    """Convert an array to this thread's array class: `mx.np.ndarray` under NumPy semantics."""
    return array.as_np_ndarray() if is_np_array() and array.stype == "default" else array


def is_mixed(outputs):
    """Whether a list mixes dense arrays of `mx.np` and `mx.nd`."""
    classes = {
        array._is_numpy
        for array in outputs
        if isinstance(array, NDArray) and array.stype == "default"
    }
    return len(classes) > 1


class DeferredInitializationError(MXNetError):
    """A parameter's array was requested before its shape was known."""


def split_data(data, num_slice, batch_axis=0, even_split=True):
    """Cut an array into slices.

    Parameters
    ----------
    data : NDArray
        The batch.
    num_slice : int
        Number of slices.
    batch_axis : int
        Axis to cut.
    even_split : bool
        Raise if the extent is not a multiple of `num_slice`; otherwise the first slices are longer,
        and without enough entries the last ones are empty.

    Returns
    -------
    list of NDArray

    Raises
    ------
    ValueError
        If `even_split` is true and the batch cannot be cut evenly.
    """
    size = data.shape[batch_axis]
    if even_split and size % num_slice != 0:
        raise ValueError(
            f"data with shape {data.shape} cannot be evenly split into {num_slice} slices along "
            f"axis {batch_axis}. Use a batch size that's multiple of {num_slice} or set "
            "even_split=False to allow uneven partitioning of data."
        )
    step, longer = divmod(size, num_slice)
    ends = [step * i + min(i, longer) for i in range(1, num_slice + 1)]
    if batch_axis == 0:
        return [data[begin:end] for begin, end in zip([0, *ends], ends, strict=False)]
    return [
        nd.slice_axis(data, axis=batch_axis, begin=begin, end=end)
        for begin, end in zip([0, *ends], ends, strict=False)
    ]


def split_and_load(data, ctx_list, batch_axis=0, even_split=True):
    """Cut a batch into one slice per context and copy each to its context.

    Parameters
    ----------
    data : NDArray or array_like
        The batch.
    ctx_list : Context, str or list of these
        The contexts.
    batch_axis : int
        Axis to cut.
    even_split : bool
        See `split_data`.

    Returns
    -------
    list of NDArray
    """
    contexts = as_contexts(ctx_list)
    if not isinstance(data, NDArray):
        data = in_numpy(nd.array(data, ctx=contexts[0]))
    if len(contexts) == 1:
        return [data.as_in_context(contexts[0])]
    slices = split_data(data, len(contexts), batch_axis, even_split)
    return [part.as_in_context(ctx) for part, ctx in zip(slices, contexts, strict=True)]


def clip_global_norm(arrays, max_norm, check_isfinite=True):
    """Scale arrays in place by a common factor so that their global 2-norm is at most `max_norm`.

    Parameters
    ----------
    arrays : list of NDArray
        The arrays, usually gradients.
    max_norm : float
        Largest norm allowed.
    check_isfinite : bool
        Warn if the norm is nan or inf, and return a float; otherwise return an array.

    Returns
    -------
    float or NDArray
        The norm before scaling; an array of shape (1,) if `check_isfinite` is false.
    """
    assert len(arrays) > 0, "clip_global_norm needs at least one array"
    ctx = arrays[0].context
    squares = [nd.square(array.astype("float32")).sum().as_in_context(ctx) for array in arrays]
    norm = nd.sqrt(sum(squares[1:], squares[0]))
    if check_isfinite:
        norm = norm.as_nd_ndarray().asscalar()
        if not math.isfinite(norm):
            warn("nan or inf is detected. Clipping results will be undefined.")
        scale = max_norm / (norm + 1e-8)
        if scale < 1.0:
            for array in arrays:
                array *= scale
        return float(norm)
    scale = nd.minimum(max_norm / (norm + 1e-8), 1.0)
    for array in arrays:
        array *= scale.astype(array.dtype).as_in_context(array.context)
    return norm


def shape_is_known(shape):
    """Return whether all extents of a shape are known.

    Parameters
    ----------
    shape : tuple of int or None
        The shape; 0 and -1 mark unknown extents.

    Returns
    -------
    bool
    """
    if shape is None:
        return False
    if all(extent > 0 for extent in shape):
        return True
    assert min(shape) >= -1, f"expected a shape of non-negative sizes, got {tuple(shape)}"
    return False


def split_rnn_params(
    param, mode, num_layers, input_size, hidden_size, bidirectional=False, projection_size=None
):
    """Split the flat parameter vector of operator RNN into the layers' weights and biases.

    Parameters
    ----------
    param : NDArray
        The operator's concatenated parameters.
    mode : {'rnn_relu', 'rnn_tanh', 'lstm', 'gru'}
        Type of the cells.
    num_layers, input_size, hidden_size : int
        Number of layers, and sizes of inputs and states.
    bidirectional : bool
        Whether there are two directions.
    projection_size : int, optional
        Size of projected states.

    Returns
    -------
    dict of str to NDArray
        Keyed by names such as ``l0_i2h_weight``; ``l`` and ``r`` are the directions.
    """
    shapes = rnn_shapes(mode, num_layers, input_size, hidden_size, bidirectional, projection_size)
    pieces, begin = {}, 0
    for name, shape in shapes.items():
        end = begin + math.prod(shape)
        pieces[name], begin = param[begin:end].reshape(shape), end
    return pieces


def rnn_shapes(mode, num_layers, input_size, hidden_size, bidirectional, projection_size):
    """The shapes of `split_rnn_params`'s results, by name and in the operator's order."""
    from mxcy.ops.recurrent.cells import CELLS

    rows, width = CELLS[mode].gates * hidden_size, projection_size or hidden_size
    directions = ("l", "r") if bidirectional else ("l",)
    layers = [f"{direction}{layer}" for layer in range(num_layers) for direction in directions]
    shapes = {}
    for number, layer in enumerate(layers):
        first = number < len(directions)
        source = input_size if first else width * len(directions)
        shapes[f"{layer}_i2h_weight"] = (rows, source)
        shapes[f"{layer}_h2h_weight"] = (rows, width)
        if projection_size:
            shapes[f"{layer}_h2r_weight"] = (projection_size, hidden_size)
    for layer in layers:
        shapes[f"{layer}_i2h_bias"] = shapes[f"{layer}_h2h_bias"] = (rows,)
    return shapes


class HookHandle:
    """Removes a hook: by `detach`, or at the end of a ``with`` statement."""

    def __init__(self):
        self._hooks = None
        self._id = None

    def attach(self, hooks_dict, hook):
        """Add a hook to a dictionary.

        Parameters
        ----------
        hooks_dict : OrderedDict
            The hooks, by the ids of their handles.
        hook : callable
            The hook.
        """
        assert not self._hooks, "The same handle cannot be attached twice."
        self._id = id(hook)
        hooks_dict[self._id] = hook
        self._hooks = weakref.ref(hooks_dict)

    def detach(self):
        """Remove the hook; further calls have no effect."""
        hooks = self._hooks() if self._hooks else None
        if hooks is not None:
            hooks.pop(self._id, None)

    def __enter__(self):
        return self

    def __exit__(self, ptype, value, trace):
        self.detach()

    def __getstate__(self):
        return (self._hooks() if self._hooks else None, self._id)

    def __setstate__(self, state):
        hooks, self._id = state
        self._hooks = weakref.ref(OrderedDict() if hooks is None else hooks)
