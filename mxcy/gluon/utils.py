"""Helpers around blocks: splitting batches, clipping gradients, fetching files."""

import hashlib
import importlib
import math
import os
import urllib.parse
import urllib.request
import warnings
import weakref
from collections import OrderedDict
from pathlib import Path

from mxcy import env
from mxcy import ndarray as nd
from mxcy._base.files import replacing
from mxcy.ndarray import NDArray

__all__ = [
    "split_data",
    "split_and_load",
    "clip_global_norm",
    "check_sha1",
    "download",
    "replace_file",
    "shape_is_known",
    "split_rnn_params",
    "HookHandle",
]


def split_data(data, num_slice, batch_axis=0, even_split=True):
    """Cut an array into slices.

    Parameters
    ----------
    data : NDArray
        The batch.
    num_slice : int
        Number of slices.
    batch_axis : int
        Axis to cut.
    even_split : bool
        Refuse an extent that is no multiple of `num_slice`; otherwise the first slices are longer.

    Returns
    -------
    list of NDArray

    Raises
    ------
    ValueError
        When the batch has fewer than `num_slice` entries, or cannot be cut evenly.
    """
    size = data.shape[batch_axis]
    if even_split and size % num_slice != 0:
        raise ValueError(
            f"data with shape {data.shape} cannot be evenly split into {num_slice} slices along "
            f"axis {batch_axis}. Use a batch size that's multiple of {num_slice} or set "
            "even_split=False to allow uneven partitioning of data."
        )
    if size < num_slice:
        raise ValueError(
            f"Too many slices for data with shape {data.shape}. Arguments are "
            f"num_slice={num_slice} and batch_axis={batch_axis}."
        )
    step, longer = divmod(size, num_slice)
    ends = [step * i + min(i, longer) for i in range(1, num_slice + 1)]
    if batch_axis == 0:
        return [data[begin:end] for begin, end in zip([0, *ends], ends, strict=False)]
    return [
        nd.slice_axis(data, axis=batch_axis, begin=begin, end=end)
        for begin, end in zip([0, *ends], ends, strict=False)
    ]


def split_and_load(data, ctx_list, batch_axis=0, even_split=True):
    """Cut a batch into one slice for each context and load it there.

    Parameters
    ----------
    data : NDArray or array_like
        The batch.
    ctx_list : list of Context
        The contexts.
    batch_axis : int
        Axis to cut.
    even_split : bool
        See `split_data`.

    Returns
    -------
    list of NDArray
    """
    if not isinstance(data, NDArray):
        data = nd.array(data, ctx=ctx_list[0])
    if len(ctx_list) == 1:
        return [data.as_in_context(ctx_list[0])]
    slices = split_data(data, len(ctx_list), batch_axis, even_split)
    return [part.as_in_context(ctx) for part, ctx in zip(slices, ctx_list, strict=True)]


def clip_global_norm(arrays, max_norm, check_isfinite=True):
    """Scale arrays in place, all by one factor, so that their common 2-norm is at most `max_norm`.

    Parameters
    ----------
    arrays : list of NDArray
        The arrays, usually gradients.
    max_norm : float
        Largest norm allowed.
    check_isfinite : bool
        Warn when the norm is nan or inf, and return a number; otherwise return an array.

    Returns
    -------
    float or NDArray
        The norm before scaling; an array of shape (1,) when `check_isfinite` is false.
    """
    assert len(arrays) > 0, "clip_global_norm needs at least one array"
    ctx = arrays[0].context
    squares = [nd.square(array.astype("float32")).sum().as_in_context(ctx) for array in arrays]
    norm = nd.sqrt(sum(squares[1:], squares[0]))
    if check_isfinite:
        norm = norm.asscalar()
        if not math.isfinite(norm):
            warnings.warn(
                "nan or inf is detected. Clipping results will be undefined.",
                UserWarning,
                stacklevel=2,
            )
        scale = max_norm / (norm + 1e-8)
        if scale < 1.0:
            for array in arrays:
                array *= scale
        return float(norm)
    scale = nd.minimum(max_norm / (norm + 1e-8), 1.0)
    for array in arrays:
        array *= scale.astype(array.dtype).as_in_context(array.context)
    return norm


