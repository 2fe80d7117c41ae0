"""Programs whose results must be those of MXNet 1.9.1.

Every function takes the package, real MXNet or mxcy, and returns arrays by name; `ALL` lists them.
`make.py` runs them with real MXNet and keeps what they return in ``golden.npz``.
"""

import numpy as np


def draw(*shape, low=-1.0, high=1.0, seed=0):
    """A float32 array drawn evenly from [low, high)."""
    return np.random.RandomState(seed).uniform(low, high, shape).astype("float32")


LAYERS = {
    "dense": (lambda nn: nn.Dense(4, activation="relu"), draw(3, 2, 2)),
    "dense_last_axis": (lambda nn: nn.Dense(4, use_bias=False, flatten=False), draw(3, 2, 2)),
    "conv1d": (lambda nn: nn.Conv1D(4, 3), draw(2, 3, 8)),
    "conv2d": (
        lambda nn: nn.Conv2D(4, 3, strides=2, padding=1, activation="tanh"),
        draw(2, 3, 6, 6),
    ),
    "conv2d_grouped": (lambda nn: nn.Conv2D(4, 3, groups=2, dilation=2), draw(2, 4, 6, 6)),
    "conv3d": (lambda nn: nn.Conv3D(2, 2), draw(2, 3, 4, 4, 4)),
    "deconv1d": (lambda nn: nn.Conv1DTranspose(4, 3, strides=2, output_padding=1), draw(2, 3, 5)),
    "deconv2d": (lambda nn: nn.Conv2DTranspose(4, 3, strides=2, padding=1), draw(2, 3, 4, 4)),
    "deconv2d_grouped": (
        lambda nn: nn.Conv2DTranspose(4, 3, groups=2, in_channels=6),
        draw(2, 6, 4, 4),
    ),
    "deconv3d": (lambda nn: nn.Conv3DTranspose(2, 2), draw(2, 3, 3, 3, 3)),
    "batchnorm": (lambda nn: nn.BatchNorm(), draw(4, 3, 2, 2)),
    "batchnorm_last_axis": (
        lambda nn: nn.BatchNorm(axis=-1, scale=False, momentum=0.5),
        draw(4, 3, 2, 2),
    ),
    "batchnorm_global": (lambda nn: nn.BatchNorm(use_global_stats=True, center=False), draw(4, 3)),
    "layernorm": (lambda nn: nn.LayerNorm(), draw(4, 3, 2)),
    "layernorm_axis": (lambda nn: nn.LayerNorm(axis=1, center=False), draw(4, 3, 2)),
    "groupnorm": (lambda nn: nn.GroupNorm(2), draw(4, 4, 2)),
    "instancenorm": (lambda nn: nn.InstanceNorm(), draw(4, 3, 5)),
    "instancenorm_axis": (lambda nn: nn.InstanceNorm(axis=2, scale=True), draw(4, 3, 5)),
    "dropout": (lambda nn: nn.Dropout(0.5), draw(4, 30)),
    "dropout_axes": (lambda nn: nn.Dropout(0.5, axes=(0,)), draw(4, 30)),
    "leakyrelu": (lambda nn: nn.LeakyReLU(0.2), draw(4, 3)),
    "prelu": (lambda nn: nn.PReLU(), draw(4, 3)),
    "prelu_channels": (lambda nn: nn.PReLU(in_channels=3), draw(4, 3)),
    "elu": (lambda nn: nn.ELU(0.5), draw(4, 3)),
    "gelu": (lambda nn: nn.GELU(), draw(4, 3)),
    "swish": (lambda nn: nn.Swish(1.5), draw(4, 3)),
    "flatten": (lambda nn: nn.Flatten(), draw(4, 3, 2)),
    "maxpool1d": (lambda nn: nn.MaxPool1D(), draw(2, 3, 8)),
    "maxpool2d_ceil": (lambda nn: nn.MaxPool2D(3, 2, ceil_mode=True), draw(2, 3, 6, 6)),
    "avgpool2d": (lambda nn: nn.AvgPool2D(3, 2, 1, count_include_pad=False), draw(2, 3, 6, 6)),
    "avgpool3d": (lambda nn: nn.AvgPool3D(), draw(2, 3, 4, 4, 4)),
    "globalavgpool2d": (lambda nn: nn.GlobalAvgPool2D(), draw(2, 3, 6, 6)),
    "globalmaxpool1d": (lambda nn: nn.GlobalMaxPool1D(), draw(2, 3, 8)),
    "reflectionpad2d": (lambda nn: nn.ReflectionPad2D(1), draw(2, 3, 4, 4)),
    "hybridlambda": (lambda nn: nn.HybridLambda(lambda F, x: F.exp(x)), draw(2, 3)),
    "hybridlambda_named": (lambda nn: nn.HybridLambda("tanh"), draw(2, 3)),
    "embedding": (lambda nn: nn.Embedding(5, 4), np.array([[0, 1], [4, 4]], "int32")),
}


