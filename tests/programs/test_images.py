"""Convolutional networks: LeNet, branches and shortcuts, normalization, several devices."""

import pytest

import mxcy as mx
from mxcy import autograd, gluon, image, np, npx
from mxcy.gluon import nn
from tests.programs.training import accuracy_of, devices, fit


def test_lenet(batches):
    net = nn.HybridSequential()
    net.add(
        nn.Conv2D(6, kernel_size=5, padding=2, activation="relu"),
        nn.AvgPool2D(pool_size=2, strides=2),
        nn.Conv2D(16, kernel_size=5, activation="relu"),
        nn.AvgPool2D(pool_size=2, strides=2),
        nn.Flatten(),
        nn.Dense(84, activation="relu"),
        nn.Dense(10),
    )
    net.initialize(mx.init.Xavier())
    shapes, x = [], np.random.uniform(size=(1, 1, 28, 28))
    for layer in net:
        x = layer(x)
        shapes.append(x.shape)
    assert shapes[1:5] == [(1, 6, 14, 14), (1, 16, 10, 10), (1, 16, 5, 5), (1, 400)]
    net.hybridize()
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.2})
    losses = fit(net, batches[0], trainer, epochs=3)
    assert losses == sorted(losses, reverse=True) and losses[-1] < 0.7
    assert accuracy_of(net, batches[1]) > 0.7


class Residual(nn.HybridBlock):
    """Two convolutions with a shortcut."""

    def __init__(self, channels, change=False, strides=1, **kwargs):
        super().__init__(**kwargs)
        self.body = nn.HybridSequential()
        self.body.add(
            nn.Conv2D(channels, 3, strides, padding=1),
            nn.BatchNorm(momentum=0.5),
            nn.Activation("relu"),
            nn.Conv2D(channels, 3, padding=1),
            nn.BatchNorm(momentum=0.5),
        )
        self.short = nn.Conv2D(channels, 1, strides) if change else None

    def forward(self, x):
        y = self.body(x)
        if self.short is not None:
            x = self.short(x)
        return npx.relu(x + y)


class Fork(nn.HybridBlock):
    """Three branches, concatenated along the channels."""

    def __init__(self, channels, **kwargs):
        super().__init__(**kwargs)
        self.thin = nn.Conv2D(channels, 1, activation="relu")
        self.wide = nn.Conv2D(channels, 5, padding=2, activation="relu")
        self.pool = nn.MaxPool2D(3, 1, padding=1)

    def forward(self, x):
        return np.concatenate((self.thin(x), self.wide(x), self.pool(x)), axis=1)


@pytest.mark.parametrize("hybridize", [False, True])
def test_residual_network(digits, hybridize):
    images, labels = np.array(digits[0][0][:480, :, ::2, ::2]), np.array(digits[0][1][:480])
    loader = gluon.data.DataLoader(gluon.data.ArrayDataset(images, labels), 32, shuffle=True)
    net = nn.HybridSequential()
    net.add(
        nn.Conv2D(8, 3, padding=1),
        nn.BatchNorm(momentum=0.5),
        nn.Activation("relu"),
        Residual(8),
        Fork(4),
        Residual(16, change=True, strides=2),
        nn.GlobalAvgPool2D(),
        nn.Dense(10),
    )
    net.initialize(mx.init.Xavier())
    if hybridize:
        net.hybridize()
    trainer = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.01})
    losses = fit(net, loader, trainer, epochs=3)
    assert losses == sorted(losses, reverse=True) and losses[-1] < 0.7 * losses[0]
    assert accuracy_of(net, loader) > 0.4


