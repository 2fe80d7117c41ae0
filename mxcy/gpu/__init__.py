"""CUDA devices behind ``mx.gpu(i)``: the driver, memory, copies and operators; see docs/gpu.md."""
