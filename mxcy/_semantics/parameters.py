"""Decorators that add parameters of NumPy or of another MXNet generation to functions."""

import functools

import numpy as np

__all__ = [
    "np_ufunc_legal_option",
    "wrap_ctx_to_device_func",
    "wrap_data_api_linalg_func",
    "wrap_data_api_statical_func",
    "wrap_np_binary_func",
    "wrap_np_unary_func",
    "wrap_sort_functions",
]

_UFUNC_CHECKS = {
    "where": lambda value: True,
    "casting": lambda value: value in ("no", "equiv", "safe", "same_kind", "unsafe"),
    "order": lambda value: isinstance(value, str),
    "subok": lambda value: isinstance(value, bool),
}
_UFUNC_DEFAULTS = {"where": True, "casting": "same_kind", "order": "K", "subok": True}
_UFUNC_DTYPES = ("int8", "uint8", "int32", "int64", "float16", "float32", "float64")


def np_ufunc_legal_option(key, value):
    """Whether NumPy's ufuncs accept `value` for their keyword `key`."""
    if key == "dtype":
        try:
            return np.dtype(value).name in _UFUNC_DTYPES
        except TypeError:
            return False
    check = _UFUNC_CHECKS.get(key)
    return check is not None and bool(check(value))


def _refuse_ufunc_keywords(name, keywords):
    for key, value in keywords.items():
        if key not in _UFUNC_DEFAULTS and key != "dtype":
            raise TypeError(f"{key} is an invalid keyword to function {name!r}")
        if not np_ufunc_legal_option(key, value):
            raise TypeError(f"{key}={value!r} is not understood by function {name!r}")
        if value != _UFUNC_DEFAULTS.get(key):
            raise NotImplementedError(f"{key}={value} is not implemented yet for operator {name}")


def wrap_np_unary_func(func):
    """Decorate ``func(x, out=None)`` to accept NumPy's ufunc keywords at their defaults.

    The result raises NotImplementedError for other values and TypeError for unknown keywords.
    """

    @functools.wraps(func)
    def run(x, out=None, **kwargs):
        _refuse_ufunc_keywords(func.__name__, kwargs)
        return func(x, out=out)

    return run


def wrap_np_binary_func(func):
    """Decorate ``func(x1, x2, out=None)`` as `wrap_np_unary_func` does."""

    @functools.wraps(func)
    def run(x1, x2, out=None, **kwargs):
        _refuse_ufunc_keywords(func.__name__, kwargs)
        return func(x1, x2, out=out)

    return run


def wrap_ctx_to_device_func(func):
    """Decorate a function with a parameter `device` to also accept its older name `ctx`.

    Parameters
    ----------
    func : callable
    """

    @functools.wraps(func)
    def run(*args, **kwargs):
        device = kwargs.pop("ctx", None)
        if device is not None:
            kwargs["device"] = device
        return func(*args, **kwargs)

    return run


def _renaming(func, rename):
    @functools.wraps(func)
    def run(*args, **kwargs):
        return func(*args, **rename(kwargs))

    return run


def wrap_data_api_statical_func(func):
    """Decorate a function with a parameter `correction` to also accept NumPy's name `ddof`.

    Parameters
    ----------
    func : callable
    """

    def rename(kwargs):
        ddof = kwargs.pop("ddof", None)
        return kwargs if ddof is None else {**kwargs, "correction": ddof}

    return _renaming(func, rename)


def wrap_data_api_linalg_func(func):
    """Decorate a linear algebra function to also accept NumPy's parameter names.

    `UPLO` for `upper`, and `rcond` and `tol` for `rtol`.

    Parameters
    ----------
    func : callable
    """

    def rename(kwargs):
        triangle = kwargs.pop("UPLO", None)
        bounds = [kwargs.pop(name, None) for name in ("rcond", "tol")]
        if triangle is not None:
            kwargs["upper"] = triangle == "U"
        for bound in bounds:
            if bound is not None:
                kwargs["rtol"] = bound
        return kwargs

    return _renaming(func, rename)


def wrap_sort_functions(func):
    """Decorate a sort function with a parameter `stable` to also accept NumPy's `kind`.

    NumPy's `order` raises NotImplementedError.

    Parameters
    ----------
    func : callable
    """

    def rename(kwargs):
        kind = kwargs.pop("kind", None)
        if kwargs.pop("order", None) is not None:
            raise NotImplementedError(
                f"{func.__name__}: order is not supported, as arrays have no fields"
            )
        return kwargs if kind is None else {**kwargs, "stable": kind == "stable"}

    return _renaming(func, rename)
