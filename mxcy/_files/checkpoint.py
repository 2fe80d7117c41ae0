"""Checkpoints: a symbol as JSON, parameters as named arrays."""

import logging
import operator

from mxcy import ndarray as nd

__all__ = [
    "file_name",
    "join_params",
    "load_checkpoint",
    "load_params",
    "save_checkpoint",
    "split_params",
]


def file_name(prefix, epoch, kind="params"):
    """Return the name of a checkpoint file, such as ``prefix-0001.params``.

    Parameters
    ----------
    prefix : str
    epoch : int
    kind : str
        ``'params'`` or ``'states'``.

    Raises
    ------
    TypeError
        If `epoch` is not an integer.
    """
    try:
        return f"{prefix}-{operator.index(epoch):04d}.{kind}"
    except TypeError:
        raise TypeError(f"epoch: expected an integer, got {epoch!r}") from None


def join_params(arg_params, aux_params):
    """Merge parameters and auxiliary states into one dict, prefixing names by their kind.

    Parameters
    ----------
    arg_params, aux_params : dict of str to NDArray
        The arrays.

    Returns
    -------
    dict of str to NDArray
        Arrays named ``'arg:...'`` and ``'aux:...'``.
    """
    joined = {f"arg:{name}": array for name, array in arg_params.items()}
    joined.update((f"aux:{name}", array) for name, array in (aux_params or {}).items())
    return joined


def split_params(joined, source):
    """Undo `join_params`.

    Parameters
    ----------
    joined : dict of str to NDArray
        The arrays; an empty list, from an empty file, means none.
    source : str
        Origin of the arrays, for messages.

    Returns
    -------
    arg_params, aux_params : dict of str to NDArray

    Raises
    ------
    ValueError
        If a name lacks the prefix of its kind.
    """
    kinds = {"arg": {}, "aux": {}}
    for name in joined:
        kind, colon, name_of_array = name.partition(":") if isinstance(name, str) else ("", "", "")
        if not colon or kind not in kinds:
            raise ValueError(f"Invalid param file {source}: its names must begin with arg: or aux:")
        kinds[kind][name_of_array] = joined[name]
    return kinds["arg"], kinds["aux"]


def save_checkpoint(prefix, epoch, symbol, arg_params, aux_params, remove_amp_cast=True):
    """Write ``prefix-symbol.json`` and, for example, ``prefix-0001.params``.

    Parameters
    ----------
    prefix : str
        Prefix of the file names.
    epoch : int
        Epoch number in the file name.
    symbol : Symbol or None
        The network; if None, its file is not written.
    arg_params, aux_params : dict of str to NDArray
        Parameters and auxiliary states.
    remove_amp_cast : bool
        Whether to omit casts of automatic mixed precision.
    """
    if symbol is not None:
        symbol.save(f"{prefix}-symbol.json", remove_amp_cast=remove_amp_cast)
    params = file_name(prefix, epoch)
    nd.save(params, join_params(arg_params, aux_params))
    logging.info('Saved checkpoint to "%s"', params)


def load_params(prefix, epoch):
    """Read the parameters written by `save_checkpoint`.

    Parameters
    ----------
    prefix : str
        Prefix of the file name.
    epoch : int
        Epoch number in the file name.

    Returns
    -------
    arg_params, aux_params : dict of str to NDArray

    Raises
    ------
    ValueError
        If the file has other contents.
    """
    name = file_name(prefix, epoch)
    joined = nd.load(name)
    if not joined:
        logging.warning("Params file '%s' is empty", name)
    return split_params(joined, name)


def load_checkpoint(prefix, epoch):
    """Read the files written by `save_checkpoint`.

    Parameters
    ----------
    prefix : str
        Prefix of the file names.
    epoch : int
        Epoch number in the file name.

    Returns
    -------
    symbol : Symbol
    arg_params, aux_params : dict of str to NDArray

    Raises
    ------
    ValueError
        If the parameter file has other contents.
    """
    from mxcy import symbol

    network = symbol.load(f"{prefix}-symbol.json")
    return (network, *load_params(prefix, epoch))
