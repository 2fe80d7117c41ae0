"""Scenarios for modules with fixed seeds, for any package with MXNet's interface.

`tests/data/make_module_golden.py` stores real MXNet's results; `test_golden.py` runs mxcy.
"""

import numpy as np


def points():
    """Forty points of three classes: NumPy (40, 5) and (40,)."""
    draw = np.random.RandomState(0)
    data = draw.randn(40, 5).astype("float32")
    return data, (data @ draw.randn(5, 3)).argmax(axis=1)


def classifier(mx, num_hidden=8):
    """A network with two layers, and with batch normalization."""
    x = mx.sym.var("data")
    x = mx.sym.FullyConnected(x, num_hidden=num_hidden, no_bias=True, name="fc1")
    x = mx.sym.BatchNorm(x, name="bn", fix_gamma=False)
    x = mx.sym.Activation(x, act_type="relu", name="relu")
    x = mx.sym.FullyConnected(x, num_hidden=3, name="fc2")
    return mx.sym.SoftmaxOutput(x, name="softmax")


def shown(params):
    """Parameters as lists."""
    return {name: array.asnumpy().ravel().tolist() for name, array in sorted(params.items())}


def fit(mx, devices, kvstore, optimizer, settings, work_load_list=None, fixed=None):
    """Train for two epochs; losses, parameters and predictions."""
    mx.random.seed(3)
    np.random.seed(3)
    data, label = points()
    losses = []
    mod = mx.mod.Module(
        classifier(mx),
        context=[mx.cpu(i) for i in range(devices)],
        work_load_list=work_load_list,
        fixed_param_names=fixed,
    )
    mod.fit(
        mx.io.NDArrayIter(data, label, 10, shuffle=True),
        eval_metric="ce",
        kvstore=kvstore,
        optimizer=optimizer,
        optimizer_params=settings,
        initializer=mx.init.Xavier(),
        batch_end_callback=lambda param: losses.append(float(param.eval_metric.get()[1])),
        num_epoch=2,
    )
    arg_params, aux_params = mod.get_params()
    tests = mx.io.NDArrayIter(data, label, 12)
    return {
        "losses": losses,
        "args": shown(arg_params),
        "aux": shown(aux_params),
        "predicted": mod.predict(tests).asnumpy()[::13].tolist(),
        "score": [[name, float(value)] for name, value in mod.score(tests, ["acc", "ce"])],
    }


def gradients_of_inputs(mx):
    """Gradients accumulated over two passes."""
    data, label = points()
    mod = mx.mod.Module(classifier(mx))
    mod.bind([("data", (10, 5))], [("softmax_label", (10,))], inputs_need_grad=True, grad_req="add")
    mx.random.seed(1)
    mod.init_params(mx.init.Xavier())
    batch = mx.io.DataBatch([mx.nd.array(data[:10])], [mx.nd.array(label[:10])])
    for _ in range(2):
        mod.forward_backward(batch)
    return mod.get_input_grads()[0].asnumpy().tolist()


def sequence(mx):
    """A chain of two modules."""
    data, label = points()
    first = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=8, name="fc1")
    first = mx.sym.Activation(first, act_type="tanh", name="act")
    second = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=3, name="fc2")
    second = mx.sym.SoftmaxOutput(second, name="softmax")
    mx.random.seed(2)
    chain = mx.mod.SequentialModule()
    chain.add(mx.mod.Module(first, label_names=None))
    chain.add(mx.mod.Module(second), take_labels=True, auto_wiring=True)
    losses = []
    chain.fit(
        mx.io.NDArrayIter(data, label, 10),
        eval_metric="ce",
        optimizer_params={"learning_rate": 0.5},
        initializer=mx.init.Xavier(),
        batch_end_callback=lambda param: losses.append(float(param.eval_metric.get()[1])),
        num_epoch=2,
    )
    return {"losses": losses, "args": shown(chain.get_params()[0])}


def softmax_gradient(scores, labels):
    """The gradient of cross-entropy after softmax."""
    actual = np.exp(scores.asnumpy())
    actual /= actual.sum(axis=1, keepdims=True)
    actual[np.arange(len(actual)), labels.asnumpy().astype(int)] -= 1
    return actual


def python_loss(mx):
    """A chain that ends with a loss in Python."""
    data, label = points()
    scores = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=3, name="fc")
    mx.random.seed(2)
    chain = mx.mod.SequentialModule()
    chain.add(mx.mod.Module(scores, label_names=None))
    chain.add(
        mx.mod.PythonLossModule(grad_func=softmax_gradient), take_labels=True, auto_wiring=True
    )
    chain.fit(
        mx.io.NDArrayIter(data, label, 10),
        optimizer_params={"learning_rate": 0.5},
        initializer=mx.init.Xavier(),
        num_epoch=2,
    )
    return shown(chain.get_params()[0])


SGD = {"learning_rate": 0.1, "momentum": 0.9, "wd": 0.01}
SCENARIOS = {
    "one device": lambda mx: fit(mx, 1, "local", "sgd", SGD),
    "two devices": lambda mx: fit(mx, 2, "local", "sgd", SGD),
    "two devices, no store": lambda mx: fit(mx, 2, None, "sgd", SGD),
    "unequal load": lambda mx: fit(
        mx, 2, "device", "adam", {"learning_rate": 0.05}, work_load_list=[1, 4]
    ),
    "a fixed weight": lambda mx: fit(mx, 1, "local", "sgd", SGD, fixed=["fc1_weight"]),
    "gradients of inputs": gradients_of_inputs,
    "sequence": sequence,
    "python loss": python_loss,
}
