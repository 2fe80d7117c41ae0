"""A network as its ``symbol.json`` tells it, for readers that have no MXNet.

Runs in every contender's environment: the standard library is all it needs.
"""

import ast
import json
from pathlib import Path

__all__ = ["Node", "read_graph", "PARAMETER_OF"]

# What a parameter is to its operator, by the end of its name.
PARAMETER_OF = ("weight", "bias", "gamma", "beta", "moving_mean", "moving_var")


class Node:
    """One operator: `op`, `name`, `attrs` (values, not texts) and `inputs` (positions of nodes)."""

    def __init__(self, entry):
        self.op, self.name = entry["op"], entry["name"]
        self.attrs = {name: _value(text) for name, text in entry.get("attrs", {}).items()}
        self.inputs = [position for position, *_ in entry["inputs"]]

    def get(self, name, default=None):
        """An attribute, or what it is when the file does not say."""
        return self.attrs.get(name, default)

    def pair(self, name, default):
        """An attribute of two numbers, for height and width."""
        return tuple(self.attrs.get(name) or (default, default))


def _value(text):
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def read_graph(folder):
    """The nodes of ``folder/symbol.json`` in the order of computation; the last one is the output.

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
