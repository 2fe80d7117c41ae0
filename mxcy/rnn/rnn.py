"""Checkpoints with the weights of recurrent cells unpacked by gates."""

import warnings

from mxcy._files.checkpoint import load_checkpoint, save_checkpoint
from mxcy.rnn.cell import BaseRNNCell

__all__ = ["do_rnn_checkpoint", "load_rnn_checkpoint", "rnn_unroll", "save_rnn_checkpoint"]


def _listed(cells):
    return [cells] if isinstance(cells, BaseRNNCell) else cells


def rnn_unroll(cell, length, inputs=None, begin_state=None, input_prefix="", layout="NTC"):
    """Call ``cell.unroll``, which replaces this function.

    Parameters
    ----------
    cell : BaseRNNCell
    length, inputs, begin_state, layout
        See `BaseRNNCell.unroll`.
    input_prefix : str
        Ignored, as inputs are always given.

    Returns
    -------
    outputs : Symbol or list of Symbol
    states : list of Symbol
    """
    warnings.warn("rnn_unroll is deprecated; call cell.unroll", DeprecationWarning, stacklevel=2)
    return cell.unroll(length, inputs, begin_state=begin_state, layout=layout)


def save_rnn_checkpoint(cells, prefix, epoch, symbol, arg_params, aux_params):
    """Write a checkpoint with unpacked weights.

    Parameters
    ----------
    cells : BaseRNNCell or list of BaseRNNCell
        The cells of the network.
    prefix : str
        Prefix of both file names.
    epoch : int
    symbol : Symbol
    arg_params, aux_params : dict of str to NDArray
        Parameters and auxiliary states of a module.
    """
    for cell in _listed(cells):
        arg_params = cell.unpack_weights(arg_params)
    save_checkpoint(prefix, epoch, symbol, arg_params, aux_params)


def load_rnn_checkpoint(cells, prefix, epoch):
    """Read a checkpoint written by `save_rnn_checkpoint`.

    Parameters
    ----------
    cells : BaseRNNCell or list of BaseRNNCell
        The cells of the network, which may differ from those of the writer, e.g. unfused ones.
    prefix : str
    epoch : int

    Returns
    -------
    symbol : Symbol
    arg_params, aux_params : dict of str to NDArray
        Parameters with packed weights, and auxiliary states.
    """
    symbol, arg_params, aux_params = load_checkpoint(prefix, epoch)
    for cell in _listed(cells):
        arg_params = cell.pack_weights(arg_params)
    return symbol, arg_params, aux_params


def do_rnn_checkpoint(cells, prefix, period=1):
    """Create an epoch-end callback that writes checkpoints with unpacked weights.

    Parameters
    ----------
    cells : BaseRNNCell or list of BaseRNNCell
    prefix : str
    period : int
        Interval between checkpoints, in epochs.

    Returns
    -------
    callable
        Callback for ``epoch_end_callback``.
    """
    period = max(1, int(period))

    def checkpoint(iter_no, sym=None, arg=None, aux=None):
        if (iter_no + 1) % period == 0:
            save_rnn_checkpoint(cells, prefix, iter_no + 1, sym, arg, aux)

    return checkpoint