def layer(mx, name):
    """Two training passes and one prediction of a layer: outputs, gradients, parameters."""
    make, data = LAYERS[name]
    mx.random.seed(7)
    net = make(mx.gluon.nn)
    net.initialize(mx.init.Normal(0.5))
    x = mx.nd.array(data, dtype=data.dtype)
    differentiable = data.dtype == "float32"
    if differentiable:
        x.attach_grad()
    collected = {}
    for step in range(2):
        with mx.autograd.record():
            out = net(x)
            loss = (out * mx.nd.array(draw(*out.shape, seed=8))).sum()
        loss.backward()
        collected[f"output{step}"] = out.asnumpy()
    if differentiable:
        collected["input_gradient"] = x.grad.asnumpy()
    for key, parameter in net._collect_params_with_prefix().items():
        collected[key] = parameter.data().asnumpy()
        if parameter.grad_req != "null":
            collected[key + "_gradient"] = parameter.grad().asnumpy()
    collected["prediction"] = net(x).asnumpy()
    return collected


_PRED, _LABEL, _THIRD = draw(4, 5), draw(4, 5, low=0.05, seed=1), draw(4, 5, seed=4)
_CLASSES = np.array([0, 4, 2, 1], "float32")
_SIGNED, _BINARY = np.sign(_LABEL - 0.5), (_LABEL > 0.5).astype("float32")
_WEIGHTS = np.array([[0.5], [1], [2], [0]], "float32")
_POSITIVE = np.array([1, 2, 3, 4, 5], "float32")
_COUNTS = draw(4, 5, low=0.1, high=4)
_SAME = np.array([1, -1, 1, -1], "float32")

LOSSES = {
    "l2": ("L2Loss", {}, (_PRED, _LABEL)),
    "l2_weighted": ("L2Loss", {}, (_PRED, _LABEL, _WEIGHTS)),
    "l2_axis": ("L2Loss", {"weight": 0.3, "batch_axis": 1}, (_PRED, _LABEL)),
    "l1": ("L1Loss", {}, (_PRED, _LABEL)),
    "l1_weighted": ("L1Loss", {"weight": 2}, (_PRED, _LABEL.reshape(5, 4), _WEIGHTS)),
    "bce": ("SigmoidBCELoss", {}, (_PRED, _BINARY)),
    "bce_weighted": ("SigmoidBCELoss", {}, (_PRED, _BINARY, _WEIGHTS, _POSITIVE)),
    "bce_sigmoid": ("SigmoidBCELoss", {"from_sigmoid": True}, (_LABEL, _BINARY)),
    "bce_sigmoid_weighted": (
        "SigmoidBCELoss",
        {"from_sigmoid": True, "weight": 0.5},
        (_LABEL, _BINARY, _WEIGHTS, _POSITIVE),
    ),
    "ce": ("SoftmaxCELoss", {}, (_PRED, _CLASSES)),
    "ce_weighted": ("SoftmaxCELoss", {}, (_PRED, _CLASSES, _WEIGHTS)),
    "ce_dense": ("SoftmaxCELoss", {"sparse_label": False}, (_PRED, _LABEL)),
    "ce_logits": ("SoftmaxCELoss", {"from_logits": True, "weight": 3}, (_PRED, _CLASSES)),
    "ce_axis": (
        "SoftmaxCELoss",
        {"axis": 1},
        (draw(2, 5, 3), np.array([[0, 1, 2], [3, 4, 0]], "float32")),
    ),
    "kl": ("KLDivLoss", {}, (_PRED, _LABEL)),
    "kl_softmax": ("KLDivLoss", {"from_logits": False}, (_PRED, _LABEL, _WEIGHTS)),
    "huber": ("HuberLoss", {"rho": 0.4}, (_PRED, _LABEL)),
    "hinge": ("HingeLoss", {"margin": 0.4}, (_PRED, _SIGNED)),
    "squared_hinge": ("SquaredHingeLoss", {}, (_PRED, _SIGNED, _WEIGHTS)),
    "logistic": ("LogisticLoss", {}, (_PRED, _SIGNED)),
    "logistic_binary": ("LogisticLoss", {"label_format": "binary"}, (_PRED, _BINARY, _WEIGHTS)),
    "triplet": ("TripletLoss", {}, (_PRED, _LABEL, _THIRD)),
    "triplet_weighted": ("TripletLoss", {"margin": 0.2, "weight": 0.4}, (_PRED, _LABEL, _THIRD)),
    "cosine": ("CosineEmbeddingLoss", {}, (_PRED, _LABEL, _SAME)),
    "cosine_weighted": (
        "CosineEmbeddingLoss",
        {"margin": 0.3, "weight": 2},
        (_PRED, _LABEL, _SAME, _WEIGHTS),
    ),
    "poisson": ("PoissonNLLLoss", {}, (_PRED, _LABEL)),
    "poisson_rates": ("PoissonNLLLoss", {"from_logits": False, "weight": 2}, (_LABEL, _COUNTS)),
    "sdml": ("SDMLLoss", {}, (_PRED, _LABEL)),
    "sdml_smooth": ("SDMLLoss", {"smoothing_parameter": 0.1}, (_PRED, _LABEL)),
}


