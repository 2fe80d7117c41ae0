"""Optional SciPy sparse arrays."""

import sys

__all__ = ["is_scipy", "scipy_sparse"]


def scipy_sparse(purpose):
    """Import `scipy.sparse`.

    Raises
    ------
    ImportError
        Naming `purpose`, if SciPy is not installed.
    """
    try:
        import scipy.sparse
    except ImportError as error:
        raise ImportError(f"{purpose} needs scipy: pip install mxcy[sparse]") from error
    return scipy.sparse


def is_scipy(value):
    """Whether a value is a SciPy sparse array, without importing SciPy."""
    module = sys.modules.get("scipy.sparse")
    return module is not None and module.issparse(value)
