"""scipy's sparse arrays, where scipy is installed."""

import sys

__all__ = ["is_scipy", "scipy_sparse"]


def scipy_sparse(purpose):
    """The module `scipy.sparse`.

    Raises
    ------
    ImportError
        With `purpose`, when scipy is not installed.
    """
    try:
        import scipy.sparse
    except ImportError as error:
        raise ImportError(f"{purpose} needs scipy: pip install mxcy[sparse]") from error
    return scipy.sparse


def is_scipy(value):
    """Whether a value is one of scipy's sparse arrays; scipy need not be installed."""
    module = sys.modules.get("scipy.sparse")
    return module is not None and module.issparse(value)
