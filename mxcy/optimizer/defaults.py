"""Parameters of optimizers in both generations of MXNet."""

import functools
import inspect

from mxcy import profile

__all__ = ["arguments_of", "with_defaults"]


def with_defaults(init, defaults, names):
    """An `__init__` that has the parameters and defaults of MXNet 2 under its profile.

    Parameters
    ----------
    init : function
        With those of MXNet 1.9.1.
    defaults : dict of str to any
        Those of MXNet 2, in the order of its signature.
    names : dict of str to str
        Names there that `init` knows by another one.

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
    """The names of the arguments of a class of optimizers, those of its bases included."""
    names = {}
    for base in kind.__mro__:
        init = vars(base).get("__init__")
        if init is not None and base is not object:
            for name, parameter in list(inspect.signature(init).parameters.items())[1:]:
                if parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
                    names.setdefault(name)
    return list(names)
