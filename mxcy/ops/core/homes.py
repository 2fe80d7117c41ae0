"""Where users find an operator: a namespace and a name there, told from its registered name."""

from mxcy.ops.core.record import REGISTRY, Op

__all__ = ["INTERNAL", "MAIN", "home", "names", "registered"]

MAIN = ""  # mx.nd and mx.sym themselves, and their `op`
INTERNAL = "_internal"
_PREFIXED = ("contrib", "linalg", "sparse", "image")


def home(name: str) -> tuple[str | None, str]:
    """The namespace of an operator and its name there.

    Parameters
    ----------
    name : str
        A registered name or alias.

    Returns
    -------
    (str or None, str)
        ``('linalg', 'gemm')`` for ``_linalg_gemm``. The namespace is `MAIN` for public names,
        `INTERNAL` for those with a leading underscore, None for operators of `mx.np`.
    """
    for namespace in _PREFIXED:
        prefix = f"_{namespace}_"
        if name.startswith(prefix):
            return namespace, name[len(prefix) :]
    if name.startswith("_random_") and name.endswith("_like"):
        return "random", name[len("_random_") :]
    if name.startswith("_np"):
        return None, name
    return (INTERNAL if name.startswith("_") else MAIN), name


def names(namespace: str) -> list[str]:
    """The names that a namespace offers."""
    found = (home(name) for name in REGISTRY)
    return sorted(short for where, short in found if where == namespace)


def registered(namespace: str, name: str) -> Op | None:
    """The record behind a namespace's name, or None."""
    full = name if namespace in (MAIN, INTERNAL) else f"_{namespace}_{name}"
    return REGISTRY.get(full) if home(full) == (namespace, name) else None