def loss(mx, name):
    """A loss and its gradient."""
    kind, arguments, inputs = LOSSES[name]
    function = getattr(mx.gluon.loss, kind)(**arguments)
    pred, *rest = [mx.nd.array(data) for data in inputs]
    pred.attach_grad()
    with mx.autograd.record():
        out = function(pred, *rest)
    out.backward()
    return {"loss": out.asnumpy(), "gradient": pred.grad.asnumpy()}


INITIALIZERS = {
    "uniform": ("Uniform", {}, (3, 70)),
    "normal": ("Normal", {"sigma": 0.5}, (5, 40)),
    "xavier": ("Xavier", {}, (4, 3, 5, 5)),
    "xavier_gaussian_in": (
        "Xavier",
        {"rnd_type": "gaussian", "factor_type": "in", "magnitude": 2},
        (6, 30),
    ),
    "xavier_out": ("Xavier", {"factor_type": "out"}, (6, 4, 3)),
    "msraprelu": ("MSRAPrelu", {}, (6, 30)),
    "orthogonal": ("Orthogonal", {}, (4, 6)),
    "orthogonal_normal": ("Orthogonal", {"scale": 1.0, "rand_type": "normal"}, (6, 2, 2)),
    "bilinear": ("Bilinear", {}, (2, 1, 4, 4)),
    "bilinear_odd": ("Bilinear", {}, (1, 1, 3, 3)),
    "constant": ("Constant", {"value": 2.5}, (2, 2)),
    "zero": ("Zero", {}, (2, 2)),
    "one": ("One", {}, (2, 2)),
    "lstmbias": ("LSTMBias", {"forget_bias": 2.0}, (12,)),
}


def initializer(mx, name):
    """Weights of two parameters made one after the other."""
    kind, arguments, shape = INITIALIZERS[name]
    mx.random.seed(11)
    init = getattr(mx.init, kind)(**arguments)
    collected = {}
    for i in range(2):
        parameter = mx.gluon.Parameter(f"p{i}", shape=shape)
        parameter.initialize(init)
        weight = parameter.data().asnumpy()
        # The signs of singular vectors depend on the LAPACK that NumPy was built with.
        collected[f"weight{i}"] = np.abs(weight) if kind == "Orthogonal" else weight
    return collected


