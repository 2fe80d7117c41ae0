"""`mx.np.random`: random sampling from the device's streams, reproducing MXNet 2's."""

from mxcy import random as streams
from mxcy._base.suggestions import no_attribute
from mxcy.numpy._random import continuous, discrete
from mxcy.numpy._random.continuous import *  # noqa: F403
from mxcy.numpy._random.discrete import *  # noqa: F403

__all__ = [*continuous.__all__, *discrete.__all__, "get_state", "seed", "set_state"]

get_state, set_state = streams.get_state, streams.set_state


#: hints for NumPy names that are missing here
_INSTEAD = {
    "default_rng": "np.random.seed(n) seeds the generator behind np.random.normal() and the others"
}


def __getattr__(name):
    raise no_attribute(__name__, name, instead=_INSTEAD.get(name))


def __dir__():
    return sorted(__all__)


def seed(seed_state, device="all"):
    """Seed all random streams of a device, as `mx.random.seed` does.

    Parameters
    ----------
    seed_state : int
    device : Device or str, default 'all'
    """
    streams.seed(seed_state, device)
