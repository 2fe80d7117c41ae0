"""Files of trained networks: a symbol as JSON, parameters as arrays with names."""

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
    """The name of a checkpoint's file, such as ``prefix-0001.params``.

    Parameters
    ----------
    prefix : str
    epoch : int
    kind : str
        ``'params'`` or ``'states'``.

    Raises
    ------
    TypeError
        When `epoch` is no integer.
    """
    try:
        return f"{prefix}-{operator.index(epoch):04d}.{kind}"
    except TypeError:
        raise TypeError(f"epoch: expected an integer, got {epoch!r}") from None


def join_params(arg_params, aux_params):
    """Parameters and auxiliary states in one dict, their kind before each name.

    Parameters
    ----------
    arg_params, aux_params : dict of str to NDArray
        The arrays.

    Returns
    -------
    dict of str to NDArray
        With names ``'arg:...'`` and ``'aux:...'``.
    """
    joined = {f"arg:{name}": array for name, array in arg_params.items()}
    joined.update((f"aux:{name}", array) for name, array in (aux_params or {}).items())
    return joined


def split_params(joined, source):
    """Undo `join_params`.

    Parameters
    ----------
    joined : dict of str to NDArray
        The arrays; an empty list, as an empty file gives, is no arrays.
    source : str
        Where they come from, for the message.

    Returns
    -------
    arg_params, aux_params : dict of str to NDArray

    Raises
    ------
    ValueError
        When names do not begin with their kind.
    """
    kinds = {"arg": {}, "aux": {}}
    for name in joined:
        kind, colon, name_of_array = name.partition(":") if isinstance(name, str) else ("", "", "")
        if not colon or kind not in kinds:
            raise ValueError(f"Invalid param file {source}: its names must begin with arg: or aux:")
        kinds[kind][name_of_array] = joined[name]
    return kinds["arg"], kinds["aux"]


def save_checkpoint(prefix, epoch, symbol, arg_params, aux_params, remove_amp_cast=True):
    """Write ``prefix-symbol.json`` and ``prefix-0001.params`` or the like.

    Parameters
    ----------
    prefix : str
        What the names of the files start with.
    epoch : int
        The number in the name.
    symbol : Symbol or None
        The network; its file is not written when it is None.
    arg_params, aux_params : dict of str to NDArray
        Parameters and auxiliary states.
    remove_amp_cast : bool
        Whether to leave out casts of automatic mixed precision.
    """
    if symbol is not None:
        symbol.save(f"{prefix}-symbol.json", remove_amp_cast=remove_amp_cast)
    params = file_name(prefix, epoch)
    nd.save(params, join_params(arg_params, aux_params))
    logging.info('Saved checkpoint to "%s"', params)


def load_params(prefix, epoch):
    """Read the parameters that `save_checkpoint` wrote.

    Parameters
    ----------
    prefix : str
        What the name of the file starts with.
    epoch : int
        The number in it.

    Returns
    -------
    arg_params, aux_params : dict of str to NDArray

    Raises
    ------
    ValueError
        When the file holds something else.
    """
    name = file_name(prefix, epoch)
    joined = nd.load(name)
    if not joined:
        logging.warning("Params file '%s' is empty", name)
    return split_params(joined, name)


def load_checkpoint(prefix, epoch):
    """Read what `save_checkpoint` wrote.

    Parameters
    ----------
    prefix : str
        What the names of the files start with.
    epoch : int
        The number in the name.

    Returns
    -------
    symbol : Symbol
    arg_params, aux_params : dict of str to NDArray

    Raises
    ------
    ValueError
        When the file of the parameters holds something else.
    """
    from mxcy import symbol

    network = symbol.load(f"{prefix}-symbol.json")
    return (network, *load_params(prefix, epoch))
