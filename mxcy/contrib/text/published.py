"""Names, checksums and archives of published word vectors."""

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
    """Read ``published.txt``: SHA-1 by collection, file or archive, and name."""
    text = resources.files("mxcy.contrib.text").joinpath("published.txt").read_text()
    table = {}
    for line in text.splitlines():
        collection, kind, name, sha1 = line.split()
        table.setdefault((collection, kind), {})[name] = sha1
    return table


def files(collection):
    """Return the SHA-1 of each file of vectors; `collection` is ``'glove'`` or ``'fasttext'``."""
    return _table()[collection, "file"]


def archives(collection):
    """Return the SHA-1 of each archive."""
    return _table()[collection, "archive"]


def published_file(root, collection, name, archive):
    """Return the path of a file of vectors, downloading its archive if missing.

    Parameters
    ----------
    root : str
        Folder of the collections.
    collection, name, archive : str

    Returns
    -------
    Path

    Raises
    ------
    MXNetError
        If the file is missing and its archive cannot be downloaded from MXNET_GLUON_REPO.
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
