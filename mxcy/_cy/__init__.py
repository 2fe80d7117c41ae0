"""The Cython front: arrays, memory pools, cached calls and the autograd tape."""
