"""The table: ONNX operator and the version since when -> an expression in our operators.

A row is a function ``row(F, a, *inputs)``. ``F`` makes the nodes, ``a`` has the node's attributes
with ONNX's defaults (see `attributes`), inputs that the node leaves out are None. It returns a
Value, a tuple of them, or a list where ONNX has a sequence.
"""

__all__ = ["ROWS", "find_row", "row"]

#: operator, with its domain before it if that is not ai.onnx's -> [(since, function)], newest first
ROWS = {}


def _key(name, domain):
    return f"{domain}.{name}" if domain else name


def row(*names, since=1, domain=""):
    """Register the function as the row of operators of a domain from a version of its opset on."""

    def register(function):
        for name in names:
            versions = ROWS.setdefault(_key(name, domain), [])
            if any(known == since for known, _ in versions):
                raise ValueError(f"ONNX operator {name} has two rows since {since}")
            versions.append((since, function))
            versions.sort(key=lambda version: -version[0])
        if not function.__doc__:
            function.__doc__ = f"The expression of ONNX's {', '.join(names)} since opset {since}."
        return function

    return register


def find_row(name, opset, domain=""):
    """The row of an operator in a version of its domain's opset, or None."""
    versions = ROWS.get(_key(name, domain), ())
    return next((function for since, function in versions if since <= opset), None)
