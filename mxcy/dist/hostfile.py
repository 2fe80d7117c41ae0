"""Files that list machines."""

from mxcy.base import MXNetError

__all__ = ["read_hosts"]


def read_hosts(path):
    """The machines of a host file: one a line, with its processes after a colon or ``slots=``.

    Parameters
    ----------
    path : str

    Returns
    -------
    list of str
        Each once, in order.

    Raises
    ------
    MXNetError
        When the file lists none, or cannot be read.
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
