"""Initializers that delegate by name: to loaded arrays or to other initializers."""

import logging
import re

from mxcy import ndarray as nd

__all__ = ["Load", "Mixed"]


class Load:
    """Initialize parameters from a file or a mapping.

    Parameters
    ----------
    param : str or dict of str to NDArray
        File name or arrays; prefixes ``arg:`` and ``aux:`` of names are dropped.
    default_init : callable, optional
        Initializer of missing parameters.
    verbose : bool
        Log the source of each parameter.

    Raises
    ------
    AssertionError
        If a parameter has another shape, or is missing and there is no `default_init`.
    """

    def __init__(self, param, default_init=None, verbose=False):
        if isinstance(param, str):
            param = nd.load(param)
        assert isinstance(param, dict), "param must be a file name or a dict of name -> NDArray"
        self.param = {re.sub("^(arg|aux):", "", name): arr for name, arr in param.items()}
        self.default_init = default_init
        self.verbose = verbose

    def __call__(self, name, arr):
        if name in self.param:
            loaded = self.param[name]
            assert arr.shape == loaded.shape, (
                f"Parameter {name} cannot be initialized from loading. "
                f"Shape mismatch, target {arr.shape} vs loaded {loaded.shape}"
            )
            arr[:] = loaded
            source = "loading"
        else:
            assert self.default_init is not None, (
                f"Cannot Initialize {name}. Not found in loaded param "
                "and no default Initializer is provided."
            )
            self.default_init(name, arr)
            source = "default"
        if self.verbose:
            logging.info("Initialized %s by %s", name, source)


class Mixed:
    """Choose among initializers by the parameter's name.

    Parameters
    ----------
    patterns : list of str
        Regular expressions, matched in order at the start of the name.
    initializers : list of Initializer
        The initializer of each pattern.

    Raises
    ------
    ValueError
        If no pattern matches the name.
    """

    def __init__(self, patterns, initializers):
        assert len(patterns) == len(initializers), (
            f"got {len(patterns)} patterns for {len(initializers)} initializers"
        )
        self.map = list(zip([re.compile(p) for p in patterns], initializers, strict=True))

    def __call__(self, name, arr):
        self.choose(name)(name, arr)

    def choose(self, name):
        """Return the initializer of the first pattern that matches a name.

        Parameters
        ----------
        name : str
            Name of a parameter.

        Returns
        -------
        Initializer
        """
        for pattern, init in self.map:
            if pattern.match(name):
                return init
        raise ValueError(
            f"Parameter name {name} did not match any pattern. "
            'Consider adding a ".*" pattern at the end with a default Initializer.'
        )