_USUAL = {"learning_rate": 0.1, "wd": 0.05, "rescale_grad": 0.5, "clip_gradient": 0.3}
OPTIMIZERS = {
    kind.lower() + suffix: (kind, arguments)
    for kind in (
        "SGD NAG Adam AdaGrad RMSProp AdaDelta Signum FTML Ftrl Adamax Nadam DCASGD SGLD LAMB "
        "LARS LBSGD Test"
    ).split()
    for suffix, arguments in (("", {}), ("_usual", _USUAL))
}
OPTIMIZERS.update(
    {
        "sgd_momentum": ("SGD", {"momentum": 0.9, **_USUAL}),
        "nag_momentum": ("NAG", {"momentum": 0.9, **_USUAL}),
        "lars_momentum": ("LARS", {"momentum": 0.9, "eta": 0.1, "eps": 0.1, **_USUAL}),
        "lbsgd_warmup": (
            "LBSGD",
            {"momentum": 0.9, "batch_scale": 2, "updates_per_epoch": 2, **_USUAL},
        ),
        "signum_plain": ("Signum", {"momentum": 0, **_USUAL}),
        "signum_decay": ("Signum", {"momentum": 0.5, "wd_lh": 0.3, **_USUAL}),
        "rmsprop_centered": ("RMSProp", {"centered": True, "clip_weights": 0.5, **_USUAL}),
        "lamb_bounds": ("LAMB", {"lower_bound": 3, "upper_bound": 4, "learning_rate": 0.1}),
        "lamb_uncorrected": ("LAMB", {"bias_correction": False, "learning_rate": 0.1}),
        "groupadagrad": ("contrib.GroupAdaGrad", {"learning_rate": 0.1, "rescale_grad": 0.5}),
    }
)


def optimizer(mx, name):
    """Three weights after four updates, in float32 and in float16 with multi_precision."""
    kind, arguments = OPTIMIZERS[name]
    collected = {}
    for dtype in ("float32", "float16"):
        mx.random.seed(3)
        make = mx.optimizer
        for part in kind.split("."):
            make = getattr(make, part)
        rule = make(**arguments, multi_precision=dtype == "float16")
        updater = mx.optimizer.get_updater(rule)
        weights = [mx.nd.array(draw(3, 4, seed=i), dtype=dtype) for i in range(3)]
        for step in range(4):
            grads = [mx.nd.array(draw(3, 4, seed=10 + 3 * step + i), dtype=dtype) for i in range(3)]
            updater([0, 1, 2], grads, weights)
        for i, weight in enumerate(weights):
            collected[f"{dtype}_{i}"] = weight.asnumpy()
    return collected


_UPDATES = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 15, 20, 25, 30, 100]
SCHEDULERS = {
    "factor": ("FactorScheduler", (5, 0.5), {"base_lr": 1}),
    "factor_stop": (
        "FactorScheduler",
        (2, 0.5, 0.3),
        {"base_lr": 1, "warmup_steps": 3, "warmup_begin_lr": 0.1},
    ),
    "factor_constant": (
        "FactorScheduler",
        (2, 0.5),
        {"base_lr": 1, "warmup_steps": 3, "warmup_begin_lr": 0.1, "warmup_mode": "constant"},
    ),
    "multifactor": ("MultiFactorScheduler", ([5, 8], 0.1), {"base_lr": 1}),
    "multifactor_warmup": (
        "MultiFactorScheduler",
        ([5, 8], 0.1),
        {"base_lr": 1, "warmup_steps": 4, "warmup_begin_lr": 0.2},
    ),
    "poly": ("PolyScheduler", (20, 1, 2, 0.1), {}),
    "poly_warmup": ("PolyScheduler", (20, 1, 2, 0.1, 5, 0.2), {}),
    "cosine": ("CosineScheduler", (20, 1, 0.1), {}),
    "cosine_warmup": ("CosineScheduler", (20, 1, 0.1, 5, 0.2), {}),
}


def scheduler(mx, name):
    """The learning rate after growing numbers of updates."""
    kind, arguments, more = SCHEDULERS[name]
    rates = getattr(mx.lr_scheduler, kind)(*arguments, **more)
    return {"rates": np.array([rates(update) for update in _UPDATES])}


def _probabilities(count, classes, seed):
    values = draw(count, classes, low=0.0, seed=seed)
    labels = np.random.RandomState(seed + 50).randint(0, classes, count)
    return labels.astype("float32"), values / values.sum(axis=1, keepdims=True)


