"""`mx.library`: operators from C++ libraries written with MXNet's ``lib_api.h``.

>>> mx.library.load("/path/to/libmy_ops.so")
>>> mx.nd.my_gemm(a, b), mx.sym.my_gemm(x, y)

The operators work on arrays, in symbols, files and hybridized blocks, with gradients if they have
backward functions, like those of `mx.operator`. `abi` calls the C functions and `operators` creates
the operators.
"""

import logging
import os
import warnings

from mxcy.base import MXNetError
from mxcy.library.abi import Library
from mxcy.library.operators import offer

__all__ = ["MXlib", "compiled_with_gcc_cxx11_abi", "load", "loaded_libs"]

#: loaded libraries, a list of MXlib
loaded_libs: list = []


class MXlib:
    """A loaded library.

    Parameters
    ----------
    handle : Library
        The library, which stays loaded, since its operators may be in use.
    """

    def __init__(self, handle):
        self.handle = handle


def load(path, verbose=True):
    """Load a library and add its operators to `mx.nd` and `mx.sym`.

    Parameters
    ----------
    path : str
        Absolute path of a ``.so`` file.
    verbose : bool
        Whether to log the operators.

    Raises
    ------
    MXNetError
        If the file does not exist, is not an operator library, was built for another version of
        ``lib_api.h`` or fails to initialise, or if the name of one of its operators is taken.

    Warns
    -----
    UserWarning
        If it has graph partitioners or passes, which are not used.
    """
    if not os.path.exists(path):
        raise MXNetError(f"load path {path} does NOT exist")
    if not os.path.isabs(path):
        raise MXNetError(f"load path {path} is not an absolute path")
    if os.path.splitext(path)[1] not in (".so", ".dll"):
        raise MXNetError(f"load path {path} is NOT a library file")
    library = Library(path)
    names = offer(library)
    loaded_libs.append(MXlib(library))
    if verbose:
        log = logging.getLogger("mxcy").info
        log("Found %d operators in library %s: %s", len(names), path, ", ".join(names))
    partitioners, passes = library.others()
    if partitioners or passes:
        warnings.warn(
            f"library {path}: {partitioners} graph partitioners and {passes} graph passes are not "
            "used; mxcy supports only operators",
            stacklevel=2,
        )


def compiled_with_gcc_cxx11_abi():
    """Return the libstdc++ string ABI required of libraries.

    Returns
    -------
    int
        -1: any, as only C functions are called.
    """
    return -1
