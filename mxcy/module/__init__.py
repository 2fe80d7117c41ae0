"""`mx.module`: networks given as symbols, together with what trains them."""

from mxcy.module.base_module import BaseModule
from mxcy.module.bucketing_module import BucketingModule
from mxcy.module.module import Module
from mxcy.module.python_module import PythonLossModule, PythonModule
from mxcy.module.sequential_module import SequentialModule

__all__ = [
    "BaseModule",
    "BucketingModule",
    "Module",
    "PythonLossModule",
    "PythonModule",
    "SequentialModule",
]
