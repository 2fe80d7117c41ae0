"""Binary trees over devices that use the fastest links, one tree per root device."""

import functools
import itertools

__all__ = ["find_trees", "links_in_use", "pairs"]

#: maximum number of devices for the exhaustive search
_MOST_TRIED = 10


class _NoLink(Exception):
    """Two halves of the devices that must be joined are not linked."""


def links_in_use(speeds):
    """Compute the weights of links from their speeds.

    Parameters
    ----------
    speeds : list of list of int
        Symmetric: 0 on the diagonal, 1 for a link through the host, more for faster ones.

    Returns
    -------
    list of list of float
        Links through the host have weight 0 if the faster ones reach all devices, and otherwise 1
        over the number of devices.
    """
    size = len(speeds)
    reached, border = {0}, [0]
    while border:
        device = border.pop()
        near = {other for other in range(size) if speeds[device][other] > 1} - reached
        reached |= near
        border += near
    slow = 0 if len(reached) == size else 1 / size
    return [[slow if speed == 1 else speed for speed in row] for row in speeds]


def find_trees(links, penalty=0.7, try_all=False):
    """Find a tree for each root; later trees avoid the links of earlier ones.

    Parameters
    ----------
    links : list of list of float
        Symmetric matrix of the links' weights.
    penalty : float
        Factor of a link's weight for each tree that uses it.
    try_all : bool
        Search all trees for the heaviest, rather than bisect the devices by the method of
        Kernighan and Lin (1970); also used as a fallback if halves are not linked.

    Returns
    -------
    list of list of list of int
        The levels of each tree. Level k has 2**k devices; those at 2 i and 2 i + 1 are the children
        of device i of the previous level: that device itself, and the device linked to it. Both are
        the same if there is no link.
    """
    links = [list(row) for row in links]
    trees = []
    for root in range(len(links)):
        tree = _heaviest(root, links) if try_all else _halved(root, links)
        trees.append(tree)
        for left, right in pairs(tree):
            links[left][right] = links[right][left] = links[left][right] * penalty
    return trees


def pairs(tree):
    """The links of a tree, (upper device, lower device), starting at the root."""
    for level in tree[1:]:
        for left, right in zip(level[::2], level[1::2], strict=True):
            if left != right:
                yield left, right


def _grow(root, size, divide):
    """Grow a tree; divide(device, its devices, levels left): near part, far part, far device."""
    tree, parts = [[root]], [tuple(range(size))]
    for left in reversed(range((size - 1).bit_length())):
        level, smaller = [], []
        for device, part in zip(tree[-1], parts, strict=True):
            near, far, other = divide(device, part, left) if part[1:] else (part, part, device)
            level += [device, other]
            smaller += [near, far]
        tree.append(level)
        parts = smaller
    return tree


def _halved(root, links):
    may_try_all = len(links) <= _MOST_TRIED

    def divide(device, part, _):
        near, far = _halves(part, links)
        if device in far:
            near, far = far, near
        other = max(far, key=links[device].__getitem__)
        if not links[device][other] and may_try_all:
            raise _NoLink
        return near, far, other

    try:
        return _grow(root, len(links), divide)
    except _NoLink:
        return _heaviest(root, links)


def _halves(part, links):
    """Bisect devices with little weight between the halves (Kernighan and Lin, 1970)."""
    middle = (len(part) + 1) // 2
    left, right = list(part[:middle]), list(part[middle:])

    def pull(device, there, here):  # reduction of the cut by moving the device
        return sum(links[device][i] for i in there) - sum(links[device][i] for i in here)

    while True:
        first, second, swaps, gains = list(left), list(right), [], [0]
        for _ in right:
            free = itertools.product(
                [i for i in first if i in left], [i for i in second if i in right]
            )
            gain, a, b = max(
                (
                    (pull(a, second, first) + pull(b, first, second) - 2 * links[a][b], a, b)
                    for a, b in free
                ),
                key=lambda gain: gain[0],
            )
            first[first.index(a)], second[second.index(b)] = b, a
            swaps.append((a, b))
            gains.append(gains[-1] + gain)
        best = gains.index(max(gains))
        if gains[best] < 1e-9:
            return tuple(left), tuple(right)
        for a, b in swaps[:best]:
            left[left.index(a)], right[right.index(b)] = b, a


def _heaviest(root, links):
    @functools.cache
    def best(device, part, left):
        """(weight, near part, far part, far device) of the heaviest tree."""
        if not part[1:]:
            return 0, part, part, device
        heaviest = None
        others = [i for i in part if i != device]
        most = 2**left
        for size in range(max(len(part) - most, 1), min(most, len(others)) + 1):
            for far in itertools.combinations(others, size):
                near = tuple(i for i in part if i not in far)
                tail = best(device, near, left - 1)[0]
                for other in far:
                    weight = tail + links[device][other] + best(other, far, left - 1)[0]
                    if heaviest is None or weight > heaviest[0]:
                        heaviest = weight, near, far, other
        return heaviest

    return _grow(root, len(links), lambda *where: best(*where)[1:])
