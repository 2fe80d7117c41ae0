"""Where the entries of a graph live in the arena: each on its own, for now."""

__all__ = ["Memory", "plan_memory"]


class Memory:
    """Byte offsets of entries in the arena, and its size."""

    def __init__(self):
        self.offsets, self.total = {}, 0


def plan_memory(graph, calls, external, settings):
    """Give every entry that is not external a place of its own."""
    made = Memory()
    for number, specs in enumerate(graph.specs):
        for index, spec in enumerate(specs):
            if (number, index) not in external:
                made.offsets[number, index] = made.total
                made.total += -(-spec.nbytes // 64) * 64
    return made
