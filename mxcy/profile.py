"""Which generation of MXNet decides where 1.x and 2.x disagree and both cannot be served.

The value comes from the environment (MXCY_MXNET), from the command line of `mxcy.compat`, or from
`mx.util.set_profile`. Few places ask for it, each in one line: `tests/test_profile.py` lists them.
"""

from typing import NamedTuple

from mxcy import env

__all__ = [
    "PROFILES",
    "Profile",
    "current",
    "follow",
    "is_mxnet_2",
    "saves_as_numpy",
    "set_current",
]

#: profile -> the release whose behaviour it has
PROFILES = {"1.9": "1.9.1", "2.0": "2.0.0"}


class Profile(NamedTuple):
    """A generation of MXNet, and who chose it."""

    name: str
    origin: str


class _InForce:
    profile = Profile(
        env.get("MXCY_MXNET"), "MXCY_MXNET" if env.raw("MXCY_MXNET") else "the default"
    )
    mxnet_2 = profile.name == "2.0"
    followers = []


def current():
    """Profile: the one in force."""
    return _InForce.profile


def is_mxnet_2():
    """Whether MXNet 2 decides."""
    return _InForce.mxnet_2


def saves_as_numpy():
    """Whether arrays go to NumPy's files (.npy, .npz), as MXNet 2 does, or to MXNet's own."""
    return _InForce.mxnet_2


def follow(function):
    """Call ``function(mxnet_2)`` now, and again whenever a profile is chosen."""
    _InForce.followers.append(function)
    function(_InForce.mxnet_2)


def set_current(version, origin):
    """Choose the profile of a release.

    Parameters
    ----------
    version : str
        Of MXNet, such as ``"2.0"`` or ``"1.9.1"``: all releases 1.x mean the profile "1.9".
    origin : str
        Who says so.

    Returns
    -------
    Profile
        The one before.

    Raises
    ------
    ValueError
        When there is no such release.
    """
    names = {"0": "1.9", "1": "1.9", "2": "2.0"}
    name = names.get(str(version).partition(".")[0])
    if name is None:
        raise ValueError(f"a profile is one of {', '.join(PROFILES)}, got {version!r}")
    before, _InForce.profile = _InForce.profile, Profile(name, origin)
    _InForce.mxnet_2 = name == "2.0"
    for function in _InForce.followers:
        function(_InForce.mxnet_2)
    return before
