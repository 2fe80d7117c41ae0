"""The table of converters: ONNX operator and first opset version -> function.

A row is a function ``row(F, a, *inputs)``. ``F`` creates nodes, ``a`` has the node's attributes
with ONNX's defaults (see `attributes`), omitted inputs are None. It returns a Value, a tuple of
them, or a list for an ONNX sequence.
"""

__all__ = ["ROWS", "find_row", "row"]

#: operator, prefixed by its domain if not ai.onnx -> [(since, function)], newest first
ROWS = {}


def _key(name, domain):
    return f"{domain}.{name}" if domain else name


def row(*names, since=1, domain=""):
    """Decorator that registers a row for operators of a domain from an opset version on."""

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
    """The row of an operator for an opset version of its domain, or None."""
    versions = ROWS.get(_key(name, domain), ())
    return next((function for since, function in versions if since <= opset), None)
