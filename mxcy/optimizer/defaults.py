"""What differs between the optimizers of MXNet 1.x and 2.x: parameters, and weight decay."""

import functools
import inspect

from mxcy import profile

__all__ = [
    "arguments_of",
    "clips_before_decay",
    "decays_all_weights",
    "decays_in_gradient",
    "has_steps",
    "puts_all_masters_first",
    "puts_mean_first",
    "with_defaults",
]


def decays_in_gradient():
    """Return whether `wd * weight` is part of the gradient where it is not in MXNet 1.x."""
    return profile.is_mxnet_2()


def clips_before_decay():
    """Return whether `wd * weight` is added to clipped gradients where MXNet 1.x clips the sum."""
    return profile.is_mxnet_2()


def decays_all_weights():
    """Return whether biases decay, too; in MXNet 1.x only names in _weight and _gamma do."""
    return profile.is_mxnet_2()


def puts_all_masters_first():
    """Return whether states of float16 weights begin with the float32 weight in all optimizers."""
    return profile.is_mxnet_2()


def puts_mean_first():
    """Return whether RMSProp's states are (mean, variance, step) or, uncentred, no tuple."""
    return profile.is_mxnet_2()


def has_steps():
    """Return whether the optimizer for tests takes steps against the gradient."""
    return profile.is_mxnet_2()


def with_defaults(init, defaults, names):
    """Wrap an `__init__` to have MXNet 2's parameters and defaults under the MXNet 2 profile.

    Parameters
    ----------
    init : function
        The constructor, with the signature of MXNet 1.9.1.
    defaults : dict of str to any
        MXNet 2's parameters and defaults, in the order of its signature.
    names : dict of str to str
        MXNet 2's name -> name in `init`, where they differ.

    Returns
    -------
    function
    """

    @functools.wraps(init)
    def start(self, *args, **kwargs):
        if profile.is_mxnet_2():
            if len(args) > len(defaults):
                raise TypeError(f"{type(self).__name__} takes at most {len(defaults)} values")
            own = {
                name: value
                for name, value in defaults.items()
                if names.get(name) not in kwargs and not (name == "epsilon" and "eps" in kwargs)
            }
            kwargs = {**own, **dict(zip(defaults, args, strict=False)), **kwargs}
            args = ()
        init(self, *args, **kwargs)

    return start


def arguments_of(kind):
    """The argument names of an optimizer class, including those of its bases."""
    names = {}
    for base in kind.__mro__:
        init = vars(base).get("__init__")
        if init is not None and base is not object:
            for name, parameter in list(inspect.signature(init).parameters.items())[1:]:
                if parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
                    names.setdefault(name)
    return list(names)
