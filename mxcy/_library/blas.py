"""What takes over very large matrix products where there is no oneDNN: OpenBLAS, if installed.

The native library has matrix products of its own and needs neither. Searching looks at a few file
names only; what is found is opened when the first product comes that is large enough.
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
    """Tell the native library what `find_library` found."""
    path = find_library()
    if path is not None:
        open_library().mx_blas_offer(os.fsencode(path))
