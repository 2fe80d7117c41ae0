"""`mx.kvstore`: stores that add up gradients of several devices and keep the weights."""

from mxcy.kvstore.base import KVStoreBase, create
from mxcy.kvstore.kvstore import KVStore

__all__ = ["KVStore", "KVStoreBase", "create"]
