"""The store that sums in slices, by priority."""

from mxcy.base import MXNetError
from mxcy.kvstore.base import KVStoreBase
from mxcy.kvstore.kvstore import KVStore

__all__ = ["SlicedKVStore"]


class SlicedKVStore(KVStore):
    """``'dist_sync'`` under DMLC_PS_VAN_TYPE=p3, which only sums.

    Parameters
    ----------
    handle : ServedStore
        The backend that holds the values.
    """

    @staticmethod
    def is_capable(capability):
        """Return False: the store cannot run an optimizer."""
        if capability.lower() == KVStoreBase.OPTIMIZER:
            return False
        raise ValueError(f"Unknown capability: {capability}")

    def pushpull(self, key, value, out=None, priority=0):
        """Sum and copy; of several keys the first ones have the highest priority."""
        if not isinstance(key, list | tuple):
            super().pushpull(key, value, out, priority)
            return
        outs = value if out is None else out
        for i, (each_key, arrays, outputs) in enumerate(zip(key, value, outs, strict=True)):
            super().pushpull(each_key, arrays, outputs, priority - i)

    def _set_updater(self, updater):
        raise MXNetError("with DMLC_PS_VAN_TYPE=p3 a store cannot run an optimizer")

    def set_optimizer(self, optimizer):
        """Raise an error: the optimizer runs in the workers."""
        self._set_updater(optimizer)

    def set_gradient_compression(self, compression_params):
        """Raise an error: slices are not compressed."""
        raise MXNetError("with DMLC_PS_VAN_TYPE=p3 a store cannot compress gradients")

    def row_sparse_pull(self, key, out=None, priority=0, row_ids=None):
        """Raise an error: slices are dense."""
        raise MXNetError("with DMLC_PS_VAN_TYPE=p3 a store has dense values only")