class OwnBatchNorm(nn.Block):
    """Batch normalization written with means and variances."""

    def __init__(self, features, dims, **kwargs):
        super().__init__(**kwargs)
        shape = (1, features, 1, 1) if dims == 4 else (1, features)
        self.gamma = gluon.Parameter("gamma", shape=shape, init="ones")
        self.beta = gluon.Parameter("beta", shape=shape, init="zeros")
        self.mean, self.variance = np.zeros(shape), np.ones(shape)

    def forward(self, x):
        axes = (0, 2, 3) if x.ndim == 4 else 0
        if autograd.is_training():
            mean, variance = x.mean(axis=axes, keepdims=True), x.var(axis=axes, keepdims=True)
            with autograd.pause():
                self.mean = 0.9 * self.mean + 0.1 * mean
                self.variance = 0.9 * self.variance + 0.1 * variance
        else:
            mean, variance = self.mean, self.variance
        x = (x - mean) / np.sqrt(variance + 1e-5)
        return x * self.gamma.data() + self.beta.data()


def test_own_normalization_is_that_of_the_layer():
    own, layer = OwnBatchNorm(3, 4), nn.BatchNorm(epsilon=1e-5)
    own.initialize()
    layer.initialize()
    x = np.random.normal(2, 3, (8, 3, 5, 5))
    collected = []
    for norm in (own, layer):
        x.attach_grad()
        with autograd.record():
            y = norm(x)
            loss = (y**3).sum()
        loss.backward()
        collected.append((y, x.grad.copy(), norm.gamma.grad().reshape(3), norm(x)))
    for one, other in zip(*collected, strict=True):
        assert np.allclose(one, other, rtol=1e-3, atol=2e-3)


def test_cross_correlation_learns_its_kernel():
    def correlate(x, kernel):
        height, width = kernel.shape
        y = np.zeros((x.shape[0] - height + 1, x.shape[1] - width + 1))
        for i in range(y.shape[0]):
            for j in range(y.shape[1]):
                y[i, j] = (x[i : i + height, j : j + width] * kernel).sum()
        return y

    x = np.ones((6, 8))
    x[:, 2:6] = 0
    y = correlate(x, np.array([[1.0, -1.0]]))
    assert y.sum() == 0 and y[:, 1].tolist() == [1] * 6 and y[:, 5].tolist() == [-1] * 6
    layer = nn.Conv2D(1, kernel_size=(1, 2), use_bias=False)
    layer.initialize()
    x, y = x.reshape(1, 1, 6, 8), y.reshape(1, 1, 6, 7)
    for _ in range(12):
        with autograd.record():
            loss = (layer(x) - y) ** 2
        loss.backward()
        layer.weight.data()[:] -= 0.03 * layer.weight.grad()
    assert np.allclose(layer.weight.data().reshape(2), np.array([1.0, -1.0]), atol=0.1)


def test_several_devices(batches):
    places = devices(2)
    net = nn.HybridSequential()
    net.add(nn.Dense(32, activation="relu"), nn.Dense(10))
    net.initialize(mx.init.Xavier(), ctx=places)
    net.hybridize()
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.3})
    loss_of, metric = gluon.loss.SoftmaxCrossEntropyLoss(), gluon.metric.Accuracy()
    for _ in range(2):
        metric.reset()
        for images, labels in batches[0]:
            parts = gluon.utils.split_and_load(images, places, even_split=False)
            wanted = gluon.utils.split_and_load(labels, places, even_split=False)
            assert all(type(part) is np.ndarray for part in parts)
            with autograd.record():
                actual = [net(part) for part in parts]
                losses = [loss_of(f, w) for f, w in zip(actual, wanted, strict=True)]
            for loss in losses:
                loss.backward()
            trainer.step(len(images))
            metric.update(wanted, actual)
    assert metric.get()[1] > 0.8
    assert net[0].weight.data(places[0]).device == places[0]
    assert np.array_equal(*[net[1].bias.data(place) for place in places])


