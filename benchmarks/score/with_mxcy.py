"""mxcy, the network as one plan."""

import mxcy
from benchmarks.score import with_symbols


class Contender(with_symbols.Contender):
    mx, title = mxcy, "mxcy"


class Quantized(with_symbols.Quantized):
    mx, title = mxcy, "mxcy"


class Narrow(Contender):
    """The same in bfloat16, converted by `amp`; parameters are rounded once, with their norms."""

    def __init__(self, folder, threads):
        super().__init__(folder, threads)
        self._symbol, self._arguments, self._auxiliary = mxcy.amp.convert_model(
            self._symbol, self._arguments, self._auxiliary, target_dtype="bfloat16"
        )

    def output(self):
        return self._executor.outputs[0].astype("float32").asnumpy()

    def about(self):
        return f"{super().about()} bf16 by amp"
