"""A store that sums over BytePS servers, or, without that package, over MPI processes."""

from mxcy.kvstore import processes
from mxcy.kvstore.base import KVStoreBase, as_list
from mxcy.ndarray import NDArray

__all__ = ["BytePS"]


class _Processes:
    """The subset of byteps used by the store, implemented over MPI."""

    init = staticmethod(processes.init)
    rank = staticmethod(processes.rank)
    local_rank = staticmethod(processes.local_rank)
    size = staticmethod(processes.size)

    def byteps_declare_tensor(self, name):
        """Do nothing: calls are matched by name."""

    def byteps_push_pull(self, tensor, version, priority, name, is_average):
        processes.allreduce_(tensor, is_average, name, priority)


@KVStoreBase.register
class BytePS(KVStoreBase):
    """Sums over the processes started by ``bpslaunch`` or `mxcy.tools.launch`."""

    def __init__(self):
        try:
            import byteps.mxnet as library
        except ImportError:
            library = _Processes()
        self.handle = library
        self.handle.init()

    @property
    def type(self):
        return "byteps"

    def _summed(self, key, value, priority):
        self.handle.byteps_declare_tensor(str(key))
        self.handle.byteps_push_pull(
            value, version=0, priority=priority, name=str(key), is_average=False
        )

    def broadcast(self, key, value, out, priority=0):
        """Copy the first process's value to the arrays of all processes.

        Parameters
        ----------
        key : int or str
        value : NDArray, or list of one
        out : NDArray or list of NDArray
        priority : int
        """
        value, targets = _only(key, value), as_list(out)
        summed = value if len(targets) == 1 and targets[0] is value else value.copy()
        if self.rank != 0:
            summed[:] = 0  # the sum over all processes is then the first one's value
        self._summed(key, summed, priority)
        summed.wait_to_read()
        for target in targets:
            summed.copyto(target)

    def pushpull(self, key, value, out=None, priority=0):
        """Sum an array over the processes.

        Parameters
        ----------
        key : int or str
        value : NDArray, or list of one
        out : NDArray or list of NDArray, optional
            Destination of the sum; `value` by default.
        priority : int
        """
        value = _only(key, value)
        targets = [value] if out is None else as_list(out)
        summed = value if len(targets) == 1 and targets[0] is value else value.copy()
        self._summed(key, summed, priority)
        for target in targets:
            if target is not summed:
                summed.copyto(target)

    @staticmethod
    def is_capable(capability):
        """Return False: the store has no optional capabilities."""
        return False

    @property
    def rank(self):
        return self.handle.rank()

    @property
    def local_rank(self):
        """int: rank of this process on its machine."""
        return self.handle.local_rank()

    @property
    def num_workers(self):
        return self.handle.size()


def _only(key, value):
    assert isinstance(key, (str, int)), f"expected one key, got {key!r}"
    array = value[0] if isinstance(value, list) and len(value) == 1 else value
    assert isinstance(array, NDArray), f"expected an NDArray or a list of one, got {type(value)}"
    return array
