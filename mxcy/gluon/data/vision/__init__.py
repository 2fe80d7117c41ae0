"""Data sets of images, and transforms."""

from mxcy.gluon.data.vision import datasets, transforms
from mxcy.gluon.data.vision.datasets import CIFAR10, CIFAR100, MNIST, FashionMNIST

__all__ = ["CIFAR10", "CIFAR100", "FashionMNIST", "MNIST", "datasets", "transforms"]
