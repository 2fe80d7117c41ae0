"""`mx.dlpack`: structures have DLPack's memory layout; factories return working functions."""

import ctypes

import numpy as np
import pytest

import mxcy as mx
from mxcy import dlpack

pythonapi = ctypes.pythonapi
pythonapi.PyCapsule_GetPointer.restype = ctypes.c_void_p
pythonapi.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
pythonapi.PyCapsule_New.restype = ctypes.py_object
pythonapi.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]


def test_structures_read_exported_arrays():
    array = mx.nd.array([[1, 2, 3], [4, 5, 6]])
    capsule = mx.nd.to_dlpack_for_read(array)
    address = pythonapi.PyCapsule_GetPointer(capsule, b"dltensor")
    tensor = dlpack.DLManagedTensor.from_address(address).dl_tensor
    assert tensor.ctx.device_type == dlpack.DLDeviceType.DLCPU and tensor.ctx.device_id == 0
    assert tensor.ndim == 2 and tensor.shape[:2] == [2, 3]
    kind = tensor.dtype
    assert (kind.type_code, kind.bits, kind.lanes) == dlpack.DLDataType.TYPE_MAP["float32"]
    numbers = ctypes.cast(tensor.data + tensor.byte_offset, ctypes.POINTER(ctypes.c_float))
    assert numbers[:6] == [1, 2, 3, 4, 5, 6]


def test_structures_hand_over_memory():
    numbers = (ctypes.c_float * 4)(1, 2, 3, 4)
    shape = (ctypes.c_int64 * 2)(2, 2)
    managed = dlpack.DLManagedTensor()
    tensor = managed.dl_tensor
    tensor.data, tensor.ndim = ctypes.addressof(numbers), 2
    tensor.ctx = dlpack.DLContext(dlpack.DLDeviceType.DLCPU, 0)
    tensor.dtype = dlpack.DLDataType.TYPE_MAP["float32"]
    tensor.shape = ctypes.cast(shape, ctypes.POINTER(ctypes.c_int64))
    capsule = pythonapi.PyCapsule_New(ctypes.addressof(managed), b"dltensor", None)
    array = dlpack.ndarray_from_dlpack(mx.nd.NDArray)(capsule)
    numbers[3] = 9
    np.testing.assert_array_equal(array.asnumpy(), [[1, 2], [3, 9]])
    with pytest.raises(AttributeError, match="PyCapsule"):
        dlpack.ndarray_from_dlpack(mx.nd.NDArray)([1, 2])


def test_owners_are_let_go():
    class Owner:
        pass

    owner = Owner()
    managed = dlpack.DLManagedTensor(
        manager_ctx=id(owner), deleter=dlpack.dl_managed_tensor_deleter
    )
    pythonapi.Py_IncRef(ctypes.py_object(owner))
    held = ctypes.c_ssize_t.from_address(id(owner)).value
    managed.deleter(ctypes.pointer(managed))
    assert ctypes.c_ssize_t.from_address(id(owner)).value == held - 1


def test_made_functions():
    array = mx.nd.array([1, 2, 3])
    capsule = dlpack.ndarray_to_dlpack_for_write()(array)
    taken = dlpack.ndarray_from_dlpack(mx.nd.NDArray)(capsule)
    taken[1] = 7
    assert array.asnumpy().tolist() == [1, 7, 3]
    again = dlpack.ndarray_from_dlpack(mx.nd.NDArray)(dlpack.ndarray_to_dlpack_for_read()(array))
    assert again.asnumpy().tolist() == [1, 7, 3]
    from_numpy = dlpack.ndarray_from_numpy(mx.nd.NDArray, mx.nd.array)
    values = np.arange(3, dtype="float32")
    copied, shared = from_numpy(values, zero_copy=False), from_numpy(values)
    assert not values.flags.writeable
    shared[0] = 5
    assert values[0] == 5 and copied.asnumpy().tolist() == [0, 1, 2]


def test_names_that_nd_has_too():
    assert mx.nd.ndarray.DLTensor is dlpack.DLTensor
    assert "capsule" in mx.nd.ndarray.from_dlpack_doc
    blank = mx.nd.NDArray(mx.nd._new_empty_handle())
    assert blank.size == 0
