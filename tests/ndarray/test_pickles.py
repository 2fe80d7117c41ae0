"""Pickled arrays, and unpickling files of other programs."""

import collections
import copy
import pickle
import struct
from pathlib import Path

import numpy as np
import pytest

import mxcy as mx
from mxcy._library import front
from mxcy.base import MXNetError
from mxcy.lr_scheduler import FactorScheduler, LRScheduler
from mxcy.ndarray._files import pickles
from mxcy.optimizer import Adam, Optimizer
from tests.limits import allocating_at_most

DATA = Path(__file__).parent.parent / "data" / "params"
PROTOCOLS = range(pickle.HIGHEST_PROTOCOL + 1)
RAW_V2 = struct.pack("<Iiiq3i2f", 0xF993FAC9, 0, 1, 2, 1, 0, 0, 5, 6)


class OwnOptimizer(Optimizer):
    """An optimizer of a user's program."""


class OwnArray(mx.nd.NDArray):
    """An array class of a user's program."""

    __slots__ = ()


def pickled(text, *arguments):
    """A pickle that calls the function named by `text`, module and name, with arguments."""
    head = b"\x80\x02c" + text.replace(" ", "\n").encode() + b"\n"
    return head + pickle.dumps(arguments, 2)[2:-1] + b"R."


# --- arrays ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("load", [pickle.loads, pickles.loads])
@pytest.mark.parametrize("shape", [(), (0, 2), (2, 3)])
def test_round_trip(protocol, load, shape):
    data = np.arange(np.prod(shape, dtype=int), dtype=np.int64).reshape(shape)
    saved = front.from_numpy(data, 6, mx.cpu())
    loaded = load(pickle.dumps(saved, protocol))
    assert type(loaded) is mx.nd.NDArray
    assert loaded.dtype_code == 6
    np.testing.assert_array_equal(loaded.asnumpy(), data, strict=True)
    assert not loaded.shares_memory(saved)


@pytest.mark.parametrize("load", [pickle.loads, pickles.loads])
def test_structure_is_kept(load):
    a = mx.nd.array([1, 2])
    content = {"a": a, "again": a, "more": (OwnArray, [a], mx.gpu(1))}
    if load is pickles.loads:
        content["more"] = content["more"][1:]
    loaded = load(pickle.dumps(content))
    assert loaded["a"] is loaded["again"] is loaded["more"][-2][0]
    assert loaded["more"][-1] == mx.gpu(1)


@pytest.mark.parametrize("load", [pickle.loads, pickles.loads])
def test_the_class_is_kept(load):
    own = OwnArray.__new__(OwnArray)
    own.become(mx.nd.array([3]))
    loaded = load(pickle.dumps(own))
    assert type(loaded) is OwnArray
    assert loaded.asnumpy().tolist() == [3]


def test_deepcopy_is_independent():
    a = mx.nd.array([1, 2])
    b = copy.deepcopy(a)
    a.numpy_view()[:] = 0
    assert b.asnumpy().tolist() == [1, 2]


def test_arrays_are_not_made_by_their_class():
    for arguments in ((), (1, True)):
        with pytest.raises(TypeError, match="mx.nd.array"):
            mx.nd.NDArray(*arguments)


def test_only_blank_arrays_become_others():
    a, b = mx.nd.array([1]), mx.nd.array([2])
    blank = type(a).__new__(type(a))
    assert blank.blank
    assert not a.blank
    for target, source in [(a, b), (blank, blank)]:
        with pytest.raises(MXNetError, match="blank"):
            target.become(source)
    blank.become(a)
    assert blank.shares_memory(a)


# --- pickles of real MXNet ------------------------------------------------------------------------


def test_arrays_of_real_mxnet():
    loaded = pickles.loads((DATA / "ndarray_19.pickle").read_bytes())
    assert loaded["a"].asnumpy().tolist() == [[1, 2], [3, 4]]
    assert loaded["s"].asnumpy().tolist() == [[1, 0, 0], [0, 2, 0]]
    assert loaded["ctx"] == mx.gpu(1)


@pytest.mark.parametrize("version", ["19", "20"])
def test_states_of_real_mxnet(version):
    content = (DATA / f"g_{version}.states").read_bytes()
    states, optimizer = pickles.loads(content, (Optimizer, LRScheduler))
    assert sorted(states) == [0, 1, 2, 3]
    assert type(optimizer) is Adam
    assert (optimizer.lr, optimizer.beta1, optimizer.epsilon) == (0.1, 0.9, 1e-8)
    assert optimizer.num_update == 1
    shapes = sorted(tuple(part.shape for part in state) for state in states.values())
    assert shapes == [((2,), (2,)), ((2, 3), (2, 3)), ((3,), (3,)), ((3, 4), (3, 4))]
    gradients = [state[0].asnumpy() for state in states.values()]
    squares = [state[1].asnumpy() for state in states.values()]
    for mean, square in zip(gradients, squares, strict=True):
        # One step from zero: mean = 0.1 g and square = 0.001 g², up to rounding.
        np.testing.assert_allclose(square, 0.001 * (mean / 0.1) ** 2, rtol=1e-4)


