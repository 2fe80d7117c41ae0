KERNELS: tuple[str, ...]
