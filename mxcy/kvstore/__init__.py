"""`mx.kvstore`: key-value stores, which sum gradients over devices and hold weights."""

from mxcy._base.listing import listing
from mxcy._base.suggestions import module_getattr
from mxcy.kvstore.base import KVStoreBase
from mxcy.kvstore.byteps import BytePS
from mxcy.kvstore.checkpoints import Checkpoint, checkpoint
from mxcy.kvstore.choice import create
from mxcy.kvstore.horovod import Horovod
from mxcy.kvstore.kvstore import KVStore
from mxcy.kvstore.kvstore_server import KVStoreServer
from mxcy.kvstore.seeds import seed

__all__ = [
    "BytePS",
    "Checkpoint",
    "Horovod",
    "KVStore",
    "KVStoreBase",
    "KVStoreServer",
    "checkpoint",
    "create",
    "seed",
]

__getattr__ = module_getattr(__name__)
__dir__ = listing(__name__)
