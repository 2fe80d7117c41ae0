"""Models, data and tools published by the MXNet project, for examples."""

import os
from pathlib import Path

from mxcy import env
from mxcy.base import MXNetError
from mxcy.test_utils.datasets import download, get_zip_data

__all__ = ["download_model", "get_cifar10", "get_im2rec_path", "get_mnist_pkl"]

_SERVER = "http://data.mxnet.io/"
#: model name -> URL of its files, without extensions
_MODELS = {
    "imagenet1k-inception-bn": "imagenet/inception-bn/Inception-BN",
    **{
        f"imagenet1k-resnet-{layers}": f"imagenet/resnet/{layers}-layers/resnet-{layers}"
        for layers in (18, 34, 50, 101, 152)
    },
    "imagenet1k-resnext-50": "imagenet/resnext/50-layers/resnext-50",
    "imagenet1k-resnext-101": "imagenet/resnext/101-layers/resnext-101",
    "imagenet1k-resnext-101-64x4d": "imagenet/resnext/101-layers/resnext-101-64x4d",
    "imagenet11k-resnet-152": "imagenet-11k/resnet-152/resnet-152",
    "imagenet11k-place365ch-resnet-152": "imagenet-11k-place365-ch/resnet-152",
    "imagenet11k-place365ch-resnet-50": "imagenet-11k-place365-ch/resnet-50",
}


def _published():
    """Return the URLs of all models; the first one has a different epoch."""
    table = {}
    for name, place in _MODELS.items():
        url = f"{_SERVER}models/{place}"
        epoch = "0126" if name.endswith("inception-bn") else "0000"
        table[name] = {"symbol": f"{url}-symbol.json", "params": f"{url}-{epoch}.params"}
    return table


def download_model(model_name, dst_dir="./", meta_info=None):
    """Download a model checkpoint.

    Parameters
    ----------
    model_name : str
        Model name, such as ``'imagenet1k-resnet-50'``.
    dst_dir : str
        Directory for its files, created if missing.
    meta_info : dict of dict of str, optional
        URLs of ``'symbol'`` and ``'params'`` for each model name; by default those of the MXNet
        project.

    Returns
    -------
    prefix : str or None
        Prefix of both file names, for `mx.model.load_checkpoint`; None if there is no such model.
    epoch : int
        0, the epoch in the file names.
    """
    models = _published() if meta_info is None else dict(meta_info)
    if model_name not in models:
        return None, 0
    files = models[model_name]
    for kind in ("symbol", "params"):
        if kind not in files:
            raise MXNetError(f"download_model: meta_info has no address of {kind} of {model_name}")
    os.makedirs(dst_dir, exist_ok=True)
    prefix = os.path.join(dst_dir, model_name)
    download(files["symbol"], f"{prefix}-symbol.json")
    download(files["params"], f"{prefix}-0000.params")
    return prefix, 0


def get_cifar10(path="data"):
    """Download CIFAR-10 records into subdirectory ``cifar``, unless they exist.

    Parameters
    ----------
    path : str
        Parent directory.
    """
    names = ("train.rec", "test.rec", "train.lst", "test.lst")
    if not all(os.path.exists(os.path.join(path, "cifar", name)) for name in names):
        get_zip_data(path, f"{_SERVER}mxnet/data/cifar10.zip", "cifar10.zip")


def get_mnist_pkl(path="data"):
    """Download the pickled MNIST into a directory, unless it exists.

    Parameters
    ----------
    path : str
        Directory.
    """
    if not os.path.exists(os.path.join(path, "mnist.pkl.gz")):
        download("http://deeplearning.net/data/mnist/mnist.pkl.gz", dirname=path)


def get_im2rec_path(home_env="MXNET_HOME"):
    """Find ``im2rec.py``, the program that packs images into record files.

    Parameters
    ----------
    home_env : str
        Environment variable with the directory to search.

    Returns
    -------
    str
        Path of ``im2rec.py``.

    Raises
    ------
    OSError
        If it is found neither there nor in mxcy.
    """
    package = Path(__file__).resolve().parents[1]
    home = env.raw(home_env)
    folders = [package, package.parent] if home is None else [Path(home), package, package.parent]
    for folder in folders:
        path = folder / "tools" / "im2rec.py"
        if path.is_file():
            return str(path)
    raise OSError(f"there is no tools/im2rec.py in {', '.join(map(str, folders))}")
