"""A store that sums over Horovod's processes, or, without that package, over MPI processes."""

from mxcy.kvstore import processes
from mxcy.kvstore.base import KVStoreBase, as_list

__all__ = ["Horovod"]


def _library():
    try:
        import horovod.mxnet as library
    except ImportError:
        return processes
    return library


@KVStoreBase.register
class Horovod(KVStoreBase):
    """Sums over the processes started by ``horovodrun`` or `mxcy.tools.launch`."""

    def __init__(self):
        self._library = _library()
        self._library.init()

    @property
    def type(self):
        return "horovod"

    def broadcast(self, key, value, out, priority=0):
        """Copy the first process's value to the arrays of all processes.

        Parameters
        ----------
        key : int or str
        value : NDArray
        out : NDArray or list of NDArray
        priority : int
        """
        for array in as_list(out):
            array[:] = self._library.broadcast(
                tensor=value, root_rank=0, name=str(key), priority=priority
            )

    def pushpull(self, key, value, out=None, priority=0):
        """Sum each array over the processes.

        Parameters
        ----------
        key : int or str
        value : NDArray or list of NDArray
        out : NDArray or list of NDArray, optional
            Destination of the sums; `value` by default.
        priority : int
        """
        settings = {"average": False, "name": str(key), "priority": priority}
        if out is None:
            for array in as_list(value):
                self._library.allreduce_(array, **settings)
            return
        for target, array in zip(as_list(out), as_list(value), strict=True):
            target[:] = self._library.allreduce(array, **settings)

    @staticmethod
    def is_capable(capability):
        """Return False: the store has no optional capabilities."""
        return False

    def set_optimizer(self, optimizer):
        """Do nothing: each process runs the optimizer."""

    def save_optimizer_states(self, fname, dump_optimizer=False):
        """Do nothing: the store has no optimizer."""

    def load_optimizer_states(self, fname):
        """Do nothing: the store has no optimizer."""

    @property
    def rank(self):
        return self._library.rank()

    @property
    def local_rank(self):
        """int: rank of this process on its machine."""
        return self._library.local_rank()

    @property
    def num_workers(self):
        return self._library.size()
