"""The parts of ``python -m tests.gpu.on_hardware``, which checks everything that needs a GPU."""