_TWO = [[_probabilities(7, 2, seed), _probabilities(6, 2, seed + 3)] for seed in range(3)]
_FIVE = [[_probabilities(9, 5, seed)] for seed in range(3)]
_NUMBERS = [
    [(draw(6, 3, seed=s), draw(6, 3, seed=s + 3)), (draw(4, seed=s), draw(4, seed=s + 9))]
    for s in range(3)
]
METRICS = {
    "accuracy": ("acc", {}, _TWO),
    "accuracy_five": ("acc", {}, _FIVE),
    "top2": ("top_k_acc", {"top_k": 2}, _FIVE),
    "f1": ("f1", {}, _TWO),
    "f1_micro": ("f1", {"average": "micro"}, _TWO),
    "mcc": ("mcc", {}, _TWO),
    "mcc_micro": ("mcc", {"average": "micro"}, _TWO),
    "pcc": ("pcc", {}, _TWO),
    "pcc_five": ("pcc", {}, _FIVE),
    "cross_entropy": ("ce", {}, _FIVE),
    "nll": ("nll_loss", {}, _TWO),
    "perplexity": ("perplexity", {"ignore_label": None}, _FIVE),
    "perplexity_ignore": ("perplexity", {"ignore_label": 1}, _FIVE),
    "mae": ("mae", {}, _NUMBERS),
    "mse": ("mse", {}, _NUMBERS),
    "rmse": ("rmse", {}, _NUMBERS),
    "pearson": ("pearsonr", {}, _NUMBERS),
    "loss": ("loss", {}, _NUMBERS),
    "composite": (["acc", "ce"], {}, _FIVE),
}


def metric(mx, name):
    """Local and global values after every batch, with a local reset on the way."""
    kind, arguments, batches = METRICS[name]
    measure = mx.metric.create(kind, **arguments)
    values = []
    for i, batch in enumerate(batches):
        measure.update(
            [mx.nd.array(label) for label, _ in batch], [mx.nd.array(pred) for _, pred in batch]
        )
        values += [measure.get()[1], measure.get_global()[1]]
        if i == 1:
            measure.reset_local()
            values += [measure.get()[1], measure.get_global()[1]]
    measure.reset()
    values += [measure.get()[1], measure.get_global()[1]]
    return {"values": np.array(values, "float64").ravel()}


TRAININGS = {
    "sgd": ("sgd", {"learning_rate": 0.1, "momentum": 0.9, "wd": 0.01}, 1),
    "adam": ("adam", {"learning_rate": 0.01}, 1),
    "two_contexts": ("sgd", {"learning_rate": 0.1, "momentum": 0.9}, 2),
}


def training(mx, name):
    """The losses of a small network with convolution, normalization and dropout."""
    rule, arguments, copies = TRAININGS[name]
    contexts = [mx.cpu(i) for i in range(copies)]
    nn = mx.gluon.nn
    mx.random.seed(5)
    net = nn.HybridSequential()
    net.add(
        nn.Conv2D(4, 3, activation="relu"),
        nn.BatchNorm(),
        nn.MaxPool2D(),
        nn.Flatten(),
        nn.Dense(8, activation="tanh"),
        nn.Dropout(0.3),
        nn.Dense(3),
    )
    net.initialize(mx.init.Xavier(), ctx=contexts)
    trainer = mx.gluon.Trainer(net.collect_params(), rule, arguments)
    criterion = mx.gluon.loss.SoftmaxCrossEntropyLoss()
    x = mx.nd.array(draw(8, 1, 8, 8))
    y = mx.nd.array(np.arange(8) % 3)
    load = mx.gluon.utils.split_and_load
    batches = list(zip(load(x, contexts), load(y, contexts), strict=True))
    history = []
    for _ in range(8):
        with mx.autograd.record():
            losses = [criterion(net(a), b) for a, b in batches]
        mx.autograd.backward(losses)
        trainer.step(8)
        history.append(np.concatenate([part.asnumpy() for part in losses]).mean())
    return {"losses": np.array(history)}


def resumed(mx, states):
    """A weight after two steps, or after one more with states from a file; and its trainer."""
    weight = mx.gluon.Parameter("w", shape=(3,))
    weight.initialize(mx.init.One())
    rates = mx.lr_scheduler.FactorScheduler(1, 0.5, base_lr=0.1)
    trainer = mx.gluon.Trainer([weight], "adam", {"lr_scheduler": rates, "wd": 0.1})
    if states is not None:
        trainer.load_states(states)
        weight.set_data(mx.nd.array(draw(3, seed=2)))
    for step in range(1 if states else 2):
        with mx.autograd.record():
            loss = (weight.data() * mx.nd.array(draw(3, seed=step))).sum()
        loss.backward()
        trainer.step(1)
    return weight.data().asnumpy(), trainer


ALL = [
    (program, name)
    for program, names in (
        (layer, LAYERS),
        (loss, LOSSES),
        (initializer, INITIALIZERS),
        (optimizer, OPTIMIZERS),
        (scheduler, SCHEDULERS),
        (metric, METRICS),
        (training, TRAININGS),
    )
    for name in names
]
