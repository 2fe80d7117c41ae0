"""The MXNet generation to follow where 1.x and 2.x contradict each other.

It is set by the environment (MXCY_MXNET), the command line of `mxcy.compat`, or
`mx.util.set_profile`. Few places depend on it, each in one line: `tests/test_profile.py` lists
them.
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

#: profile -> the release it follows
PROFILES = {"1.9": "1.9.1", "2.0": "2.0.0"}


class Profile(NamedTuple):
    """A generation of MXNet, and what selected it."""

    name: str
    origin: str


class _InForce:
    profile = Profile(
        env.get("MXCY_MXNET"), "MXCY_MXNET" if env.raw("MXCY_MXNET") else "the default"
    )
    mxnet_2 = profile.name == "2.0"
    followers = []


def current():
    """The current profile."""
    return _InForce.profile


def is_mxnet_2():
    """Whether MXNet 2 is followed."""
    return _InForce.mxnet_2


def saves_as_numpy():
    """Whether arrays are saved in NumPy's formats (.npy, .npz), as by MXNet 2."""
    return _InForce.mxnet_2


def follow(function):
    """Call ``function(mxnet_2)`` now and whenever the profile is set."""
    _InForce.followers.append(function)
    function(_InForce.mxnet_2)


def set_current(version, origin):
    """Set the profile to that of a release.

    Parameters
    ----------
    version : str
        MXNet release, such as ``"2.0"`` or ``"1.9.1"``; all 1.x map to profile "1.9".
    origin : str
        What selected it, for display.

    Returns
    -------
    Profile
        The previous profile.

    Raises
    ------
    ValueError
        If there is no such release.
    """
    names = {"0": "1.9", "1": "1.9", "2": "2.0"}
    name = names.get(str(version).partition(".")[0])
    if name is None:
        raise ValueError(f"profile must be one of {', '.join(PROFILES)}, got {version!r}")
    before, _InForce.profile = _InForce.profile, Profile(name, origin)
    _InForce.mxnet_2 = name == "2.0"
    for function in _InForce.followers:
        function(_InForce.mxnet_2)
    return before
