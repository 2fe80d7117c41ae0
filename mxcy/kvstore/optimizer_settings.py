"""Agreement of workers on the class and settings of an optimizer, sent as JSON."""

import warnings

from mxcy.base import MXNetError
from mxcy.dist.worlds import collectives
from mxcy.optimizer import Optimizer

__all__ = ["agree", "apply_settings", "settings_of"]

_PLAIN = (bool, int, float, str, type(None))
#: update counts, which are not shared
_COUNTS = ("num_update", "begin_num_update")


def _settings(obj):
    return {
        name: value
        for name, value in sorted(vars(obj).items())
        if isinstance(value, _PLAIN) and name not in _COUNTS
    }


def settings_of(optimizer):
    """Return class and settings of an optimizer and its scheduler.

    Parameters
    ----------
    optimizer : Optimizer

    Returns
    -------
    dict
        JSON-serializable settings.
    """
    settings = {"class": type(optimizer).__name__, "settings": _settings(optimizer)}
    scheduler = optimizer.lr_scheduler
    if scheduler is not None:
        settings["scheduler"] = [type(scheduler).__name__, _settings(scheduler)]
    return settings


def agree(world, optimizer):
    """Adopt the first worker's settings, as a generator; see `mxcy.dist.worlds.collectives`.

    Parameters
    ----------
    world : World
    optimizer : Optimizer
        This worker's optimizer, whose settings are changed.

    Yields
    ------
    request

    Returns
    -------
    Optimizer

    Raises
    ------
    MXNetError
        If the first worker's class differs and is unknown to this worker.

    Warns
    -----
    UserWarning
        If settings differ.
    """
    own = settings_of(optimizer)
    first = (yield from collectives.gather_texts(world, own))[0]
    if own == first:
        return optimizer
    differing = [
        name for name, value in first["settings"].items() if own["settings"].get(name) != value
    ]
    warnings.warn(
        f"set_optimizer: {first['class']} of rank {world.rank} differs from that of rank 0, whose "
        f"settings are used: {', '.join(differing) or 'the scheduler of rates differs'}",
        stacklevel=2,
    )
    return apply_settings(optimizer, first)


def apply_settings(optimizer, settings):
    """Apply the settings of another optimizer.

    Parameters
    ----------
    optimizer : Optimizer
    settings : dict
        See `settings_of`.

    Returns
    -------
    Optimizer
        A new one if the class differs.

    Raises
    ------
    MXNetError
        If the class is unknown in this process.
    """
    if settings["class"] != type(optimizer).__name__:
        kind = Optimizer.opt_registry.get(settings["class"].lower())
        if kind is None:
            raise MXNetError(
                f"set_optimizer: rank 0 has the optimizer {settings['class']}, which is not "
                "registered in this process"
            )
        optimizer = kind(param_dict=optimizer.param_dict, param_idx2name=optimizer.idx2name)
    for name, value in settings["settings"].items():
        setattr(optimizer, name, value)
    if optimizer.lr_scheduler is not None and "scheduler" in settings:
        for name, value in settings["scheduler"][1].items():
            setattr(optimizer.lr_scheduler, name, value)
    return optimizer
