"""`mx.io`: data iterators and batches for modules."""

from mxcy._base.listing import listing
from mxcy._base.suggestions import module_getattr
from mxcy.io.array_iter import NDArrayIter
from mxcy.io.batch import DataBatch, DataDesc
from mxcy.io.csv_iter import CSVIter
from mxcy.io.image_det_record_iter import ImageDetRecordIter
from mxcy.io.image_record_iter import (
    ImageRecordInt8Iter,
    ImageRecordIter,
    ImageRecordIter_v1,
    ImageRecordUInt8Iter,
    ImageRecordUInt8Iter_v1,
)
from mxcy.io.iterator import DataIter, ResizeIter
from mxcy.io.libsvm_iter import LibSVMIter
from mxcy.io.loader_iter import MXDataIter
from mxcy.io.mnist_iter import MNISTIter
from mxcy.io.prefetch import PrefetchingIter

__all__ = [
    "CSVIter",
    "DataBatch",
    "DataDesc",
    "DataIter",
    "ImageDetRecordIter",
    "ImageRecordInt8Iter",
    "ImageRecordIter",
    "ImageRecordIter_v1",
    "ImageRecordUInt8Iter",
    "ImageRecordUInt8Iter_v1",
    "LibSVMIter",
    "MNISTIter",
    "MXDataIter",
    "NDArrayIter",
    "PrefetchingIter",
    "ResizeIter",
]

__getattr__ = module_getattr(__name__)
__dir__ = listing(__name__)
