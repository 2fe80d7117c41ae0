"""The examples of examples/numpy, shortened, under both profiles."""

import importlib.util
from pathlib import Path

import pytest

import mxcy as mx
from mxcy import profile

pytest.importorskip("tqdm", reason="the examples show progress bars")
FOLDER = Path(__file__).parents[2] / "examples" / "numpy"


@pytest.fixture(params=["1.9", "2.0"], autouse=True)
def generation(request):
    """The profile in force."""
    before = profile.current()
    mx.util.set_profile(request.param)
    yield request.param
    mx.util.set_profile(before.name)
    profile.set_current(*before)


def example(name):
    spec = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_lenet_reads_digits(capsys):
    module = example("lenet_np")
    assert module.main("--epochs 2 --images 600".split()) > 0.7
    printed = capsys.readouterr().out
    assert printed.count("accuracy on the held-out images") == 2 and "were read as" in printed


def test_images_are_shifted():
    module = example("lenet_np")
    images = mx.np.zeros((1, 1, 28, 28))
    images[:, :, 10, 12] = 1
    places = set()
    for _ in range(40):
        moved = module.shifted(images)
        assert moved.shape == images.shape and moved.sum() == 1
        places.add(divmod(int(moved.reshape(-1).argmax()), 28))
    rows, columns = zip(*places, strict=True)
    assert (min(rows), max(rows), min(columns), max(columns)) == (8, 12, 10, 14)


def test_transformer_learns_a_text(capsys):
    module = example("transformer_text")
    options = "--characters 6000 --units 32 --layers 1 --steps 32 --epochs 2 --batch-size 8"
    actual = module.main(f"{options} --learning-rate 0.01 --write 60".split())
    assert actual < 25  # of 70 and more characters
    assert "The " in capsys.readouterr().out


def test_the_transformer_does_not_look_ahead():
    module = example("transformer_text")
    mx.npx.set_np()
    net = module.Transformer(50, module.parse("--units 16 --layers 2 --heads 2".split()))
    net.initialize()
    net.hybridize()
    numbers = mx.np.random.randint(0, 50, (2, 12))
    changed = numbers.copy()
    changed[:, 7:] = 1
    differ = abs(net(numbers) - net(changed)).max(axis=(0, 2)) > 0
    assert differ.tolist() == [False] * 7 + [True] * 5
    assert mx.np.allclose(net(numbers[:, :5]), net(numbers)[:, :5], atol=1e-5)
