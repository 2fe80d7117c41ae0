"""One batch of data, and the description of the arrays in it."""

from collections import namedtuple

import numpy as np

__all__ = ["DataBatch", "DataDesc"]


class DataDesc(namedtuple("DataDesc", ["name", "shape"])):
    """Name and shape of one array of a batch; a tuple of these two, with further attributes.

    Parameters
    ----------
    name : str
        The variable of the network that the array is for.
    shape : tuple of int
        The shape, batch axis included.
    dtype : str or type
        The element type.
    layout : str
        A letter for each axis; 'N' marks the batch axis.
    """

    def __new__(cls, name, shape, dtype=np.float32, layout="NCHW"):
        desc = super().__new__(cls, name, shape)
        desc.dtype = dtype
        desc.layout = layout
        return desc

    def __repr__(self):
        return f"DataDesc[{self.name},{self.shape},{self.dtype},{self.layout}]"

    __str__ = __repr__

    @staticmethod
    def get_batch_axis(layout):
        """The position of the batch axis.

        Parameters
        ----------
        layout : str or None
            A letter for each axis.

        Returns
        -------
        int
            0 when there is no layout, -1 when it has no 'N'.
        """
        return 0 if layout is None else layout.find("N")

    @staticmethod
    def get_list(shapes, types):
        """Make descriptions from pairs.

        Parameters
        ----------
        shapes : iterable of (str, tuple of int)
            Names and shapes.
        types : iterable of (str, dtype), or None
            Element types of all the names.

        Returns
        -------
        list of DataDesc
        """
        if types is None:
            return [DataDesc(name, shape) for name, shape in shapes]
        types = dict(types)
        return [DataDesc(name, shape, types[name]) for name, shape in shapes]


class DataBatch:
    """The arrays of one step of training or prediction.

    Parameters
    ----------
    data : list of NDArray or None
        The inputs.
    label : list of NDArray, optional
        The labels.
    pad : int, optional
        How many entries at the end only fill the batch up.
    index : numpy.ndarray, optional
        Which entries of the data set these are.
    bucket_key : optional
        The bucket that the batch belongs to.
    provide_data, provide_label : list of DataDesc, optional
        Descriptions of the arrays, where they differ from those of the iterator.

    Raises
    ------
    AssertionError
        When data or labels are not in a list.
    """

    def __init__(
        self,
        data,
        label=None,
        pad=None,
        index=None,
        bucket_key=None,
        provide_data=None,
        provide_label=None,
    ):
        if data is not None:
            assert isinstance(data, (list, tuple)), "Data must be list of NDArrays"
        if label is not None:
            assert isinstance(label, (list, tuple)), "Label must be list of NDArrays"
        self.data = data
        self.label = label
        self.pad = pad
        self.index = index
        self.bucket_key = bucket_key
        self.provide_data = provide_data
        self.provide_label = provide_label

    def __str__(self):
        data = [array.shape for array in self.data]
        label = [array.shape for array in self.label] if self.label else None
        return f"{type(self).__name__}: data shapes: {data} label shapes: {label}"
