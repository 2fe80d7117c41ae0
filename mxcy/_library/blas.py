"""OpenBLAS, used for very large matrix products if it is installed and oneDNN is not.

The native library has its own matrix products and needs neither. The search only looks at a few
file names; the library found is opened at the first product that is large enough.
"""

import os
import sys

from mxcy._library.open import open_library

__all__ = ["find_library", "offer"]


def find_library() -> str | None:
    """The path of OpenBLAS in the wheel `scipy-openblas32`, or None."""
    name = os.path.join("scipy_openblas32", "lib", "libscipy_openblas.so")
    candidates = (os.path.join(folder, name) for folder in sys.path)
    return next((path for path in candidates if os.path.isfile(path)), None)


def offer() -> None:
    """Pass the result of `find_library` to the native library."""
    path = find_library()
    if path is not None:
        open_library().mx_blas_offer(os.fsencode(path))
