"""Data sets of images, and transforms."""

# Written by `python -m tools.stubs --write`.

from mxcy.gluon.data.vision import (
    datasets as datasets, transforms as transforms,
)
from mxcy.gluon.data.vision.datasets import (
    CIFAR10 as CIFAR10, CIFAR100 as CIFAR100, FashionMNIST as FashionMNIST, MNIST as MNIST,
)
from mxcy.gluon.data.vision.image_files import (
    ImageFolderDataset as ImageFolderDataset, ImageListDataset as ImageListDataset,
    ImageRecordDataset as ImageRecordDataset,
)
