"""What quantization did, as a table for MXCY_VERBOSE=passes."""

from mxcy.graph.node import topological

__all__ = ["print_table"]


def print_table(answer=None, ranges=None):
    """Print which nodes were quantized and why others were not, or the ranges of layers.

    Parameters
    ----------
    answer : mxcy.graph.passes.quantize.Answer, optional
    ranges : dict of str to (float, float), optional
    """
    rows = []
    if answer is not None:
        for node in topological(answer.entries):
            if node.op is not None and node.name.startswith("quantized_"):
                rows.append((node.name.removeprefix("quantized_"), node.op.name))
        rows += [(name, f"float: {reason}") for name, reason in answer.kept.items()]
    if ranges is not None:
        rows += [
            (name, f"{float(low):.6g} ... {float(high):.6g}")
            for name, (low, high) in ranges.items()
        ]
    width = max((len(name) for name, _ in rows), default=0)
    for name, told in rows:
        print(f"mxcy quantize {name:{width}}  {told}", flush=True)
