"""Training loops shared by the programs."""

import mxcy as mx
from mxcy import autograd, gluon, np


def accuracy_of(net, loader):
    """The share of examples whose label gets the highest score."""
    hits = total = 0
    for inputs, labels in loader:
        hits += float((net(inputs).argmax(axis=1).astype(labels.dtype) == labels).sum())
        total += labels.size
    return hits / total


def fit(net, loader, trainer, epochs, loss_of=None):
    """Train with a Trainer or a step function; returns the mean loss of each epoch."""
    loss_of = loss_of or gluon.loss.SoftmaxCrossEntropyLoss()
    step = trainer.step if isinstance(trainer, gluon.Trainer) else trainer
    means = []
    for _ in range(epochs):
        total, count = np.zeros(()), 0
        for inputs, labels in loader:
            with autograd.record():
                loss = loss_of(net(inputs), labels)
            loss.backward()
            step(len(inputs))
            total += loss.sum()
            count += loss.size
        means.append(total.item() / count)
    return means


def variables(*shapes, scale=0.01):
    """Arrays with gradients: normal numbers for matrices, zeros for vectors."""
    made = []
    for shape in shapes:
        one = np.random.normal(0, scale, shape) if len(shape) > 1 else np.zeros(shape)
        one.attach_grad()
        made.append(one)
    return made


def descend(parameters, rate, size):
    """One step of stochastic gradient descent, written to the arrays."""
    for one in parameters:
        one[:] = one - rate * one.grad / size


def clip(parameters, most):
    """Scale gradients to a norm of at most `most`; returns the original norm."""
    norm = float(np.sqrt(sum((one.grad**2).sum() for one in parameters)))
    if norm > most:
        for one in parameters:
            one.grad[:] *= most / norm
    return norm


def text_pieces(text, steps, batch):
    """The characters of a text, and (characters, next characters) of shape (batch, steps)."""
    symbols = sorted(set(text))
    numbers = np.array([symbols.index(symbol) for symbol in text], dtype="int32")
    length = (len(text) - 1) // batch
    source = numbers[: batch * length].reshape(batch, length)
    target = numbers[1 : batch * length + 1].reshape(batch, length)
    starts = range(0, length - steps + 1, steps)
    return symbols, [(source[:, i : i + steps], target[:, i : i + steps]) for i in starts]


def devices(count=1):
    """CPUs as several devices."""
    return [mx.cpu(i) for i in range(count)]
