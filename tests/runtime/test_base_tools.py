"""Helpers of `mx.base` for classes, docs and C functions; `mx.container`; CUDA and Lua names."""

import ctypes
import sys
import types

import numpy as np
import pytest

import mxcy as mx


def test_with_metaclass():
    class Named(type):
        @classmethod
        def __prepare__(mcs, name, bases):
            return {"prepared": name}

        def __new__(mcs, name, bases, members):
            return super().__new__(mcs, name, bases, {**members, "tag": name.lower()})

    class Base:
        pass

    class Thing(mx.base.with_metaclass(Named, Base)):
        pass

    assert type(Thing) is Named and Thing.__bases__ == (Base,)
    assert Thing.tag == "thing" and Thing.prepared == "Thing"


def test_class_properties():
    class Counter:
        _count = 3

        @mx.base.classproperty
        def count(cls):
            return cls._count

        @count.setter
        def count(cls, value):
            cls._count = value

        @mx.base.classproperty
        def fixed(cls):
            return cls.__name__

    assert Counter.count == 3 == Counter().count
    Counter().count = 5
    assert Counter.count == 5
    with pytest.raises(AttributeError, match="cannot set"):
        Counter().fixed = 1


def test_parameter_docs():
    names, kinds = ["a", "num_args", "a", "b"], ["int", "int", "float", "str"]
    built = mx.base.build_param_doc(names, kinds, ["First.", "", "Again.", ""])
    assert built == "Parameters\n----------\na : int\n    First.\nb : str\n"
    assert "Again." in mx.base.build_param_doc(names, kinds, ["", "", "Again.", ""], False)


def test_docs_tell_where_functions_stand():
    module = types.ModuleType("pieces")
    exec('def f():\n    "Does."\n\nclass A:\n    def g(self):\n        "Does too."', vars(module))
    module.A.__module__ = "pieces"
    sys.modules["pieces"] = module
    try:
        for _ in range(2):  # once is enough
            mx.base.add_fileline_to_docstring("pieces")
    finally:
        del sys.modules["pieces"]
    assert module.f.__doc__ == "Does.\n\nFrom:<string>:1"
    assert module.A.g.__doc__ == "Does too.\n\nFrom:<string>:5"


def test_errors_of_c_functions_are_taken_apart():
    text = "[12:00:00] src/op.cc:12: ValueError: wrong size\nStack trace:\n  [bt] (0) f\n"
    message, kind = mx.base.c2pyerror(text)
    assert kind == "ValueError" and message.endswith("ValueError: wrong size")
    assert message.startswith("Traceback (most recent call last):\n  [bt] (0) f")
    assert mx.base.c2pyerror("no type here") == ("no type here", None)
    with pytest.raises(mx.MXNetError):
        mx.base.check_call(-1)
    assert isinstance(mx.base.get_last_ffi_error(), Exception)


def test_memory_of_c_functions():
    numbers = (mx.base.mx_float * 6)(*range(6))
    pointer = ctypes.cast(numbers, ctypes.POINTER(mx.base.mx_float))
    shared = mx.base.ctypes2numpy_shared(pointer, (2, 3))
    numbers[4] = 40
    np.testing.assert_array_equal(shared, [[0, 1, 2], [3, 40, 5]])
    with pytest.raises(RuntimeError, match="expected float pointer"):
        mx.base.ctypes2numpy_shared(numbers, (2, 3))
    owners = [types.SimpleNamespace(handle=ctypes.c_void_p(64)), types.SimpleNamespace(handle=None)]
    array = mx.nd.ones(2)
    pointers = mx.base.c_handle_array([*owners, array])
    assert list(pointers) == [64, None, id(array)]
    callbacks = mx.base.MXCallbackList(num_callbacks=2)
    assert callbacks.num_callbacks == 2 and not callbacks.callbacks


def test_errors_of_sparse_arrays():
    error = mx.base.NotSupportedForSparseNDArray(mx.nd.NDArray.reshape, "r", 5)
    assert str(error) == (
        "Function reshape (namely operator \"r\") with arguments (<class 'int'>) is not supported "
        "for SparseNDArray and only available in NDArray."
    )


def test_containers():
    text = mx.container.String("ab")
    assert text == "ab" and isinstance(text, str)
    leaf = mx.container.ADT(1, [])
    node = mx.container.ADT(3, [leaf, text])
    assert (node.tag, len(node), node[0], node[-1]) == (3, 2, leaf, "ab")
    assert node[0:1] == [leaf]
    with pytest.raises(IndexError, match="size: 2, got index 4"):
        node[4]
    with pytest.raises(AssertionError, match="Expect object"):
        mx.container.ADT(0, ["plain"])
    table = mx.container.Map({"a": leaf})
    assert table["a"] is leaf and "b" not in table and table.get("b", 4) == 4
    assert table.items() == [("a", leaf)] and len(table) == 1
    with pytest.raises(TypeError):
        table["a"] = node


def test_python_values_become_containers():
    x = mx.np.ones(2)
    table = mx._ffi.convert_to_node({"a": 2, "b": [x, "text", (2.5, x)]})
    assert isinstance(table, mx.container.Map) and dict(table.items())["a"] == 2
    fields = table["b"]
    assert fields[0] is x and isinstance(fields[1], mx.container.String)
    assert fields[2][:] == [2.5, x]
    assert mx._api_internal._Map("a", x)["a"] is x and len(mx._api_internal._ADT(x, x)) == 2
    for wrong in ({1: 2}, object(), None):
        with pytest.raises(ValueError, match="convert_to_node"):
            mx._ffi.convert_to_node(wrong)


def test_what_needs_cuda_is_refused():
    with pytest.raises(mx.MXNetError, match="cuda_profiler_start"):
        mx.cuda.cuda_profiler_start()
    with pytest.raises(mx.MXNetError, match="cuda_profiler_stop"):
        mx.cuda.cuda_profiler_stop()
    with pytest.raises(mx.MXNetError, match="range_pop"):
        mx.cuda.nvtx.range_pop()
    named = mx.cuda.nvtx.range("step", color=mx.cuda.nvtx.RED)
    with pytest.raises(mx.MXNetError, match="no range 'step'"), named:
        pass


def test_lua_torch_is_missing():
    assert mx.th is mx.torch
    with pytest.raises(AttributeError, match="without Lua Torch"):
        mx.th.abs  # noqa: B018


def test_default_dtype():
    assert mx.base.mx_real_t is np.float32
    assert mx.nd.zeros(1).dtype is mx.base.mx_real_t


def test_the_c_library_is_refused_by_name():
    with pytest.raises(mx.MXNetError, match="_LIB.MXNDArrayCreate: mxcy does not implement"):
        mx.base._LIB.MXNDArrayCreate(0)
    assert not hasattr(mx.base._LIB, "MXSymbolFree")


def test_types_and_tools_that_programs_import():
    from mxcy.base import NDArrayHandle, SymbolHandle, _as_list, basestring, long, mx_int64
    from mxcy.ndarray.ndarray import _STORAGE_TYPE_CSR, _STORAGE_TYPE_ID_TO_STR, py_slice

    assert NDArrayHandle is SymbolHandle is ctypes.c_void_p and mx_int64 is ctypes.c_int64
    assert (basestring, long, py_slice) == (str, int, slice)
    assert _as_list(3) == [3] and _as_list((1, 2)) == (1, 2)
    assert _STORAGE_TYPE_ID_TO_STR[_STORAGE_TYPE_CSR] == "csr"
