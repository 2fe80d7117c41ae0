"""`mx.np.random`: random arrays out of the current device's streams, MXNet 2's for a seed."""

from mxcy import random as streams
from mxcy._base.suggestions import no_attribute
from mxcy.numpy._random import continuous, discrete
from mxcy.numpy._random.continuous import *  # noqa: F403
from mxcy.numpy._random.discrete import *  # noqa: F403

__all__ = [*continuous.__all__, *discrete.__all__, "get_state", "seed", "set_state"]

get_state, set_state = streams.get_state, streams.set_state


#: what to do without names that many programs use
_INSTEAD = {
    "default_rng": "np.random.seed(n) starts the engine that np.random.normal() and its like use"
}


def __getattr__(name):
    raise no_attribute(__name__, name, instead=_INSTEAD.get(name))


def __dir__():
    return sorted(__all__)


def seed(seed_state, device="all"):
    """Start all random streams of a device afresh, as `mx.random.seed` does.

    Parameters
    ----------
    seed_state : int
    device : Device or str, default 'all'
    """
    streams.seed(seed_state, device)
