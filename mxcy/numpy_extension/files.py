"""`mx.npx.save`, `savez` and `load`: arrays in NumPy's files."""

from mxcy import profile
from mxcy._base.files import replacing
from mxcy.ndarray import state, utils
from mxcy.ndarray._files.npz import write_npy, write_npz

__all__ = ["load", "save", "savez"]


def save(file, arr):
    """Write an array, or several, to a file.

    Lists and dicts are written in MXNet's own format. One array becomes a ``.npy`` file, as in
    MXNet 2; under the profile of MXNet 1.9 only where the name ends so, otherwise a list of one.

    Parameters
    ----------
    file : str or path
        Used as it is given.
    arr : ndarray, list of ndarray, or dict of str to ndarray

    Raises
    ------
    TypeError
        When `arr`, or something in it, is no array.
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
    """Write arrays as a ``.npz`` archive without compression.

    Parameters
    ----------
    file : str or path
        Used as it is given.
    *args : ndarray
        They are called ``arr_0``, ``arr_1`` and so on.
    **kwds : ndarray
        Arrays by name.

    Raises
    ------
    ValueError
        When an array of a name like ``arr_0`` is there twice.
    TypeError
        When one is no array.
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
    """Load arrays from a ``.npy`` or ``.npz`` file, or one of `mx.nd.save`.

    Parameters
    ----------
    file : str or path

    Returns
    -------
    ndarray, list of ndarray, or dict of str to ndarray
        As the file has it.

    Raises
    ------
    MXNetError
        When the file cannot be read or is damaged.
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
