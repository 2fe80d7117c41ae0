"""`mx.executor`: symbols bound to arrays."""

from mxcy._execute.executor import Executor
from mxcy._execute.executor_arrays import head_gradient as _head  # noqa: F401

__all__ = ["Executor"]
