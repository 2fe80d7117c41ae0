"""A stand-in for a CUDA device: CUDA source, the driver and cuBLAS on the CPU, under the real CuPy.

No GPU code runs here; ``on_hardware.py`` has the checks that need a GPU.
"""
