"""Networks: losses against the CPU, and images per second with and without CUDA graphs."""

import os

import numpy as np

import mxcy as mx
from mxcy import autograd, gluon
from tests.gpu.hardware.contenders import torch
from tests.gpu.hardware.notes import begun
from tests.gpu.hardware.timing import Contest

GPU = mx.gpu(0)


def lenet():
    """LeNet for digits of 28 x 28."""
    net = gluon.nn.HybridSequential()
    net.add(
        gluon.nn.Conv2D(6, 5, padding=2, activation="relu", in_channels=1),
        gluon.nn.MaxPool2D(),
        gluon.nn.Conv2D(16, 5, activation="relu", in_channels=6),
        gluon.nn.MaxPool2D(),
        gluon.nn.Dense(120, activation="relu", in_units=400),
        gluon.nn.Dense(84, activation="relu", in_units=120),
        gluon.nn.Dense(10, in_units=84),
    )
    return net


def zoo(name):
    """Return a constructor of a model zoo network."""
    return lambda: gluon.model_zoo.vision.get_model(name, classes=1000)


class Training:
    """Steps of training on a device.

    Parameters
    ----------
    make : callable
    shape : tuple of int
        Of a batch.
    classes : int
    ctx : Context
    values : list of numpy.ndarray, optional
        The parameters', in order; drawn anew by default.
    dtype : str
    """

    def __init__(self, make, shape, classes, ctx, values=None, dtype="float32"):
        rng = np.random.default_rng(7)
        self.data = mx.nd.array(rng.standard_normal(shape), ctx=ctx, dtype=dtype)
        self.label = mx.nd.array(rng.integers(0, classes, shape[0]), ctx=ctx)
        self.net = make()
        self.net.initialize(mx.init.Xavier(), ctx=mx.cpu())
        self.net(mx.nd.zeros((1, *shape[1:])))  # infers the shapes of parameters
        self.parameters = list(self.net.collect_params().values())
        for parameter, value in zip(self.parameters, values or [], strict=False):
            parameter.set_data(mx.nd.array(value))
        self.values = [parameter.data().asnumpy() for parameter in self.parameters]
        self.net.collect_params().reset_ctx(ctx)
        self.net.cast(dtype)
        self.net.hybridize(static_alloc=True, static_shape=True)
        self.loss = gluon.loss.SoftmaxCrossEntropyLoss()
        self.loss.hybridize(static_alloc=True, static_shape=True)
        self.trainer = gluon.Trainer(
            self.net.collect_params(), "sgd", {"learning_rate": 0.01, "momentum": 0.9}
        )

    def step(self):
        """Run one step; return the losses."""
        with autograd.record():
            losses = self.loss(self.net(self.data), self.label)
        losses.backward()
        self.trainer.step(len(self.label))
        return losses

    def infer(self):
        """Run inference on the same batch."""
        return self.net(self.data)


def like_the_cpu(notes, name, make, shape, classes, steps=5, dtype="float32"):
    """Compare some training steps with the CPU's."""
    here = Training(make, shape, classes, mx.cpu(), dtype=dtype)
    there = Training(make, shape, classes, GPU, here.values, dtype)
    losses = [[float(one.step().mean().asscalar()) for _ in range(steps)] for one in (here, there)]
    apart = max(abs(a - b) / abs(a) for a, b in zip(*losses, strict=True))
    notes.row(
        "steps",
        network=f"{name} {dtype}",
        count=steps,
        CPU=losses[0][-1],
        GPU=losses[1][-1],
        apart=apart,
    )
    if not apart <= 1e-3:
        notes.wrong(f"{name}: losses are {apart:.2g} apart, expected 1e-3 at most: {losses}")


def speed(notes, name, make, shape, classes):
    """Measure images per second in training and inference."""
    contests = {"training": Contest(notes.is_small), "inference": Contest(notes.is_small)}
    for label, enabled in (("launches", "0"), ("CUDA graphs", "1")):
        os.environ["MXNET_ENABLE_CUDA_GRAPHS"] = enabled
        training = Training(make, shape, classes, GPU)
        for _ in range(1 if notes.is_small else 4):
            training.step()
            training.infer()
        mx.nd.waitall()
        contests["training"].enter(label, training.step, mx.nd.waitall)
        contests["inference"].enter(label, training.infer, mx.nd.waitall)
    os.environ.pop("MXNET_ENABLE_CUDA_GRAPHS")
    if torch() and enter_torch(contests, name, shape, classes) is None:
        notes.row("left out", what=f"PyTorch's {name}", why="torchvision has none")
    for what, contest in contests.items():
        rates = {who: shape[0] / seconds for who, seconds in contest.times().items()}
        notes.row(f"{what}, pictures a second", network=f"{name} b{shape[0]}", **rates)
    free, total = mx.context.gpu_memory_info(0)
    stats = mx.storage.stats(GPU)
    notes.row(
        "memory, MB",
        network=name,
        used=(total - free) / 1e6,
        live=stats["live_bytes"] / 1e6,
        pooled=stats["pooled_bytes"] / 1e6,
    )


def enter_torch(contests, name, shape, classes):
    """Enter PyTorch, in float32 without and with TF32."""
    try:
        from torchvision import models
    except ImportError:
        return None
    make = getattr(models, name.removesuffix("_v1"), None)
    if make is None:
        return None
    module = torch()
    net = make(num_classes=classes).cuda()
    data = module.randn(shape, device="cuda")
    label = module.randint(0, classes, shape[:1], device="cuda")
    by = module.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)

    def step(allowed):
        module.backends.cudnn.allow_tf32 = module.backends.cuda.matmul.allow_tf32 = allowed
        by.zero_grad()
        module.nn.functional.cross_entropy(net.train()(data), label).backward()
        by.step()

    def infer(allowed):
        module.backends.cudnn.allow_tf32 = module.backends.cuda.matmul.allow_tf32 = allowed
        with module.no_grad():
            net.eval()(data)

    wait = module.cuda.synchronize
    for who, allowed in (("PyTorch", False), ("PyTorch, TF32", True)):
        contests["training"].enter(who, lambda allowed=allowed: step(allowed), wait)
        contests["inference"].enter(who, lambda allowed=allowed: infer(allowed), wait)
    return net


def main(notes):
    """Note all networks."""
    few = (2, 1, 28, 28)
    batch, steps = (few, 2) if notes.is_small else ((8, *few[1:]), 5)
    notes.tried("LeNet", like_the_cpu, notes, "LeNet", lenet, batch, 10, steps)
    if notes.is_small:
        notes.tried("LeNet", speed, notes, "LeNet", lenet, few, 10)
        return
    # Normalising few values amplifies float32 rounding errors: two CPUs would diverge, too.
    few, make = (4, 3, 64, 64), zoo("resnet18_v1")
    notes.tried("ResNet-18", like_the_cpu, notes, "resnet18_v1", make, few, 1000, 5, "float64")
    notes.tried("LeNet", speed, notes, "LeNet", lenet, (64, 1, 28, 28), 10)
    for name in ("resnet18_v1", "resnet50_v1", "mobilenetv2_1.0"):
        notes.tried(name, speed, notes, name, zoo(name), (32, 3, 224, 224), 1000)


if __name__ == "__main__":
    from tests.gpu.standin.seam import put_under_cupy

    put_under_cupy()
    main(begun())
