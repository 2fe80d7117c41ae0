"""`mx.npx.save`, `savez` and `load`: array files."""

from mxcy import profile
from mxcy._base.files import replacing
from mxcy.ndarray import state, utils
from mxcy.ndarray._files.npz import write_npy, write_npz

__all__ = ["load", "save", "savez"]


def save(file, arr):
    """Save one or several arrays to a file.

    Lists and dicts are saved in MXNet's own format. A single array becomes a ``.npy`` file, as in
    MXNet 2; under the MXNet 1.9 profile only if the name has that extension, else a list of one.

    Parameters
    ----------
    file : str or path
        File name, used as given.
    arr : ndarray, list of ndarray, or dict of str to ndarray

    Raises
    ------
    TypeError
        If `arr` is not an array or contains something else.
    """
    several = isinstance(arr, (list, tuple, dict))
    for array in (arr.values() if isinstance(arr, dict) else arr) if several else (arr,):
        _check(array)
    if not several and (profile.saves_as_numpy() or str(file).endswith(".npy")):
        with replacing(file) as target:
            write_npy(target, state.block_of(arr).data)
        return
    utils.save(file, list(arr) if isinstance(arr, tuple) else arr)


def savez(file, *args, **kwds):
    """Save arrays to an uncompressed ``.npz`` archive.

    Parameters
    ----------
    file : str or path
        File name, used as given.
    *args : ndarray
        Saved as ``arr_0``, ``arr_1`` and so on.
    **kwds : ndarray
        Arrays by name.

    Raises
    ------
    ValueError
        If a keyword clashes with a name like ``arr_0``.
    TypeError
        If an argument is not an array.
    """
    arrays = {f"arr_{i}": array for i, array in enumerate(args)}
    for name, array in kwds.items():
        if name in arrays:
            raise ValueError(f"Cannot use un-named variables and keyword {name}")
        arrays[name] = array
    for array in arrays.values():
        _check(array)
    with replacing(file) as target:
        write_npz(target, [state.block_of(a) for a in arrays.values()], list(arrays))


def load(file):
    """Load arrays from a ``.npy`` or ``.npz`` file, or from a file of `mx.nd.save`.

    Parameters
    ----------
    file : str or path

    Returns
    -------
    ndarray, list of ndarray, or dict of str to ndarray
        The contents of the file.

    Raises
    ------
    MXNetError
        If the file cannot be read or is corrupt.
    """
    content = utils.load(file)
    if isinstance(content, dict):
        return {name: _as_numpy(array) for name, array in content.items()}
    arrays = [_as_numpy(array) for array in content]
    return arrays[0] if len(arrays) == 1 and _is_npy(file) else arrays


def _is_npy(file):
    with open(file, "rb") as source:
        return source.read(6) == b"\x93NUMPY"


def _as_numpy(array):
    return array if array is None or array.stype != "default" else array.as_np_ndarray()


def _check(array):
    if not hasattr(array, "as_np_ndarray"):
        raise TypeError(f"only arrays can be saved, got {type(array).__name__}")
