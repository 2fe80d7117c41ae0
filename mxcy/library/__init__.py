"""`mx.library`: operators that libraries in C++ offer, written with MXNet's ``lib_api.h``.

>>> mx.library.load("/path/to/libmy_ops.so")
>>> mx.nd.my_gemm(a, b), mx.sym.my_gemm(x, y)

The operators of a library work on arrays, in symbols, files and hybridized blocks, with gradients
where it has backward functions, as those of `mx.operator` do. `abi` calls its C functions and
`operators` makes operators of them.
"""

import logging
import os
import warnings

from mxcy.base import MXNetError
from mxcy.library.abi import Library
from mxcy.library.operators import offer

__all__ = ["MXlib", "compiled_with_gcc_cxx11_abi", "load", "loaded_libs"]

#: the libraries that were loaded, a list of MXlib
loaded_libs: list = []


class MXlib:
    """A loaded library.

    Parameters
    ----------
    handle : Library
        It stays in memory for as long as the process lives: its operators may be in use.
    """

    def __init__(self, handle):
        self.handle = handle


def load(path, verbose=True):
    """Load a library, and offer its operators in `mx.nd` and `mx.sym`.

    Parameters
    ----------
    path : str
        An absolute path of a file ``.so``.
    verbose : bool
        Tell the log which operators there are.

    Raises
    ------
    MXNetError
        When there is no such file, when it is not a library of operators, was made for another
        version of ``lib_api.h`` or refuses to be initialised, or when the name of one of its
        operators is taken.

    Warns
    -----
    UserWarning
        When it has partitioners or passes of graphs, which are not used.
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
            f"library {path}: {partitioners} partitioners and {passes} passes of graphs are not "
            "used; mxcy takes operators from libraries",
            stacklevel=2,
        )


def compiled_with_gcc_cxx11_abi():
    """Which of libstdc++'s layouts of strings libraries have to use to be loaded.

    Returns
    -------
    int
        -1: any, since only C functions are called.
    """
    return -1
