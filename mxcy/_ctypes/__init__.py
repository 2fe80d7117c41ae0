"""The ctypes front: the names of `mxcy._library.front` without any compiled Python module.

Arrays are thin wrappers of NumPy memory; kernels of libmxcy run through ctypes, everything else by
the records' references.
"""