def test_bytes_as_python_2_wrote_them():
    old = b"(dS'handle'\nS" + repr(RAW_V2)[1:].encode() + b"\ns"
    content = b"cmxnet.ndarray.ndarray\nNDArray\n(NtR" + old + b"b."
    assert pickles.loads(content).asnumpy().tolist() == [5, 6]


# --- what may be in a pickle ----------------------------------------------------------------------


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize(
    "value",
    [
        {"a": [1, 2.5, None, True, "é", b"\x80", (1,)], 2: {3}, frozenset([4]): 1j},
        collections.OrderedDict(a=1),
        bytearray(b"ab"),
        b"",
        slice(1, 2),
        mx.cpu(3),
        np.float32(1.5),
        np.int64(-3),
        np.bool_(True),
        np.float64,
    ],
)
def test_plain_data(value, protocol):
    loaded = pickles.loads(pickle.dumps(value, protocol))
    assert loaded == value
    assert type(loaded) is type(value)


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize(
    "value",
    [
        np.arange(6, dtype=np.float32).reshape(2, 3),
        np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        np.array([1, 2], ">i4"),
        np.array(True),
    ],
)
def test_numpy_arrays(value, protocol):
    loaded = pickles.loads(pickle.dumps(value, protocol))
    usual = pickle.loads(pickle.dumps(value, protocol))
    np.testing.assert_array_equal(np.asarray(loaded), usual, strict=True)
    again = pickle.loads(pickle.dumps(loaded, protocol))
    assert type(again) is np.ndarray
    np.testing.assert_array_equal(again, usual, strict=True)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_objects_of_given_classes(protocol):
    own = OwnOptimizer(learning_rate=0.25, lr_scheduler=FactorScheduler(3, 0.5))
    content = pickle.dumps(({}, own), protocol)
    _, loaded = pickles.loads(content, (Optimizer, LRScheduler))
    assert type(loaded) is OwnOptimizer
    assert loaded.lr_scheduler.base_lr == 0.25
    with pytest.raises(MXNetError, match="is not allowed here"):
        pickles.loads(content)


@pytest.mark.parametrize(
    "text",
    [
        "os system",
        "posix system",
        "builtins eval",
        "builtins getattr",
        "__builtin__ exec",
        "numpy load",
        "numpy frombuffer",
        "numpy.testing run_module_suite",
        "mxcy._base.files replacing",
        "mxcy.ndarray.utils load",
        "mxnet.ndarray.utils load",
        "mxnet.optimizer.optimizer Nothing",
        "no_such_module x",
        "collections defaultdict",
    ],
)
def test_other_names_are_refused(text):
    content = pickled(text, "true")
    with pytest.raises(MXNetError, match=f"states: .*{text.replace(' ', '.')} is not allowed"):
        pickles.loads(content, (Optimizer,), "states")


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x80\x02",
        b"(((",
        b"cbuiltins\nbytearray\n(I100000000000\ntR.",
        b"cbuiltins\nbytes\n(I100000000000\ntR.",
        b"cnumpy\nndarray\n((I100000000000\nttR.",
        b"cnumpy\ndtype\n(S'O'\ntR.",
        b"cnumpy\ndtype\n(S'V100000000000'\ntR.",
        b"cnumpy.core.multiarray\nscalar\n(S'f8'\nS'12345678'\ntR.",
        b"c_codecs\nencode\n(S'x'\nS'rot13'\ntR.",
        b"cmxcy.ndarray.state\nblank\n(cbuiltins\nset\ntR.",
        b"ccopyreg\n_reconstructor\n(cmxcy.ndarray.ndarray\nNDArray\ncbuiltins\nobject\nNtR.",
    ],
)
def test_damaged_or_hostile_pickles(content):
    with pytest.raises(MXNetError, match="^<pickle>: not a valid pickle"):
        pickles.loads(content)


@pytest.mark.parametrize("name", ["mxnet.ndarray.ndarray", "mxcy.ndarray.ndarray"])
@pytest.mark.parametrize("end", [b"", b"}S'handle'\nNsb", b"}S'handle'\nS'abc'\nsb", b"}b"])
def test_arrays_without_elements(name, end):
    content = f"c{name}\nNDArray\n(NtR".encode() + end + b"."
    with pytest.raises(MXNetError, match="^<pickle>: "):
        pickles.loads(content)
    with pytest.raises(MXNetError, match="^<pickle>: not a valid pickle"):
        pickles.loads(f"\x80\x02c{name}\nNDArray\n)\x81.".encode("latin1"))


def test_truncation_at_every_byte():
    content = (DATA / "g_19.states").read_bytes()
    for length in range(len(content)):
        with pytest.raises(MXNetError, match="^<pickle>: "):
            pickles.loads(content[:length], (Optimizer,))


