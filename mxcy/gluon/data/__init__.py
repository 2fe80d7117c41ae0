"""Data sets, samplers and data loaders."""

from mxcy._base.listing import listing
from mxcy._base.suggestions import module_getattr
from mxcy.gluon.data import batchify, dataloader, dataset, sampler, vision
from mxcy.gluon.data.dataloader import DataLoader
from mxcy.gluon.data.dataset import ArrayDataset, Dataset, RecordFileDataset, SimpleDataset
from mxcy.gluon.data.sampler import (
    BatchSampler,
    FilterSampler,
    IntervalSampler,
    RandomSampler,
    Sampler,
    SequentialSampler,
    SplitSampler,
)

__all__ = [
    "ArrayDataset",
    "BatchSampler",
    "DataLoader",
    "Dataset",
    "FilterSampler",
    "IntervalSampler",
    "RandomSampler",
    "RecordFileDataset",
    "Sampler",
    "SequentialSampler",
    "SimpleDataset",
    "SplitSampler",
    "batchify",
    "dataloader",
    "dataset",
    "sampler",
    "vision",
]

__getattr__ = module_getattr(__name__)
__dir__ = listing(__name__)
