"""Small helpers for optimizers."""

__all__: list[str] = []


def _flatten_list(nested_list):
    """Flatten a list of lists."""
    return [item for inner in nested_list for item in inner]
