"""Checkpoints in which the weights of recurrent cells are divided by gates."""

import warnings

from mxcy._files.checkpoint import load_checkpoint, save_checkpoint
from mxcy.rnn.cell import BaseRNNCell

__all__ = ["do_rnn_checkpoint", "load_rnn_checkpoint", "rnn_unroll", "save_rnn_checkpoint"]


def _listed(cells):
    return [cells] if isinstance(cells, BaseRNNCell) else cells


def rnn_unroll(cell, length, inputs=None, begin_state=None, input_prefix="", layout="NTC"):
    """Call ``cell.unroll``, the newer name of it.

    Parameters
    ----------
    cell : BaseRNNCell
    length, inputs, begin_state, layout
        See `BaseRNNCell.unroll`.
    input_prefix : str
        Without effect, as inputs are always given.

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
        What the names of both files begin with.
    epoch : int
    symbol : Symbol
    arg_params, aux_params : dict of str to NDArray
        Parameters and auxiliary states, as a module has them.
    """
    for cell in _listed(cells):
        arg_params = cell.unpack_weights(arg_params)
    save_checkpoint(prefix, epoch, symbol, arg_params, aux_params)


def load_rnn_checkpoint(cells, prefix, epoch):
    """Read a checkpoint that `save_rnn_checkpoint` has written.

    Parameters
    ----------
    cells : BaseRNNCell or list of BaseRNNCell
        The cells of the network; others than those that wrote it will do, such as unfused ones.
    prefix : str
    epoch : int

    Returns
    -------
    symbol : Symbol
    arg_params, aux_params : dict of str to NDArray
        With packed weights.
    """
    symbol, arg_params, aux_params = load_checkpoint(prefix, epoch)
    for cell in _listed(cells):
        arg_params = cell.pack_weights(arg_params)
    return symbol, arg_params, aux_params


def do_rnn_checkpoint(cells, prefix, period=1):
    """Make a callback for the ends of epochs that writes checkpoints with unpacked weights.

    Parameters
    ----------
    cells : BaseRNNCell or list of BaseRNNCell
    prefix : str
    period : int
        After how many epochs one is written.

    Returns
    -------
    callable
        For ``epoch_end_callback``.
    """
    period = max(1, int(period))

    def checkpoint(iter_no, sym=None, arg=None, aux=None):
        if (iter_no + 1) % period == 0:
            save_rnn_checkpoint(cells, prefix, iter_no + 1, sym, arg, aux)

    return checkpoint
