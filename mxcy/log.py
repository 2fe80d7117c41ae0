"""`mx.log`: loggers with short, coloured lines."""

import logging
import warnings
from logging import CRITICAL, DEBUG, ERROR, INFO, NOTSET, WARNING

from mxcy._base.listing import listing

__all__ = ["CRITICAL", "DEBUG", "ERROR", "INFO", "NOTSET", "WARNING", "getLogger", "get_logger"]

__dir__ = listing(__name__)

_GREEN, _RED, _BLUE, _PLAIN = "\x1b[32m", "\x1b[31m", "\x1b[34m", "\x1b[0m"


class _Formatter(logging.Formatter):
    """``W0131 12:00:00 4711 train.py:main:12] text``, coloured by level."""

    def __init__(self):
        super().__init__(datefmt="%m%d %H:%M:%S")

    def format(self, record):
        level = record.levelno
        colour = _RED if level >= WARNING else _GREEN if level >= INFO else _BLUE
        letter = record.levelname[0] if level in (CRITICAL, ERROR, WARNING, INFO, DEBUG) else "U"
        self._style._fmt = (
            f"{colour}{letter}%(asctime)s %(process)d %(pathname)s:%(funcName)s:%(lineno)d]"
            f"{_PLAIN} %(message)s"
        )
        return super().format(record)


def get_logger(name=None, filename=None, filemode=None, level=WARNING):
    """Return a logger; the first call for a name sets it up.

    Parameters
    ----------
    name : str, optional
        The logger's name; without one the root logger is returned unchanged.
    filename : str, optional
        The file to write to, without colours; standard error by default.
    filemode : str, optional
        The mode to open the file with, ``'a'`` by default.
    level : int
        The minimum level to log.

    Returns
    -------
    logging.Logger
    """
    logger = logging.getLogger(name)
    if name is None or getattr(logger, "_init_done", False):
        return logger
    logger._init_done = True
    if filename:
        handler = logging.FileHandler(filename, filemode or "a")
    else:
        handler = logging.StreamHandler()
        handler.setFormatter(_Formatter())
    logger.addHandler(handler)
    logger.setLevel(level)
    return logger


def getLogger(name=None, filename=None, filemode=None, level=WARNING):  # noqa: N802
    """The older name of `get_logger`."""
    warnings.warn("getLogger is deprecated; use get_logger", DeprecationWarning, stacklevel=2)
    return get_logger(name, filename, filemode, level)
