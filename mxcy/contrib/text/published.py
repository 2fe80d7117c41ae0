"""Files of word vectors that were published: their names, checksums and archives."""

import os
import shutil
import tarfile
from functools import cache
from importlib import resources
from pathlib import Path

from mxcy._base.files import replacing, unpack_zip
from mxcy._files.download import _get_repo_file_url, check_sha1, download
from mxcy.base import MXNetError

__all__ = ["archives", "files", "published_file"]


@cache
def _table():
    """SHA-1 by collection, file or archive, and name, as the lines of ``published.txt`` say."""
    text = resources.files("mxcy.contrib.text").joinpath("published.txt").read_text()
    table = {}
    for line in text.splitlines():
        collection, kind, name, sha1 = line.split()
        table.setdefault((collection, kind), {})[name] = sha1
    return table


def files(collection):
    """The SHA-1 of each file of vectors, a dict; `collection` is ``'glove'`` or ``'fasttext'``."""
    return _table()[collection, "file"]


def archives(collection):
    """The SHA-1 of each archive, a dict."""
    return _table()[collection, "archive"]


def published_file(root, collection, name, archive):
    """Find a file of vectors, or fetch the archive that it is in.

    Parameters
    ----------
    root : str
        The folder of collections.
    collection, name, archive : str

    Returns
    -------
    Path

    Raises
    ------
    MXNetError
        When the file is not there and its archive cannot be fetched from MXNET_GLUON_REPO.
    """
    folder = Path(os.path.expanduser(root), collection)
    path = folder / name
    if path.exists() and check_sha1(path, files(collection)[name]):
        return path
    url = _get_repo_file_url(f"gluon/embeddings/{collection}", archive)
    sha1 = archives(collection)[archive]
    try:
        fetched = download(url, str(folder / archive), sha1_hash=sha1, retries=0)
        if archive.endswith(".zip"):
            unpack_zip(fetched, folder, [name])
        else:
            with tarfile.open(fetched) as packed:
                with replacing(path) as file:
                    shutil.copyfileobj(packed.extractfile(name), file)
    except (OSError, KeyError, MXNetError, tarfile.TarError) as error:
        raise MXNetError(
            f"The word vectors {name} are not at {path} (SHA-1 {files(collection)[name]}) and "
            f"cannot be fetched from {url}: {error}. Put the file there, or let MXNET_GLUON_REPO "
            "name a mirror: an address or a folder that contains gluon/embeddings."
        ) from error
    return path
