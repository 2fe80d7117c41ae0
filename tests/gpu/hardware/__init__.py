"""Parts of the hardware checks: ``python -m tests.gpu.on_hardware``."""
