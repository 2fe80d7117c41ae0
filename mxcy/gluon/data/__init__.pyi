"""Data sets, samplers and data loaders."""

# Written by `python -m tools.stubs --write`.

from mxcy.gluon.data import (
    batchify as batchify, dataloader as dataloader, dataset as dataset, sampler as sampler,
    vision as vision,
)
from mxcy.gluon.data.dataloader import (
    DataLoader as DataLoader,
)
from mxcy.gluon.data.dataset import (
    ArrayDataset as ArrayDataset, Dataset as Dataset, RecordFileDataset as RecordFileDataset,
    SimpleDataset as SimpleDataset,
)
from mxcy.gluon.data.sampler import (
    BatchSampler as BatchSampler, FilterSampler as FilterSampler,
    IntervalSampler as IntervalSampler, RandomSampler as RandomSampler, Sampler as Sampler,
    SequentialSampler as SequentialSampler, SplitSampler as SplitSampler,
)
