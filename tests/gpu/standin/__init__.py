"""A stand-in for a CUDA device: CUDA source, the driver and cuBLAS on the CPU, under the real CuPy.

No GPU code runs here. What only a GPU can tell is left to ``on_hardware.py``.
"""