# --- nothing unfinished ---------------------------------------------------------------------------

BLANK = b"cmxcy.ndarray.ndarray\nNDArray\n(NtR"
ADAM = b"cmxnet.optimizer\nAdam\n"


@pytest.mark.parametrize(
    "content",
    [
        b"cmxnet.ndarray.ndarray\nNDArray\n)RK\x00K\x01s.",  # an item of a blank array
        BLANK + b"K\x00K\x01s.",
        b"cbuiltins\nset\n(](" + BLANK + b"etR.",  # a blank array is hashed
        b"\x8f(" + BLANK + b"\x90.",
        b"}" + BLANK + b"K\x01s.",
        b"](" + BLANK + b"e.",  # a list of a blank array, which gets no state
        BLANK + b"\x85.",
        BLANK + b"N\x86.",
        b"cmxcy.context\nContext\nN}S'__str__'\ncbuiltins\nslice\ns\x86b.",  # a class is changed
        b"cmxcy.context\nContext\nN}S'__str__'\nS'x'\ns\x86b.",
        b"cmxcy.context\nContext\n}S'devtype2str'\n}sb.",
        b"cmxcy.context\nContext\n)\x81.",
        b"cmxcy.context\nContext\n)\x81}(S'device_typeid'\nK\x63S'device_id'\nK\x00ub.",
        b"cmxcy.context\nContext\n)\x81}(S'device_typeid'\nK\x01S'device_id'\nS'0'\nub.",
        ADAM + b".",
        ADAM + b"}S'update'\nK\x01sb.",
        b"](" + ADAM + b"e.",
        ADAM + b")\x81}S'update'\nK\x01sb.",  # a method becomes a number
        ADAM + b")\x81}K\x01K\x01sb.",
        ADAM + b")\x81N}S'lr'\nK\x01s\x86b.",
        b"cnumpy\ndtype\n.",
        b"cnumpy\nfloat64\n}S'x'\nK\x01sb.",
        b"cbuiltins\nslice\n(" + ADAM + b"tR.",
        b"cbuiltins\nobject\n)R.",
        b"cbuiltins\nobject\n)\x81.",
        b"]}b.",
        b"K\x01K\x02K\x03s.",
        b"K\x01K\x02a.",
    ],
)
def test_classes_and_unbuilt_objects_are_not_returned(content):
    before = vars(mx.Context).copy(), str(mx.cpu(1))
    with pytest.raises(MXNetError, match="^<pickle>: not a valid pickle: at byte "):
        pickles.loads(content, (Optimizer,))
    assert (vars(mx.Context), str(mx.cpu(1))) == before


def nested(levels, wrap):
    """A pickle of 2 ** levels nests that are only `levels` objects, and what is done with it."""
    return (
        b"\x80\x04)"
        + b"".join(b"\x94h" + bytes([level]) + b"\x86" for level in range(levels))
        + wrap
    )


@pytest.mark.parametrize(
    "content",
    [
        b"Nr\xff\xff\xff\x03.",
        b"Nr\xff\xff\xff\xff0j\xff\xff\xff\xff.",
        b"cnumpy._core.multiarray\n_reconstruct\n(cnumpy\nndarray\n(I0\ntS'b'\ntR"
        b"(I1\n(I1000000\nI1000000\ntcnumpy\ndtype\n(S'f8'\ntR(I3\nS'<'\ntbI00\nC\x01atb.",
        b"cnumpy._core.numeric\n_frombuffer\n(C\x00cnumpy\ndtype\n(S'f8'\ntR(I3\nS'<'\ntb"
        b"(I1000000\nI0\ntS'C'\ntR.",
    ],
)
def test_memory_is_bounded_by_the_content(content):
    with allocating_at_most(2**20):
        try:
            assert pickles.loads(content) is None or content.startswith(b"cnumpy")
        except MXNetError:
            pass


def test_copies_are_bounded_by_the_content():
    body = pickle.dumps(b"x" * 100_000, 4)[:-1]
    start = b"\x80\x04](" + body[body.index(b"B") :] + b"\x94"
    copies = b"cbuiltins\nbytearray\nh\x00\x85R" * 50_000
    with (
        allocating_at_most(20 * 2**20),
        pytest.raises(MXNetError, match="times the size of the pickle"),
    ):
        pickles.loads(start + copies + b"e.")


@pytest.mark.parametrize("wrap", [b"K\x01s.", b"\x91.", b"\x90."])
def test_keys_are_hashed_in_time(wrap):
    content = nested(200, wrap)
    if wrap == b"K\x01s.":
        content = b"\x80\x04}" + content[2:]
    else:
        content = b"\x80\x04" + (b"(" if wrap == b"\x91." else b"\x8f(") + content[2:]
    with pytest.raises(MXNetError, match="times the size of the pickle"):
        pickles.loads(content)
