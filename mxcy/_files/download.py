"""Downloads from URLs and MXNet's mirror, with checksums."""

import hashlib
import importlib
import os
import warnings
from pathlib import Path

from mxcy import env
from mxcy._base.files import replacing

__all__ = ["check_sha1", "download", "replace_file"]


def check_sha1(filename, sha1_hash):
    """Compare a file's SHA-1 with an expected one.

    Parameters
    ----------
    filename : str
        Path of the file.
    sha1_hash : str
        Hexadecimal digits.

    Returns
    -------
    bool
    """
    with open(filename, "rb") as file:
        digest = hashlib.file_digest(file, "sha1").hexdigest()
    return digest == sha1_hash


def replace_file(src, dst):
    """Move a file over another one atomically.

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
        URL of the file.
    path : str, optional
        File or folder to store it in; by default the current folder and the URL's last component.
    overwrite : bool
        Whether to fetch an existing file again.
    sha1_hash : str, optional
        Expected SHA-1 in hexadecimal digits; a file with another hash is fetched again.
    retries : int
        Number of retries after a failure.
    verify_ssl : bool
        Whether to verify the server's certificate.

    Returns
    -------
    str
        Name of the file.

    Raises
    ------
    ValueError
        If the URL has no file name.
    OSError
        If all attempts failed.
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


# Libraries import these two to fetch their files from MXNet's mirror.


def _get_repo_url():
    """Return the mirror's URL with a trailing slash; folders become ``file://`` URLs."""
    address = env.get("MXNET_GLUON_REPO")
    if "://" not in address:
        address = Path(address).expanduser().absolute().as_uri()
    return address if address.endswith("/") else address + "/"


def _get_repo_file_url(namespace, filename):
    """Return the URL of a file in a folder of the mirror."""
    return f"{_get_repo_url()}{namespace}/{filename}"


def _fetch(url, target, sha1_hash, verify_ssl):
    """Download a file, replacing the target atomically once the hash is verified."""
    digest = hashlib.sha1(usedforsecurity=False)
    with replacing(target) as copy:
        for part in _parts(url, verify_ssl):
            copy.write(part)
            digest.update(part)
        if sha1_hash and digest.hexdigest() != sha1_hash:
            raise OSError(f"the SHA-1 of the file from {url} is not {sha1_hash}")


def _parts(url, verify_ssl, size=2**16):
    """Iterate over the contents of a remote file in chunks.

    Uses `requests` if installed, as MXNet: programs configure it, and tests replace it.
    """
    requests = _optional("requests") if url.startswith(("http:", "https:")) else None
    if requests is not None:
        with requests.get(url, stream=True, verify=verify_ssl) as response:
            if response.status_code != 200:
                raise OSError(f"the server answered with status {response.status_code}")
            yield from response.iter_content(size)
        return
    import ssl  # with urllib.request, a tenth of the time to import mxcy.gluon
    import urllib.request

    insecure = not verify_ssl and url.startswith("https:")
    context = ssl._create_unverified_context() if insecure else None
    with urllib.request.urlopen(url, context=context) as source:
        while part := source.read(size):
            yield part


def _optional(module):
    """Import an optional module, or return None."""
    try:
        return importlib.import_module(module)
    except ImportError:
        return None
