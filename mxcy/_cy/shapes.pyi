class Shape:
    dims: tuple[int, ...]
    size: int
    ndim: int
