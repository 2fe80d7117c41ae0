"""Small things that optimizers need."""

__all__: list[str] = []


def _flatten_list(nested_list):
    """The items of a list of lists, in one list."""
    return [item for inner in nested_list for item in inner]
