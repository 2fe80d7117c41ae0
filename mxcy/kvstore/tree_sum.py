"""Sums over devices along trees of fast links."""

import math
import sys

from mxcy import env
from mxcy import ndarray as nd
from mxcy.base import MXNetError
from mxcy.kvstore.trees import find_trees, links_in_use, pairs

__all__ = ["TreeSum"]


class TreeSum:
    """Sums arrays over a set of devices, and broadcasts values to them.

    Parameters
    ----------
    contexts : sequence of Context
        The devices, in the order of their arrays.
    """

    def __init__(self, contexts):
        links = links_in_use(_speeds(contexts))
        self.trees = find_trees(
            links,
            env.get("MXNET_KVSTORE_TREE_LINK_USAGE_PENALTY"),
            env.get("MXNET_KVSTORE_TREE_BACKTRACK"),
        )
        self._bound = env.get("MXNET_KVSTORE_TREE_ARRAY_BOUND")
        if env.get("MXNET_KVSTORE_LOGTREE"):
            print(self._described(links), file=sys.stderr, flush=True)

    def slices(self, shape):
        """Number of row slices for an array of this shape; each slice uses its own tree."""
        size = len(self.trees)
        is_big = math.prod(shape) > self._bound and shape[0] >= 2 * size
        return size if is_big else 1

    def sum(self, arrays, root):
        """Sum one array per device, at device `root` unless summed in slices."""
        number = self.slices(arrays[0].shape)
        if number == 1:
            return self._up(arrays, root)
        ends = self._ends(arrays[0], number)
        sums = [
            self._up([array[start:end] for array in arrays], i)
            for i, (start, end) in enumerate(ends)
        ]
        return nd.concat(*(part.as_in_context(arrays[0].context) for part in sums), dim=0)

    def spread(self, value, arrays, root):
        """Copy a value to one array per device."""
        number = self.slices(value.shape)
        if number == 1:
            return self._down(value, arrays, root)
        for i, (start, end) in enumerate(self._ends(value, number)):
            self._down(value[start:end], [array[start:end] for array in arrays], i)

    def _up(self, arrays, root):
        sums = list(arrays)
        for left, right in reversed(list(pairs(self.trees[root]))):
            sums[left] = sums[left] + sums[right].as_in_context(sums[left].context)
        return sums[root]

    def _down(self, value, arrays, root):
        value.copyto(arrays[root])
        for left, right in pairs(self.trees[root]):
            arrays[left].copyto(arrays[right])

    @staticmethod
    def _ends(array, number):
        cuts = [round(array.shape[0] * i / number) for i in range(number + 1)]
        return list(zip(cuts[:-1], cuts[1:], strict=True))

    def _described(self, links):
        rows = [" ".join(f"{weight:5.3g}" for weight in row) for row in links]
        trees = [" | ".join(" ".join(map(str, level)) for level in tree) for tree in self.trees]
        return "\n".join(["mxcy kvstore: links", *rows, "mxcy kvstore: trees", *trees])


def _speeds(contexts):
    """Link speeds between devices: MXCY_DEVICE_LINKS, or all through the host."""
    known = env.get("MXCY_DEVICE_LINKS")
    numbers = [context.device_id for context in contexts]
    if known and max(numbers) >= len(known):
        raise MXNetError(
            f"MXCY_DEVICE_LINKS has links of {len(known)} devices, got device {max(numbers)}"
        )
    if known:
        return [[known[a][b] for b in numbers] for a in numbers]
    return [[int(a != b) for b in numbers] for a in numbers]
