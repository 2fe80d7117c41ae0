"""JSON cache files under MXNET_HOME: measurements that can be repeated at any time.

Other programs, other versions or a full disk may have damaged them, so a file with unexpected
content is reported once, ignored, and overwritten by the next write.
"""

import json
import logging
import os
from collections.abc import Callable
from typing import Any

from mxcy._base.files import replacing

__all__ = ["read", "write"]

_MOST = 2**26  # bytes
_warned: set[str] = set()


def read(path: str, well_formed: Callable[[Any], bool]) -> tuple[dict[str, Any], bool]:
    """The contents of a cache.

    Parameters
    ----------
    path : str
        The file.
    well_formed : callable
        Whether the decoded contents, a dict, have the expected form.

    Returns
    -------
    contents : dict
        Empty when there is no file, or it cannot be used.
    usable : bool
        False when there is a file that cannot be used.
    """
    try:
        with open(path, "rb") as file:
            text = file.read(_MOST + 1)
    except OSError:
        return {}, True
    try:
        if len(text) > _MOST:
            raise ValueError(f"more than {_MOST} bytes")
        contents = json.loads(text)
        if not isinstance(contents, dict) or not well_formed(contents):
            raise ValueError("unexpected content")
    except (ValueError, RecursionError) as error:
        if path not in _warned:
            _warned.add(path)
            logging.getLogger("mxcy").warning(
                "%s cannot be used and will be replaced: %s", path, error
            )
        return {}, False
    return contents, True


def write(path: str, contents: dict[str, Any]) -> bool:
    """Replace a cache file; return False when it cannot be written, which is harmless."""
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with replacing(path) as file:
            file.write(json.dumps(contents).encode())
    except OSError:
        return False
    return True
