"""Public locations of operators: namespace and name, derived from the registered name."""

from functools import cache

from mxcy.ops.core.record import REGISTRY, Op, Public

__all__ = ["INTERNAL", "MAIN", "home", "names", "numpy_homes", "public_names", "registered"]

MAIN = ""  # mx.nd and mx.sym themselves, and their `op`
INTERNAL = "_internal"
_PREFIXED = ("contrib", "linalg", "sparse", "image")


def home(name: str) -> tuple[str | None, str]:
    """Return the namespace of an operator and its name there.

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
    """The names in a namespace."""
    entries = (home(name) for name in REGISTRY)
    return sorted(short for where, short in entries if where == namespace)


def registered(namespace: str, name: str) -> Op | None:
    """The record of a name in a namespace, or None."""
    full = name if namespace in (MAIN, INTERNAL) else f"_{namespace}_{name}"
    if home(full) != (namespace, name):
        return None
    # Submodules and special names that Python looks up do not trigger loading of records.
    there = namespace in ("linalg", "sparse") or name.startswith("__")
    return REGISTRY.known(full) if there else REGISTRY.get(full)


def _own_signature(record: Op) -> str:
    """The parameters of a record, with its own order and names."""
    inputs = [f"*{record.variadic}"] if record.variadic else []
    if not record.variadic:
        inputs = [f"{n}=None" if n in record.optional else n for n in record.inputs]
    if any("=" in n for n in inputs):  # after a default all need one
        inputs = [n if "=" in n else f"{n}=None" for n in inputs]
    fields = [f"{name}=_Null" for name in record.schema.names]
    return ", ".join([*inputs, *fields, "out=None", "name=None"])


@cache
def numpy_homes() -> dict[tuple[str, str], tuple[Op, Public]]:
    """Operators in `mx.np` and `mx.npx`: (namespace, name) -> (record, signature).

    ``('', 'sum')`` is ``mx.np.sum``, ``('linalg', 'det')`` ``mx.np.linalg.det`` and
    ``('npx', 'relu')`` ``mx.npx.relu``. Names starting with ``_npx_`` are in ``npx`` with the
    operator's own parameters, as are those starting with ``_npi_`` in ``_internal``.
    """
    homes: dict[tuple[str, str], tuple[Op, Public]] = {}
    for record in dict.fromkeys(REGISTRY.values()):
        for public in record.numpy:
            for place in public.names():
                if place in homes:
                    raise ValueError(f"mx.np has two operators named {place}")
                homes[place] = record, public
    for name, record in REGISTRY.items():
        if name.startswith(("_npi_", "_np_")):
            place = ("_internal", name.split("_", 2)[2])
        elif name.startswith("_npx__image_"):
            place = ("npx.image", name[12:])
        elif name.startswith("_npx_"):
            place = ("npx", name[5:])
        else:
            continue
        text = f"{'.'.join(place)}({_own_signature(record)})"
        homes.setdefault(place, (record, Public(text)))
    return homes


def public_names(record: Op) -> list[str]:
    """The public names of an operator on arrays: ``mx.nd.relu``, ``mx.npx.relu``, ..."""
    known = []
    for name in (record.name, *record.aliases):
        namespace, short = home(name)
        if namespace not in (None, INTERNAL):
            known.append(f"mx.nd.{f'{namespace}.' if namespace else ''}{short}")
    for (namespace, short), (owner, _) in numpy_homes().items():
        if owner is record and namespace != "_internal":
            top = namespace if namespace.startswith("npx") else f"np.{namespace}".rstrip(".")
            known.append(f"mx.{top}.{short}")
    return list(dict.fromkeys(known))