def test_pictures_are_augmented():
    pictures = np.random.randint(0, 256, (6, 40, 30, 3)).astype("uint8")
    labels = np.arange(6, dtype="int32")
    steps = gluon.data.vision.transforms
    augment = steps.Compose(
        [
            steps.RandomFlipLeftRight(),
            steps.RandomResizedCrop(24, scale=(0.5, 1), ratio=(0.8, 1.25)),
            steps.RandomColorJitter(brightness=0.3, contrast=0.3, saturation=0.3, hue=0.1),
            steps.ToTensor(),
            steps.Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225]),
        ]
    )
    dataset = gluon.data.ArrayDataset(pictures, labels).transform_first(augment)
    for workers in (0, 2):
        loader = gluon.data.DataLoader(dataset, 4, last_batch="keep", num_workers=workers)
        first, second = list(loader)
        assert type(first[0]) is np.ndarray and first[0].shape == (4, 3, 24, 24)
        assert second[1].tolist() == [4, 5] and second[1].dtype == "int32"
    cropped, box = image.random_crop(pictures[0], (20, 10))
    assert cropped.shape == (10, 20, 3) and len(box) == 4


def overlap(boxes, others):
    """Intersection over union of all pairs."""
    corner = np.maximum(boxes[:, None, :2], others[:, :2])
    sides = (np.minimum(boxes[:, None, 2:], others[:, 2:]) - corner).clip(0, None)
    shared = sides[:, :, 0] * sides[:, :, 1]
    areas = [(b[:, 2] - b[:, 0]) * (b[:, 3] - b[:, 1]) for b in (boxes, others)]
    return shared / (areas[0][:, None] + areas[1] - shared)


def test_boxes_and_their_suppression():
    boxes = np.array([[0.1, 0.1, 0.5, 0.9], [0.1, 0.2, 0.5, 0.95], [0.55, 0.2, 0.9, 0.9]])
    scores = np.array([0.7, 0.9, 0.6])
    shares = overlap(boxes, boxes)
    assert np.allclose(np.diagonal(shares), np.ones(3)) and shares[0, 2] == 0
    left, kept = scores.argsort()[::-1], []
    while left.size > 0:
        kept.append(left[0])
        rest = overlap(boxes[left[0]].reshape(1, 4), boxes[left[1:]]).reshape(-1)
        left = left[1:][np.nonzero(rest <= 0.5)[0]]
    assert np.array(kept, dtype="int32").tolist() == [1, 2]
    entries = np.concatenate([np.zeros((3, 1)), scores.reshape(3, 1), boxes], axis=1)
    actual = npx.box_nms(np.expand_dims(entries, 0), overlap_thresh=0.5, id_index=0)[0]
    assert actual[:, 1].tolist() == [pytest.approx(0.9), pytest.approx(0.6), -1]
    anchors = npx.multibox_prior(np.zeros((1, 3, 4, 4)), sizes=[0.5, 0.2], ratios=[1, 2])
    truth = np.array([[[1, 0.1, 0.1, 0.6, 0.6], [-1, -1, -1, -1, -1]]])
    offsets, mask, classes = npx.multibox_target(anchors, truth, np.zeros((1, 3, 48)))
    assert classes.shape == (1, 48) and set(classes.reshape(-1).tolist()) == {0, 2}
    assert offsets.shape == mask.shape == (1, 192)


def test_upsampling_and_style():
    x = np.random.uniform(size=(1, 3, 8, 8))
    doubled = nn.Conv2DTranspose(3, kernel_size=4, padding=1, strides=2)
    doubled.initialize(mx.init.Bilinear())
    assert doubled(x).shape == (1, 3, 16, 16)
    target = np.random.uniform(size=(1, 3, 8, 8))

    def gram(features):
        channels = features.shape[1]
        flat = features.reshape(channels, features.size // channels)
        return np.dot(flat, flat.T) / flat.size

    picture = gluon.Parameter("picture", shape=x.shape)
    picture.initialize(mx.init.Constant(0.5))
    trainer = gluon.Trainer({"picture": picture}, "adam", {"learning_rate": 0.05})
    losses = []
    for _ in range(25):
        with autograd.record():
            y = picture.data()
            style = np.square(gram(y) - gram(target)).mean()
            smooth = np.abs(y[:, :, 1:, :] - y[:, :, :-1, :]).mean()
            loss = np.square(y - x).mean() + 10 * style + 0.01 * smooth
        loss.backward()
        trainer.step(1)
        losses.append(float(loss))
    assert losses[-1] < 0.5 * losses[0]
