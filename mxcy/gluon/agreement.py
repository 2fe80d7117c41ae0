"""Checks that a parameter agrees with the arguments of `get`, and name lists for error messages."""

from mxcy._base import dtypes

__all__ = ["brief", "reconcile"]


def reconcile(parameter, attribute, wanted):
    """Merge an argument of `get` into an existing parameter; raise if they contradict."""
    existing = getattr(parameter, attribute, None)
    if existing is None:
        setattr(parameter, attribute, wanted)
        return
    if attribute == "shape" and wanted is not None:
        merged = _merged_shape(existing, (wanted,) if isinstance(wanted, int) else wanted)
        if merged is not None:
            parameter._shape = merged
            return
    elif attribute == "dtype" and dtypes.code_of(wanted) == dtypes.code_of(existing):
        return
    assert wanted is None or wanted == existing, (
        f"Cannot retrieve Parameter '{parameter.name}' because desired attribute does not match "
        f"with stored for attribute '{attribute}': desired '{wanted}' vs stored '{existing}'."
    )


def _merged_shape(a, b):
    """Merge two shapes with unknown extents; None if they conflict."""
    if len(a) != len(b):
        return None
    merged = []
    for m, n in zip(a, b, strict=True):
        if m > 0 and n > 0 and m != n:
            return None
        merged.append(m if m > 0 else n)
    return tuple(merged)


def brief(names, at_most=6):
    """Format a list of names for a message; the middle of a long list is left out."""
    names = [f"'{name}'" for name in names]
    if len(names) > at_most:
        half = at_most // 2
        names = [*names[:half], "...", *names[-half:]]
    return ", ".join(names)