def check_sha1(filename, sha1_hash):
    """Compare a file's SHA-1 with an expected one.

    Parameters
    ----------
    filename : str
        The file.
    sha1_hash : str
        Hexadecimal digits.

    Returns
    -------
    bool
    """
    with open(filename, "rb") as file:
        found = hashlib.file_digest(file, "sha1").hexdigest()
    return found == sha1_hash


def replace_file(src, dst):
    """Move a file over another one, in one step that cannot be seen half done.

    Parameters
    ----------
    src, dst : str
        Old and new name, on one file system.
    """
    os.replace(src, dst)


def download(url, path=None, overwrite=False, sha1_hash=None, retries=5, verify_ssl=True):
    """Fetch a file from a URL (``http``, ``https`` or ``file``).

    Parameters
    ----------
    url : str
        Where the file is.
    path : str, optional
        File or folder to store it in; by default the current folder, under the URL's last name.
    overwrite : bool
        Fetch it even when it is there already.
    sha1_hash : str, optional
        Expected SHA-1 in hexadecimal digits; a file with another one is fetched again.
    retries : int
        How often to try again after a failure.
    verify_ssl : bool
        Check the server's certificate.

    Returns
    -------
    str
        Name of the file.

    Raises
    ------
    ValueError
        When the URL names no file.
    OSError
        When the last attempt failed too.
    """
    assert retries >= 0, f"retries must be at least 0, got {retries}"
    last_name = url.split("/")[-1]
    if path is None:
        target = Path(last_name)
        if not last_name:
            raise ValueError("Can't construct file-name from this URL, specify `path` explicitly.")
    else:
        target = Path(path).expanduser()
        target = target / last_name if target.is_dir() else target
    if not verify_ssl:
        warnings.warn(
            "Unverified HTTPS request is being made (verify_ssl=False). "
            "Adding certificate verification is strongly advised.",
            UserWarning,
            stacklevel=2,
        )
    there = target.exists() and (not sha1_hash or check_sha1(target, sha1_hash))
    if there and not overwrite:
        return str(target)
    target.absolute().parent.mkdir(parents=True, exist_ok=True)
    for attempts_left in range(retries, -1, -1):
        try:
            _fetch(url, target, sha1_hash, verify_ssl)
            return str(target)
        except OSError as error:
            if attempts_left == 0:
                raise
            warnings.warn(
                f"download of {url} failed ({error}), {attempts_left} attempts left",
                UserWarning,
                stacklevel=2,
            )
    raise AssertionError("unreachable")


# Libraries import these two to fetch what MXNet's mirror has for them.


def _get_repo_url():
    """The address of the mirror, ending in a slash; plain folders become ``file://`` addresses."""
    address = env.get("MXNET_GLUON_REPO")
    if "://" not in address:
        address = Path(address).expanduser().absolute().as_uri()
    return address if address.endswith("/") else address + "/"


def _get_repo_file_url(namespace, filename):
    """The address of a file in a folder of the mirror."""
    return f"{_get_repo_url()}{namespace}/{filename}"


def _fetch(url, target, sha1_hash, verify_ssl):
    """Download a file that replaces the target as a whole, once its hash is known to be right."""
    digest = hashlib.sha1(usedforsecurity=False)
    with replacing(target) as copy:
        for part in _parts(url, verify_ssl):
            copy.write(part)
            digest.update(part)
        if sha1_hash and digest.hexdigest() != sha1_hash:
            raise OSError(f"the file from {url} has another SHA-1 than {sha1_hash}")


