"""Methods of `mx.np.ndarray` that fill the array or export its elements."""

from contextlib import nullcontext

import numpy as onp

from mxcy._base.files import replacing
from mxcy.numpy._arrays.operators import function

__all__ = ["Elements"]


class Elements:
    """Mixin with elementwise access to an array in C order."""

    __slots__ = ()

    def fill(self, value):
        """Fill the array with a value."""
        self[...] = value

    @property
    def flat(self):
        """ndarray: A 1-D view of the array; can be assigned to."""
        return self.reshape(-1)

    @flat.setter
    def flat(self, values):
        function("put")(self, onp.arange(self.size), values)

    def put(self, indices, values, mode="raise"):
        """Set elements at indices of the flattened array; see `mx.np.put`."""
        function("put")(self, indices, values, mode)

    def tobytes(self, order="C"):
        """Return the elements as bytes.

        Parameters
        ----------
        order : {'C', 'F', 'A'}
            Row-major ('C', 'A') or column-major ('F') order.
        """
        return self.asnumpy().tobytes(order)

    def tofile(self, fid, sep="", format="%s"):
        """Write the elements to a file, as bytes or as separated text.

        Parameters
        ----------
        fid : str, path or binary file
            A path is replaced only after everything has been written.
        sep : str
            Separator between elements; bytes are written if empty.
        format : str
            Format of each element in text mode.
        """
        values = self.asnumpy()
        if sep:
            data = sep.join(format % value for value in values.ravel().tolist()).encode()
        else:
            data = values.tobytes()
        with nullcontext(fid) if hasattr(fid, "write") else replacing(fid) as file:
            file.write(data)
