"""`mx.executor`: symbols bound to arrays."""

from mxcy._execute.executor import Executor

__all__ = ["Executor"]
