"""mxcy: MXNet's Python interface on today's Python and NumPy 2."""

# Written by `python -m tools.stubs --write`.

import numpy as np
from mxcy import attribute as attribute
from mxcy import autograd as autograd
from mxcy import callback as callback
from mxcy import container as container
from mxcy import contrib as contrib
from mxcy import cuda as cuda
from mxcy import device as device
from mxcy import dlpack as dlpack
from mxcy import engine as engine
from mxcy import error as error
from mxcy import executor as executor
from mxcy import executor_manager as executor_manager
from mxcy import gluon as gluon
from mxcy import image as image
from mxcy import image as img
from mxcy import initializer as init
from mxcy import initializer as initializer
from mxcy import io as io
from mxcy import kvstore as kv
from mxcy import kvstore as kvstore
from mxcy import library as library
from mxcy import log as log
from mxcy import lr_scheduler as lr_scheduler
from mxcy import metric as metric
from mxcy import misc as misc
from mxcy import model as model
from mxcy import module as mod
from mxcy import module as module
from mxcy import monitor as mon
from mxcy import monitor as monitor
from mxcy import name as name
from mxcy import ndarray as nd
from mxcy import ndarray as ndarray
from mxcy import numpy as np
from mxcy import numpy as numpy
from mxcy import numpy_extension as npx
from mxcy import numpy_extension as numpy_extension
from mxcy import operator as operator
from mxcy import optimizer as opt
from mxcy import optimizer as optimizer
from mxcy import profiler as profiler
from mxcy import random as random
from mxcy import random as rnd
from mxcy import recordio as recordio
from mxcy import registry as registry
from mxcy import resource as resource
from mxcy import rnn as rnn
from mxcy import rtc as rtc
from mxcy import runtime as runtime
from mxcy import storage as storage
from mxcy import symbol as sym
from mxcy import symbol as symbol
from mxcy import test_utils as test_utils
from mxcy import torch as th
from mxcy import torch as torch
from mxcy import util as util
from mxcy import visualization as visualization
from mxcy import visualization as viz
from mxcy.attribute import AttrScope as AttrScope
from mxcy.base import MXNetError as MXNetError
from mxcy.context import Context as Context
from mxcy.context import Context as Device
from mxcy.context import cpu as cpu
from mxcy.context import cpu_pinned as cpu_pinned
from mxcy.context import current_context as current_context
from mxcy.context import current_context as current_device
from mxcy.context import gpu as gpu
from mxcy.context import num_gpus as num_gpus
from mxcy.kvstore import kvstore_server as kvstore_server
from mxcy.util import is_np_array as is_np_array
from mxcy.util import is_np_default_dtype as is_np_default_dtype
from mxcy.util import is_np_shape as is_np_shape
from mxcy.util import np_array as np_array
from mxcy.util import np_default_dtype as np_default_dtype
from mxcy.util import np_shape as np_shape
from mxcy.util import set_np_shape as set_np_shape
from mxcy.util import use_np as use_np
from mxcy.util import use_np_array as use_np_array
from mxcy.util import use_np_default_dtype as use_np_default_dtype
from mxcy.util import use_np_shape as use_np_shape

__all__ = ['AttrScope', 'Context', 'Device', 'MXNetError', 'attribute', 'autograd', 'callback', 'container', 'contrib', 'cpu', 'cpu_pinned', 'cuda', 'current_context', 'current_device', 'device', 'dlpack', 'engine', 'error', 'executor', 'executor_manager', 'gluon', 'gpu', 'image', 'img', 'init', 'initializer', 'io', 'is_np_array', 'is_np_default_dtype', 'is_np_shape', 'kv', 'kvstore', 'kvstore_server', 'library', 'log', 'lr_scheduler', 'metric', 'misc', 'mod', 'model', 'module', 'mon', 'monitor', 'name', 'nd', 'ndarray', 'np', 'np_array', 'np_default_dtype', 'np_shape', 'npx', 'num_gpus', 'numpy', 'numpy_extension', 'operator', 'opt', 'optimizer', 'profiler', 'random', 'recordio', 'registry', 'resource', 'rnd', 'rnn', 'rtc', 'runtime', 'set_np_shape', 'storage', 'sym', 'symbol', 'test_utils', 'th', 'torch', 'use_np', 'use_np_array', 'use_np_default_dtype', 'use_np_shape', 'util', 'visualization', 'viz']
__version__: str
