"""`mx.module`: training of networks given as symbols."""

from mxcy._base.listing import listing
from mxcy._base.suggestions import module_getattr
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

__getattr__ = module_getattr(__name__)
__dir__ = listing(__name__)
