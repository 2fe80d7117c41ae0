"""Image classification networks as symbols; each module has ``get_symbol(num_classes, ...)``."""
