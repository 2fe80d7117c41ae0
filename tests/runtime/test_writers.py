"""Every file writer, on a full disk: the old file stays intact, without temporary files."""

import ast
import contextlib
import os
import zipfile
from pathlib import Path

import pytest

import mxcy as mx
from mxcy._base import files
from mxcy._machine.tuning.table import Table
from mxcy.base import MXNetError
from tests.limits import full_disk

ROOT = Path(mx.__file__).parent
_WIDE = 4000  # every file is larger than the limit of the full disk


def network():
    net = mx.gluon.nn.Dense(1, in_units=_WIDE)
    net.initialize()
    return net


def wide():
    return mx.nd.ones(_WIDE)


def trained():
    net = network()
    trainer = mx.gluon.Trainer(net.collect_params(), "sgd", {"momentum": 0.9})
    with mx.autograd.record():
        loss = net(mx.nd.ones((1, _WIDE)))
    loss.backward()
    trainer.step(1)
    return trainer


def long_symbol():
    return mx.sym.Group([mx.sym.exp(mx.sym.var(f"x{i}")) for i in range(100)])


def module():
    x = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=1, name="fc")
    mod = mx.mod.Module(mx.sym.LinearRegressionOutput(x, name="out"), label_names=["out_label"])
    mod.bind([("data", (1, _WIDE))], [("out_label", (1, 1))])
    mod.init_params()
    mod.init_optimizer(optimizer_params={"momentum": 0.9})
    mod.forward(mx.io.DataBatch([mx.nd.ones((1, _WIDE))], [mx.nd.ones((1, 1))]), is_train=True)
    mod.backward()
    mod.update()
    return mod


def hybrid():
    net = network()
    net.hybridize()
    net(mx.nd.ones((1, _WIDE)))
    return net


def store():
    kv = mx.kv.create("local")
    kv.set_optimizer(mx.optimizer.SGD(momentum=0.9))
    kv.init(0, mx.nd.ones(_WIDE))
    kv.push(0, mx.nd.ones(_WIDE))
    return kv


def many_blocks():
    net = mx.gluon.nn.HybridSequential()
    net.add(*(mx.gluon.nn.Dense(1, in_units=1) for _ in range(100)))
    net.initialize()
    return net


def dump_profile(_, path):
    with full_disk(2**40):
        mx.profiler.set_config(filename=path, profile_all=True, continuous_dump=False)
        mx.profiler.set_state("run")
        for _ in range(200):
            mx.nd.ones(1) + 1
        mx.nd.waitall()
        Path(path).write_text("old")  # which new options have removed
    mx.profiler.dump()


def tuned():
    table = Table(2, persistent=True)
    table.changed = True
    table.rates = {f"kernel{i}": {"in": [1.0, 2.0, 3]} for i in range(200)}
    return table


def save_table(table, path):
    table.path = path
    table.save()


def download(_, path):
    mx.gluon.utils.download(Path(__file__).as_uri(), path, overwrite=True, retries=0)


def nothing():
    """For writers that need no preparation."""


#: name -> (object to save, function that saves it to a path)
WRITERS = {
    "nd.save": (wide, lambda array, path: mx.nd.save(path, array)),
    "nd.save npz": (wide, lambda array, path: mx.nd.save(path, {"a": array}, format="npz")),
    "symbol.save": (long_symbol, mx.sym.Symbol.save),
    "Block.save_parameters": (network, mx.gluon.Block.save_parameters),
    "ParameterDict.save": (network, lambda net, path: net.collect_params().save(path)),
    "Block.save": (many_blocks, lambda net, path: net.save(path.removesuffix("-model.json"))),
    "HybridBlock.export": (hybrid, lambda net, path: net.export(path.removesuffix("-0000.params"))),
    "Trainer.save_states": (trained, mx.gluon.Trainer.save_states),
    "Module.save_optimizer_states": (module, mx.mod.Module.save_optimizer_states),
    "Module.save_params": (module, mx.mod.Module.save_params),
    "Module.save_checkpoint": (
        module,
        lambda mod, path: mod.save_checkpoint(path.removesuffix("-0001.params"), 1),
    ),
    "KVStore.save_optimizer_states": (store, lambda kv, path: kv.save_optimizer_states(path)),
    "profiler.dump": (nothing, dump_profile),
    "the tuning table": (tuned, save_table),
    "download": (nothing, download),
}
#: writers whose files have endings of their own
ENDINGS = {
    "Block.save": "-model.json",
    "HybridBlock.export": "-0000.params",
    "Module.save_checkpoint": "-0001.params",
}


