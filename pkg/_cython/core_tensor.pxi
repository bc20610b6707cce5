"""The wrapper of tensors; a part of _core.pyx. Its methods are in tensor.h."""


@cython.auto_pickle(False)
cdef class TensorCore(ObjectCore):
    """A Tensor."""

    def __len__(self):
        return tensor_length(<PyObject*>self)

    def __getbuffer__(self, Py_buffer* view, int flags):
        get_buffer(<PyObject*>self, view, flags)
        view.obj = self


cdef int learn_numpy "anyffi_py_learn_numpy"() except -1:
    """Reads NumPy's table of functions, if its version is known."""
    cdef object module, table, cls
    # Versions before 2 have the second name.
    for name in ("numpy._core._multiarray_umath", "numpy.core._multiarray_umath"):
        module = sys.modules.get(name)
        table, cls = getattr(module, "_ARRAY_API", None), getattr(module, "ndarray", None)
        if isinstance(cls, type) and read_numpy(<PyObject*>table, <PyTypeObject*>cls):
            keep(cls)
            break
    return 0


cdef int set_up_tensors() except -1:
    cdef object text = _export.TEXT_SIGNATURE + _export.export_tensor.__doc__
    cdef bytes doc = text.encode()
    state.share_dtype = keep(_dtype.share_dtype)
    state.share_device = keep(_device.share_device)
    state.export_tensor = keep(_export.export_tensor)
    state.make_array = keep(_arrays.make_array)
    keep(doc)
    device = _device.Device("cpu", 3)
    if <object>(<DeviceLayout*><PyObject*>device).pair != _device.read_device(device):
        raise ImportError("the layout of Device is another one than value_objects.h has")
    set_value_slots(<PyTypeObject*>_dtype.dtype, <PyTypeObject*>_device.Device)
    add_tensor_methods(<PyTypeObject*>TensorCore, doc)
    (<PyTypeObject*>TensorCore).tp_name = "anyffi.Tensor"
    return 0
