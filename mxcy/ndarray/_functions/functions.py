"""Functions of `mx.nd` composed of several operators."""

import numpy as np

from mxcy._library import front
from mxcy._library.api_calls import api_call
from mxcy._library.opencv import decode, opencv
from mxcy.base import MXNetError, integer_types
from mxcy.ndarray._functions import creation
from mxcy.ndarray.register import F

__all__ = [
    "concatenate",
    "histogram",
    "imdecode",
    "moveaxis",
    "onehot_encode",
    "split_v2",
    "waitall",
]


@api_call("MXNDArrayWaitAll")
def waitall() -> None:
    """Wait for all operations called so far.

    Raises
    ------
    MXNetError
        Or another exception of an operation: the first one not raised yet. The others are
        discarded, but arrays that were not computed raise their errors when read, until they are
        written again.
    """
    front.wait_all()


def concatenate(arrays, axis=0, always_copy=True):
    """Join arrays along an axis.

    Parameters
    ----------
    arrays : list of NDArray
        Arrays of equal shape except along the axis.
    axis : int
    always_copy : bool
        Whether to copy even a single array.

    Returns
    -------
    NDArray
        The result, on the device of the first array.
    """
    assert isinstance(arrays, (list, tuple)) and arrays, "concatenate: expected a list of arrays"
    assert all(isinstance(a, front.NDArrayBase) for a in arrays), "concatenate: expected NDArrays"
    first = arrays[0]
    if len(arrays) == 1 and not always_copy:
        return first
    extents = first.shape[:axis] + first.shape[axis:][1:]
    for array in arrays[1:]:
        assert array.shape[:axis] + array.shape[axis:][1:] == extents, (
            f"concatenate: shapes {first.shape} and {array.shape} differ outside axis {axis}"
        )
        assert array.dtype == first.dtype, "concatenate: the dtypes differ"
    return F.Concat(*(array.as_in_context(first.context) for array in arrays), dim=axis)


def _axes(axes, ndim, name):
    axes = [axes] if isinstance(axes, integer_types) else list(axes)
    normal = [axis + ndim if axis < 0 else axis for axis in axes]
    for axis, original in zip(normal, axes, strict=True):
        if not 0 <= axis < ndim:
            raise ValueError(f"{name} should verify 0 <= {name} < tensor.ndim, got {original}")
    return normal


def moveaxis(tensor, source, destination):
    """Move axes to new positions; the others keep their order.

    Parameters
    ----------
    tensor : NDArray
    source, destination : int or sequence of int
        Old and new positions of the axes.

    Returns
    -------
    NDArray

    Raises
    ------
    ValueError
        If an axis is out of range or repeated, or the numbers of axes differ.
    """
    source = _axes(source, tensor.ndim, "source")
    destination = _axes(destination, tensor.ndim, "destination")
    if len(source) != len(destination):
        raise ValueError(
            "`source` and `destination` arguments must have the same number of elements"
        )
    for axes in (source, destination):
        if len(set(axes)) != len(axes):
            raise ValueError(f"moveaxis: repeated axis in {tuple(axes)}")
    order = [axis for axis in range(tensor.ndim) if axis not in source]
    for place, axis in sorted(zip(destination, source, strict=True)):
        order.insert(place, axis)
    return F.transpose(tensor, axes=order)


def split_v2(ary, indices_or_sections, axis=0, squeeze_axis=False):
    """Split an array along an axis.

    Parameters
    ----------
    ary : NDArray
    indices_or_sections : int or tuple of int
        The number of equal parts, or the indices to split at.
    axis : int
    squeeze_axis : bool
        Whether to remove the axis from parts of size 1.

    Returns
    -------
    list of NDArray, or NDArray when there is one part

    Raises
    ------
    ValueError
        If the parts are not equal or `indices_or_sections` has another type.
    """
    if isinstance(indices_or_sections, integer_types):
        sections, indices = int(indices_or_sections), ()
        if ary.shape[axis] % sections:
            raise ValueError("array split does not result in an equal division")
    elif isinstance(indices_or_sections, (tuple, list)):
        sections, indices = 0, (0, *indices_or_sections)
    else:
        raise ValueError("indices_or_sections must either int or tuple of ints")
    return F._split_v2(
        ary, indices=indices, axis=axis, squeeze_axis=squeeze_axis, sections=sections
    )


def histogram(a, bins=10, range=None):
    """Compute a histogram.

    Parameters
    ----------
    a : NDArray
    bins : int or NDArray
        The number of bins, or their ascending edges.
    range : (float, float), optional
        With a number of bins, the first and last edge, by default the extremes of `a`.

    Returns
    -------
    list of NDArray
        The counts, int64, and the bin edges. With a number of bins and no range, a tuple computed
        by NumPy.

    Raises
    ------
    ValueError
        If `bins` has another type.
    """
    if isinstance(bins, front.NDArrayBase):
        return F._histogram(a, bins)
    if not isinstance(bins, integer_types):
        raise ValueError("bins argument should be either an integer or an NDArray")
    if range is None:
        return tuple(creation.array(values) for values in np.histogram(a.asnumpy(), bins=bins))
    return F._histogram(a, bin_cnt=bins, range=range)


def onehot_encode(indices, out):
    """Write 1 in each row of a matrix at the row's index, and 0 elsewhere.

    Parameters
    ----------
    indices : NDArray
        One index per row.
    out : NDArray
        The matrix.

    Returns
    -------
    NDArray
        `out`
    """
    F.one_hot(indices, depth=out.shape[1], dtype=np.dtype(out.dtype).name, out=out)
    return out


def imdecode(str_img, clip_rect=(0, 0, 0, 0), out=None, index=0, channels=3, mean=None):
    """Decode an image to an array of shape (1, channels, height, width).

    Parameters
    ----------
    str_img : bytes
        Content of an image file.
    clip_rect : (int, int, int, int)
        Left, top, right and bottom of the crop; all 0 for no cropping.
    out : NDArray, optional
        Array of shape (n, channels, height, width) whose element `index` is set to the image.
    index : int
    channels : {1, 3}
    mean : NDArray, optional
        Subtracted from the image.

    Returns
    -------
    NDArray

    Raises
    ------
    MXNetError
        If the image cannot be decoded, or OpenCV is missing.
    """
    cv2 = opencv("imdecode")
    mode = cv2.IMREAD_COLOR if channels == 3 else cv2.IMREAD_GRAYSCALE
    pixels = decode("imdecode", str_img, mode)
    if pixels is None:
        raise MXNetError("imdecode: OpenCV cannot decode the image")
    pixels = np.atleast_3d(pixels)[..., ::-1].transpose(2, 0, 1)
    left, top, right, bottom = clip_rect
    if (left, top, right, bottom) != (0, 0, 0, 0):
        pixels = pixels[:, top:bottom, left:right]
    image = creation.array(pixels[None])
    if mean is not None:
        image = image - mean
    if out is None:
        return image
    out[index : index + 1] = image
    return out
