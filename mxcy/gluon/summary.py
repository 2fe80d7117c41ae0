"""The table that `Block.summary` prints."""

from math import prod

from mxcy.ndarray import NDArray

__all__ = ["print_summary"]

_ROW = "{:>20}  {:>42} {:>15}"
_WIDTH = 80


def print_summary(block, inputs):
    """Run a block once and print a row for every layer except containers.

    Parameters
    ----------
    block : Block
        The network, not hybridized.
    inputs : tuple of NDArray
        A batch.
    """
    rows, seen = [], {}
    totals = {"all": 0, "trainable": 0, "shared": 0}
    handles = []

    def count(layer, _, outputs):
        size_of_layer = 0
        for parameter in layer._reg_params.values():
            size = prod(parameter.shape)
            size_of_layer += size
            totals["all"] += size
            totals["trainable"] += size if parameter.grad_req != "null" else 0
            totals["shared"] += size if id(parameter) in seen else 0
            seen[id(parameter)] = size
        title = f"{type(layer).__name__}-{len(rows) + 1}"
        rows.append((title, _shapes(outputs), size_of_layer))

    def watch(layer):
        assert not getattr(layer, "_active", False), (
            f'"{layer.name}" must not be hybridized to print summary.'
        )
        if not layer._is_container:
            handles.append(layer.register_forward_hook(count))

    try:
        block.apply(watch)
        block(*inputs)
    finally:
        for handle in handles:
            handle.detach()

    print("-" * _WIDTH)
    print(_ROW.format("Layer (type)", "Output Shape", "Param #"))
    print("=" * _WIDTH)
    for row in [("Input", _shapes(inputs), 0), *rows]:
        print(_ROW.format(*row))
    print("=" * _WIDTH)
    print("Parameters in forward computation graph, duplicate included")
    print(f"   Total params: {totals['all']}")
    print(f"   Trainable params: {totals['trainable']}")
    print(f"   Non-trainable params: {totals['all'] - totals['trainable']}")
    print(f"Shared params in forward computation graph: {totals['shared']}")
    print(f"Unique parameters in model: {totals['all'] - totals['shared']}")
    print("-" * _WIDTH)


def _shapes(arrays):
    """Format the shapes of nested lists of arrays."""
    if isinstance(arrays, NDArray):
        return str(arrays.shape)
    if isinstance(arrays, (list, tuple)):
        return ", ".join(_shapes(array) for array in arrays)
    return str(arrays)
