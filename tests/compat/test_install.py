"""`import mxnet` imports mxcy's modules."""

import importlib
import pickle
import sys
import types

import pytest

import mxcy
from mxcy import compat, libinfo


@pytest.fixture
def installed():
    """mxcy under the name mxnet for one test."""
    assert compat.install()
    yield
    compat.uninstall()


def mxcy_modules():
    """All importable modules of mxcy that are not programs."""
    import pkgutil

    for actual in pkgutil.walk_packages(mxcy.__path__, "mxcy."):
        last = actual.name.rpartition(".")[2]
        private = actual.name.startswith(("mxcy._", "mxcy.examples"))
        if last not in ("__main__", "libmxcy", "autostart") and not private:  # programs
            yield actual.name


def test_every_module_is_the_very_same(installed):
    for name in mxcy_modules():
        module = importlib.import_module(name)
        spec = module.__spec__
        assert importlib.import_module(f"mxnet{name[4:]}") is module
        assert module.__name__ == name and module.__spec__ is spec and spec.name == name


def test_functions_keep_their_place_from_modules_called_like_them(installed):
    vision = mxcy.gluon.model_zoo.vision
    function = vision.alexnet
    module = importlib.import_module("mxnet.gluon.model_zoo.vision.alexnet")
    assert callable(function) and vision.alexnet is function
    assert module.AlexNet is vision.AlexNet


def test_all_forms_of_import(installed):
    import mxnet
    import mxnet as mx
    import mxnet.gluon.nn
    import mxnet.ndarray as array_functions
    from mxnet import autograd, gluon, nd  # noqa: F401
    from mxnet.gluon import nn, rnn  # noqa: F401
    from mxnet.gluon.nn import Dense
    from mxnet.module.base_module import BaseModule

    assert mx is mxnet is mxcy
    assert gluon is mxcy.gluon and nn is mxcy.gluon.nn is mxnet.gluon.nn
    assert nd is array_functions is mxcy.nd and autograd is mxcy.autograd
    assert Dense is mxcy.gluon.nn.Dense
    assert issubclass(mxcy.mod.Module, BaseModule)
    names = {}
    exec("from mxnet.initializer import *", names)
    assert names["Xavier"] is mxcy.init.Xavier


def test_short_names_are_modules_too(installed):
    assert importlib.import_module("mxnet.nd") is mxcy.ndarray
    assert importlib.import_module("mxnet.sym.contrib") is mxcy.symbol.contrib
    assert importlib.import_module("mxnet.mod") is mxcy.module


def test_missing_modules_raise_import_error(installed):
    with pytest.raises(ModuleNotFoundError, match="No module named 'mxnet.nothing'") as raised:
        importlib.import_module("mxnet.nothing")
    assert raised.value.name == "mxnet.nothing"
    with pytest.raises(ModuleNotFoundError, match="not a package"):
        importlib.import_module("mxnet.context.nothing")
    with pytest.raises(ImportError, match="nothing"):
        exec("from mxnet.gluon import nothing")
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("mxnetwork")


def test_pickles_that_name_mxnet(installed):
    schedule = mxcy.lr_scheduler.FactorScheduler(10, 0.5)
    saved = pickle.dumps(schedule, 0)
    assert b"mxcy.lr_scheduler" in saved
    loaded = pickle.loads(saved.replace(b"mxcy.lr_scheduler", b"mxnet.lr_scheduler"))
    assert type(loaded) is mxcy.lr_scheduler.FactorScheduler and loaded.step == 10
    assert pickle.loads(b"cmxnet.context\nContext\n(S'cpu'\nI1\ntR.") == mxcy.cpu(1)


def test_version_is_one_of_mxnet(installed):
    import mxnet

    assert mxnet.__version__ == "1.9.1" and libinfo.__version__ != "1.9.1"
    assert compat.install(version="1.6.0") and mxnet.__version__ == "1.6.0"
    assert compat.install(version=None) and mxnet.__version__ == "1.6.0"


def test_uninstall_leaves_no_trace():
    finders, folders = [*sys.meta_path], [*sys.path]
    assert compat.install() and compat.is_installed()
    importlib.import_module("mxnet.gluon")
    compat.uninstall()
    assert not compat.is_installed() and sys.meta_path == finders
    assert sys.path == folders
    assert not [name for name in sys.modules if name.partition(".")[0] == "mxnet"]
    assert mxcy.__version__ == libinfo.__version__
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("mxnet")


@pytest.fixture
def real(tmp_path, monkeypatch):
    """A folder with another package mxnet."""
    package = tmp_path / "mxnet"
    package.mkdir()
    (package / "__init__.py").write_text("__version__ = '1.9.1-real'\n")
    (package / "gluon.py").write_text("real = True\n")
    monkeypatch.syspath_prepend(tmp_path)
    yield package
    compat.uninstall()
    for name in [name for name in sys.modules if name.partition(".")[0] == "mxnet"]:
        del sys.modules[name]


def test_a_real_mxnet_keeps_its_name(real):
    with pytest.warns(RuntimeWarning, match="replace=True") as told:
        assert compat.install() is False
    assert str(real / "__init__.py") in str(told[0].message)
    assert told[0].filename == __file__
    assert not compat.is_installed()
    assert importlib.import_module("mxnet.gluon").real
    assert mxcy.__version__ == libinfo.__version__


def test_a_real_mxnet_is_replaced_when_asked(real):
    assert compat.install(replace=True)
    assert importlib.import_module("mxnet.gluon") is mxcy.gluon
    assert compat.install()  # it already has the name
    compat.uninstall()
    assert importlib.import_module("mxnet").__version__ == "1.9.1-real"


def test_an_imported_mxnet_is_put_aside(real):
    before = importlib.import_module("mxnet.gluon")
    assert compat.find_real_mxnet() == str(real / "__init__.py")
    assert compat.install(replace=True)
    assert importlib.import_module("mxnet.gluon") is mxcy.gluon
    compat.uninstall()
    assert sys.modules["mxnet.gluon"] is before


def test_a_mere_folder_is_no_mxnet(tmp_path, monkeypatch):
    (tmp_path / "mxnet").mkdir()
    monkeypatch.syspath_prepend(tmp_path)
    assert compat.find_real_mxnet() is None


def test_modules_set_up_by_hand_count_as_real(monkeypatch):
    monkeypatch.setitem(sys.modules, "mxnet", types.ModuleType("mxnet"))
    assert "mxnet" in compat.find_real_mxnet()
