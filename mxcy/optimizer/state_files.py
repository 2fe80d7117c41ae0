"""Files of optimizer states, validated completely before they are applied."""

import numbers

from mxcy._base.files import local_path, replacing
from mxcy.base import MXNetError
from mxcy.lr_scheduler import LRScheduler
from mxcy.ndarray._files import pickles
from mxcy.optimizer.optimizer import Optimizer

__all__ = ["load", "loads", "save"]

#: limits on the nesting depth and the number of parts of one weight's state
_MOST_LEVELS, _MOST_PARTS = 16, 65536
_NUMBER, _COUNT, _NOTHING = numbers.Real, numbers.Integral, type(None)
#: attributes that every optimizer needs
_ATTRIBUTES = {
    "rescale_grad": (_NUMBER,),
    "lr": (_NUMBER, _NOTHING),
    "lr_scheduler": (LRScheduler, _NOTHING),
    "wd": (_NUMBER,),
    "clip_gradient": (_NUMBER, _NOTHING),
    "begin_num_update": (_COUNT,),
    "num_update": (_COUNT,),
    "multi_precision": (bool,),
    "aggregate_num": (_COUNT,),
    "lr_mult": (dict,),
    "wd_mult": (dict,),
    "idx2name": (dict,),
    "_index_update_count": (dict,),
    "_all_index_update_counts": (dict,),
    "sym_info": (tuple,),
}


def save(fname, content):
    """Write serialized states to a file atomically."""
    with replacing(local_path(fname)) as file:
        file.write(content)


def load(fname, updater):
    """Load the states of a file into an updater.

    Parameters
    ----------
    fname : str
        File written by `save` or by MXNet.
    updater : Updater
        Updater, which keeps its states if the file is rejected.

    Raises
    ------
    OSError
        If the file cannot be read.
    MXNetError
        If it does not contain states; the message names the file.
    """
    path = local_path(fname)
    with open(path, "rb") as file:
        content = file.read()
    try:
        updater.set_states(content)
    except MXNetError as error:
        raise MXNetError(f"{path}: {error}") from error


def loads(content):
    """Deserialize the result of `Updater.get_states`: the states, and the optimizer if included.

    Parameters
    ----------
    content : bytes

    Returns
    -------
    states : dict of int or str to any
    optimizer : Optimizer or None

    Raises
    ------
    MXNetError
        If the bytes are damaged or are not states.
    """
    loaded = pickles.loads(content, (Optimizer, LRScheduler), "optimizer states")
    optimizer = None
    if isinstance(loaded, tuple) and len(loaded) == 2:
        loaded, optimizer = loaded
        _check_optimizer(optimizer)
    if type(loaded) is not dict:
        raise _refused(f"expected a dict, got {type(loaded).__name__}")
    for index, state in loaded.items():
        if not isinstance(index, (int, str)):
            raise _refused(f"expected int or str indices, got {index!r}")
        _check_state(index, state)
    return loaded, optimizer


def _check_state(index, state):
    """Reject states whose nesting is too deep, or cyclic."""
    waiting, parts = [(state, 0)], 0
    while waiting:
        part, level = waiting.pop()
        parts += 1
        if level > _MOST_LEVELS or parts > _MOST_PARTS:
            raise _refused(f"the state of weight {index} has too many levels or parts")
        if isinstance(part, (tuple, list)):
            waiting += [(inner, level + 1) for inner in part]


def _check_optimizer(optimizer):
    if not isinstance(optimizer, Optimizer):
        raise _refused(f"expected an optimizer, got {type(optimizer).__name__}")
    attributes = vars(optimizer)
    for name, kinds in _ATTRIBUTES.items():
        if name not in attributes:
            raise _refused(f"{type(optimizer).__name__} without {name}")
        if not isinstance(attributes[name], kinds):
            raise _refused(
                f"{type(optimizer).__name__}.{name} is {type(attributes[name]).__name__}, "
                f"expected {' or '.join(kind.__name__ for kind in kinds)}"
            )


def _refused(what):
    return MXNetError(f"optimizer states: {what}")