@pytest.mark.parametrize("name", WRITERS)
def test_a_full_disk_leaves_the_old_file(name, tmp_path):
    folder = tmp_path / "files"
    folder.mkdir()
    path = folder / ("made" + ENDINGS.get(name, ""))
    path.write_text("old")
    prepare, write = WRITERS[name]
    saved = prepare()
    before = sorted(folder.iterdir())
    forgives = name == "the tuning table"  # results that cannot be stored are measured again
    raises = contextlib.nullcontext() if forgives else pytest.raises((OSError, MXNetError))
    with full_disk(), raises:
        write(saved, str(path))
    assert path.read_text() == "old"
    whole = {p for p in folder.iterdir() if p.name.endswith("-symbol.json")}
    assert sorted({*folder.iterdir()} - whole) == before
    for symbol in whole:  # small enough to be written before the others
        mx.sym.load(str(symbol))


def test_allocations_of_a_profile(tmp_path):
    prefix = str(tmp_path / "memory")
    path = Path(f"{prefix}-pid_{os.getpid()}.csv")
    mx.profiler.set_config(filename=str(tmp_path / "trace"), profile_memory=True)
    mx.profiler.set_state("run")
    kept = [mx.nd.ones(7) for _ in range(200)]
    mx.profiler.set_state("stop")
    path.write_text("old")
    with full_disk(), pytest.raises(OSError, match="too large"):
        mx.profiler.memory.write_allocations(prefix)
    assert path.read_text() == "old" and len(kept) == 200
    assert [p for p in tmp_path.iterdir() if p.suffix == ".csv" or ".new" in p.name] == [path]


def test_unpacked_archives(tmp_path):
    source, target = tmp_path / "content.zip", tmp_path / "out"
    with zipfile.ZipFile(source, "w") as archive:
        archive.writestr("file", bytes(10_000))
    target.mkdir()
    (target / "file").write_text("old")
    with full_disk(), pytest.raises(OSError, match="too large"):
        files.unpack_zip(source, target)
    assert (target / "file").read_text() == "old"
    assert [p.name for p in target.iterdir()] == ["file"]


# --- no writer of another kind --------------------------------------------------------------------

#: records are appended; generated sources, releases and kept figures are under version control;
#: lists of finished steps can be made again
_DIRECT = {"files.py", "recordio.py", "params.py", "stubs.py", "figures.py"}
_DIRECT |= {"release_check.py", "release_steps.py"}


def _writes(call):
    """Whether a call of `open` or of a method of paths writes a file."""
    name = getattr(call.func, "attr", getattr(call.func, "id", ""))
    if name in ("write_text", "write_bytes", "tofile", "extractall"):
        return True
    modes = [*call.args[1:2], *(k.value for k in call.keywords if k.arg == "mode")]
    texts = [mode.value for mode in modes if isinstance(mode, ast.Constant)]
    return name == "open" and any(isinstance(t, str) and set(t) & set("wax+") for t in texts)


def test_files_are_replaced_everywhere():
    collected = []
    for path in [*ROOT.rglob("*.py"), *(ROOT.parent / "tools").glob("*.py")]:
        tree = ast.parse(path.read_bytes())
        calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
        if path.name not in _DIRECT and "examples" not in path.parts:
            collected += [f"{path}:{call.lineno}" for call in calls if _writes(call)]
    assert not collected, "these write in place, not by files.replacing"
