"""Files of public data sets, downloaded from a mirror if missing."""

import os
import shutil
import tarfile
import warnings
from pathlib import Path

from mxcy._base.files import replacing
from mxcy.base import MXNetError, data_dir
from mxcy.gluon.utils import _get_repo_file_url, check_sha1, download

__all__ = ["folder_of", "published", "unpacked"]


def folder_of(root, name):
    """Return the folder of a data set, creating it: `root`, or ``datasets/NAME`` in MXNET_HOME."""
    folder = Path(data_dir(), "datasets", name) if root is None else Path(os.path.expanduser(root))
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def published(folder, collection, name, sha1):
    """Return the path of a published file, downloading it if needed.

    Parameters
    ----------
    folder : Path
        Its folder.
    collection : str
        Folder on the mirror: the file is ``gluon/dataset/COLLECTION/NAME``.
    name, sha1 : str
        The file's name and SHA-1.

    Returns
    -------
    Path
        If the download fails, a local file with a different SHA-1 or without the ``.gz`` suffix
        is used instead, with a warning.

    Raises
    ------
    MXNetError
        If there is no file and it cannot be downloaded.
    """
    path = folder / name
    if path.exists() and check_sha1(path, sha1):
        return path
    url = _get_repo_file_url(f"gluon/dataset/{collection}", name)
    try:
        return Path(download(url, path=str(path), overwrite=True, sha1_hash=sha1, retries=0))
    except OSError as error:
        for other in (path, path.with_suffix("") if name.endswith("ubyte.gz") else path):
            if other.exists():
                warnings.warn(
                    f"{other} is not the published file, whose SHA-1 is {sha1}; it is used anyway, "
                    f"because {url} cannot be fetched: {error}",
                    stacklevel=2,
                )
                return other
        raise MXNetError(
            f"{path} (SHA-1 {sha1}) is not there and cannot be fetched from {url}: {error}. Put "
            "the file there, or let MXNET_GLUON_REPO name a mirror: an address or a folder that "
            "contains gluon/dataset."
        ) from error


def unpacked(folder, collection, archive, files):
    """Return the files of a published archive, downloading it only if one is missing.

    Parameters
    ----------
    folder : Path
    collection : str
    archive : tuple of str
        Name and SHA-1 of the archive.
    files : sequence of tuple of str
        Names and SHA-1 of its files.

    Returns
    -------
    list of Path
    """
    paths = [folder / name for name, _ in files]
    if all(
        path.exists() and check_sha1(path, sha1)
        for path, (_, sha1) in zip(paths, files, strict=True)
    ):
        return paths
    try:
        with tarfile.open(published(folder, collection, *archive)) as tar:
            for member in tar:
                name = os.path.basename(member.name)  # archives have at most one folder
                if member.isfile() and name in {path.name for path in paths}:
                    with replacing(folder / name) as file:
                        shutil.copyfileobj(tar.extractfile(member), file)
    except MXNetError:
        if not all(path.exists() for path in paths):
            raise
        warnings.warn(f"the files in {folder} differ from the published ones", stacklevel=2)
    missing = [str(path) for path in paths if not path.exists()]
    if missing:
        raise MXNetError(f"{folder / archive[0]} does not contain {', '.join(missing)}")
    return paths
