"""Read a network from ``symbol.json`` without MXNet.

Runs in every contender's environment, so it needs only the standard library.
"""

import ast
import json
from pathlib import Path

__all__ = ["Node", "read_graph", "PARAMETER_OF"]

# The role of a parameter, by the suffix of its name.
PARAMETER_OF = ("weight", "bias", "gamma", "beta", "moving_mean", "moving_var")


class Node:
    """An operator: `op`, `name`, `attrs` (values, not strings) and `inputs` (indices of nodes)."""

    def __init__(self, entry):
        self.op, self.name = entry["op"], entry["name"]
        self.attrs = {name: _value(text) for name, text in entry.get("attrs", {}).items()}
        self.inputs = [position for position, *_ in entry["inputs"]]

    def get(self, name, default=None):
        """Return an attribute, or its default if the file lacks it."""
        return self.attrs.get(name, default)

    def pair(self, name, default):
        """Return an attribute with values for height and width."""
        return tuple(self.attrs.get(name) or (default, default))


def _value(text):
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def read_graph(folder):
    """Read the nodes of ``folder/symbol.json`` in topological order; the last one is the output.

    Parameters
    ----------
    folder : str or Path

    Returns
    -------
    list of Node
        Variables have the op "null".
    """
    text = json.loads(Path(folder, "symbol.json").read_text())
    return [Node(entry) for entry in text["nodes"]]
