"""What only a GPU can tell, as parts of one program: ``python -m tests.gpu.on_hardware``."""
