"""The contenders of the inference table."""

from benchmarks.score import contenders
from benchmarks.score.contenders import CONTENDERS

__all__ = ["Field"]

#: contenders of rows whose runs hand states to the next ones; as in `CONTENDERS`
STEPPING = {
    name: (environment, f"{kind.split(':')[0]}:Stepping")
    for name, (environment, kind) in CONTENDERS.items()
    if name != "PyTorch compile"
}


class Field(contenders.Field):
    """All contenders with one row's network, each in a separate process; see the base class."""

    worker = "benchmarks.infer.worker"

    def __init__(self, material, peers, threads, only=None):
        self.tables = {"float32": STEPPING if material.row.states else CONTENDERS}
        super().__init__(material, peers, threads, only)
