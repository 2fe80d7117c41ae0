"""Monitoring of a network's arrays during training."""

import logging
import re

from mxcy import ndarray as nd
from mxcy._base.listing import listing
from mxcy.ndarray import NDArray

__all__ = ["Monitor"]

__dir__ = listing(__name__)


def _mean_magnitude(array):
    """The mean absolute value."""
    return nd.norm(array) / (array.size**0.5)


class Monitor:
    """Collects statistics of operators' outputs and of parameters every `interval` batches.

    Parameters
    ----------
    interval : int
        Number of batches between monitored ones.
    stat_func : callable, optional
        ``stat_func(NDArray)`` returns an NDArray or a list of them; by default the norm divided by
        the square root of the number of elements.
    pattern : str
        Regular expression that array names must match.
    sort : bool
        Whether `toc` sorts by name.
    monitor_all : bool
        Whether to monitor operators' inputs as well.
    """

    def __init__(self, interval, stat_func=None, pattern=".*", sort=False, monitor_all=False):
        self.interval = interval
        self.stat_func = stat_func or _mean_magnitude
        self.re_prog = re.compile(pattern)
        self.sort = sort
        self.monitor_all = monitor_all
        self.activated = False
        self.queue = []
        self.step = 0
        self.exes = []

    def stat_helper(self, name, array):
        """Compute the statistic of an array, if this batch is monitored and the name matches.

        Parameters
        ----------
        name : str
            The array's name.
        array : NDArray
            The array.
        """
        if self.activated and self.re_prog.match(name):
            self.queue.append((self.step, name, self.stat_func(array)))

    def install(self, exe):
        """Monitor an executor.

        Parameters
        ----------
        exe : Executor
            The executor.
        """
        exe.set_monitor_callback(self.stat_helper, self.monitor_all)
        self.exes.append(exe)

    def tic(self):
        """Start a batch; call before `forward`."""
        if self.step % self.interval == 0:
            self.queue = []
            self.activated = True
        self.step += 1

    def toc(self):
        """End a batch.

        Returns
        -------
        list of (int, str, str)
            Batch number, name and statistic; empty for batches that are not monitored.
        """
        if not self.activated:
            return []
        for executor in self.exes:
            for name, array in executor.arg_dict.items():
                self.stat_helper(name, array)
            for name, array in executor.aux_dict.items():
                self.stat_helper(name, array)
        self.activated = False
        queue, self.queue = self.queue, []
        if self.sort:
            queue.sort(key=lambda entry: entry[1])
        return [(step, name, _text_of(values)) for step, name, values in queue]

    def toc_print(self):
        """End a batch and log the results of `toc`."""
        for step, name, text in self.toc():
            logging.info("Batch: %7d %-30s %s", step, name, text)


def _text_of(values):
    """Format one or several statistics, each followed by a tab."""
    values = [values] if isinstance(values, NDArray) else values
    assert isinstance(values, list), "the statistic must be an NDArray or a list of them"
    texts = []
    for value in values:
        assert isinstance(value, NDArray), "the statistic must be an NDArray or a list of them"
        texts.append(str(value.asscalar() if value.size == 1 else value.asnumpy()) + "\t")
    return "".join(texts)
