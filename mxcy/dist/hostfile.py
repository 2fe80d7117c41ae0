"""Host files."""

from mxcy._base.errors import MXNetError

__all__ = ["read_hosts"]


def read_hosts(path):
    """Read a host file: one machine per line, with its slots after a colon or as ``slots=N``.

    Parameters
    ----------
    path : str

    Returns
    -------
    list of str
        The machines in order, without duplicates.

    Raises
    ------
    MXNetError
        When the file lists no machine or cannot be read.
    """
    try:
        with open(path, encoding="utf-8") as file:
            lines = [line.partition("#")[0].split() for line in file]
    except OSError as error:
        raise MXNetError(f"host file {path}: {error.strerror}") from error
    hosts = list(dict.fromkeys(words[0].partition(":")[0] for words in lines if words))
    if not hosts:
        raise MXNetError(f"host file {path} lists no machines")
    return hosts