def _parts(url, verify_ssl, size=2**16):
    """The contents of a file in the net, part by part.

    By `requests` if it is installed, as in MXNet: programs configure it, and tests replace it.
    """
    requests = _optional("requests") if url.startswith(("http:", "https:")) else None
    if requests is not None:
        with requests.get(url, stream=True, verify=verify_ssl) as response:
            if response.status_code != 200:
                raise OSError(f"the server answered with status {response.status_code}")
            yield from response.iter_content(size)
        return
    context = None
    if not verify_ssl and url.startswith("https:"):
        import ssl

        context = ssl._create_unverified_context()
    with urllib.request.urlopen(url, context=context) as source:
        while part := source.read(size):
            yield part


def _optional(module):
    """A module that need not be installed, or None."""
    try:
        return importlib.import_module(module)
    except ImportError:
        return None


def shape_is_known(shape):
    """Tell whether all extents of a shape are known.

    Parameters
    ----------
    shape : tuple of int or None
        0 and -1 stand for unknown extents.

    Returns
    -------
    bool
    """
    return shape is not None and all(extent > 0 for extent in shape)


def split_rnn_params(
    param, mode, num_layers, input_size, hidden_size, bidirectional=False, projection_size=None
):
    """Cut the parameters of operator RNN into the weights and biases of the layers.

    Parameters
    ----------
    param : NDArray
        The operator's parameters, one after the other.
    mode : {'rnn_relu', 'rnn_tanh', 'lstm', 'gru'}
        Kind of the cells.
    num_layers, input_size, hidden_size : int
        Number of layers, and widths of inputs and states.
    bidirectional : bool
        Whether there are two directions.
    projection_size : int, optional
        Width of projected states.

    Returns
    -------
    dict of str to NDArray
        By names such as ``l0_i2h_weight``: ``l`` and ``r`` stand for the directions.
    """
    shapes = rnn_shapes(mode, num_layers, input_size, hidden_size, bidirectional, projection_size)
    found, begin = {}, 0
    for name, shape in shapes.items():
        end = begin + math.prod(shape)
        found[name], begin = param[begin:end].reshape(shape), end
    return found


def rnn_shapes(mode, num_layers, input_size, hidden_size, bidirectional, projection_size):
    """The shapes of what `split_rnn_params` returns, by name and in the operator's order."""
    from mxcy.ops.recurrent.cells import CELLS

    rows, width = CELLS[mode].gates * hidden_size, projection_size or hidden_size
    directions = ("l", "r") if bidirectional else ("l",)
    layers = [f"{direction}{layer}" for layer in range(num_layers) for direction in directions]
    shapes = {}
    for number, layer in enumerate(layers):
        first = number < len(directions)
        source = input_size if first else width * len(directions)
        shapes[f"{layer}_i2h_weight"] = (rows, source)
        shapes[f"{layer}_h2h_weight"] = (rows, width)
        if projection_size:
            shapes[f"{layer}_h2r_weight"] = (projection_size, hidden_size)
    for layer in layers:
        shapes[f"{layer}_i2h_bias"] = shapes[f"{layer}_h2h_bias"] = (rows,)
    return shapes


class HookHandle:
    """Removes a hook: by `detach`, or at the end of a ``with`` statement."""

    def __init__(self):
        self._hooks = None
        self._id = None

    def attach(self, hooks_dict, hook):
        """Put a hook into a dictionary.

        Parameters
        ----------
        hooks_dict : OrderedDict
            The hooks, by the ids of their handles.
        hook : callable
            The hook.
        """
        assert not self._hooks, "The same handle cannot be attached twice."
        self._id = id(hook)
        hooks_dict[self._id] = hook
        self._hooks = weakref.ref(hooks_dict)

    def detach(self):
        """Take the hook out again; without effect the second time."""
        hooks = self._hooks() if self._hooks else None
        if hooks is not None:
            hooks.pop(self._id, None)

    def __enter__(self):
        return self

    def __exit__(self, ptype, value, trace):
        self.detach()

    def __getstate__(self):
        return (self._hooks() if self._hooks else None, self._id)

    def __setstate__(self, state):
        hooks, self._id = state
        self._hooks = weakref.ref(OrderedDict() if hooks is None else hooks)
