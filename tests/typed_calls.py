"""Type checking of the stubs: `make lint-mypy` checks this program, which never runs.

Type checkers must reject the lines with ``type: ignore``; an unused ignore is an error.
"""

from typing import Any, assert_type

import numpy as np

import mxcy as mx

# Operators, their methods, arithmetic and what is written by hand return arrays.
x = mx.nd.softmax(mx.nd.ones((2, 3)), axis=-1)
assert_type(x, mx.nd.NDArray)
assert_type(x.exp(), mx.nd.NDArray)
assert_type(2 * x + 1, mx.nd.NDArray)
assert_type(x.reshape((3, 2)).T.asnumpy(), np.ndarray[Any, Any])
assert_type(x.shape, tuple[int, ...])
assert_type(mx.nd.contrib.box_iou(x, x, format="corner"), mx.nd.NDArray)
assert_type(mx.nd.random.uniform(0, 1, (2, 3)), mx.nd.NDArray)
assert_type(mx.nd.linalg.gemm2(x, x, transpose_b=True), mx.nd.NDArray)
assert_type([row.sum() for row in x], list[mx.nd.NDArray])

# Symbols make variables of the inputs that a call leaves out.
net = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=10, name="fc")
assert_type(net, mx.sym.Symbol)
assert_type(mx.sym.Activation(net, act_type="relu") + 1, mx.sym.Symbol)

# Blocks and models under their public names.
mx.gluon.nn.Dense(10, activation="relu")
mx.gluon.model_zoo.vision.resnet18_v1(classes=10)

# Misspelt and missing arguments, wrong words, and names that do not exist.
mx.nd.softmax(x, axs=-1)  # type: ignore[call-arg]
mx.nd.softmax()  # type: ignore[call-arg]
mx.nd.softmaxx(x)  # type: ignore[attr-defined]
x.softmax(axs=-1)  # type: ignore[call-arg]
mx.sym.Activation(net, act_type="rellu")  # type: ignore[arg-type]
mx.gluon.nn.Dense(10, unit=3)  # type: ignore[call-arg]
mx.gluon.nn.Densee(10)  # type: ignore[attr-defined]
