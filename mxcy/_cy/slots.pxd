# Type slots that Cython does not expose; each module that uses them has its own copy.
from cpython.object cimport PyObject

cdef extern from *:
    """
    // Arrays created here get memory and shape at once. Calling `cls.__new__(cls)` from
    // Python returns a blank array, which shares an empty storage, so that nothing in it is NULL.
    static newfunc mx_bare_new, mx_blank_new;
    static inline PyObject *mx_new(PyObject *cls, PyObject *no_args) {
      newfunc make = ((PyTypeObject *)cls)->tp_new;
      return (make == mx_blank_new ? mx_bare_new : make)((PyTypeObject *)cls, no_args, NULL);
    }
    static inline PyObject *mx_bare(PyObject *cls, PyObject *args, PyObject *kwargs) {
      return mx_bare_new((PyTypeObject *)cls, args, kwargs);
    }
    static inline void mx_show_new(PyObject *cls,
                                   PyObject *(*make)(PyObject *, PyObject *, PyObject *)) {
      mx_bare_new = ((PyTypeObject *)cls)->tp_new;
      ((PyTypeObject *)cls)->tp_new = mx_blank_new = (newfunc)(void (*)(void))make;
    }
    """
    object mx_new(object cls, object no_args)
    object mx_bare(object cls, object args, PyObject *kwargs)
    void mx_show_new(object cls, object (*make)(object, object, PyObject *))

cdef extern from *:
    """
    // Cython also stores operators as methods, which hide their slots: a derived class would look
    // up the method at each call. Slots behind wrappers, as in Python's own types, are inherited.
    static inline int mx_wrap_operators(PyObject *cls) {
      PyTypeObject *type = (PyTypeObject *)cls;
      PyNumberMethods *slots = type->tp_as_number;
      struct { const char *name; binaryfunc slot; } operators[] = {
        {"__add__", slots->nb_add}, {"__sub__", slots->nb_subtract},
        {"__mul__", slots->nb_multiply}, {"__truediv__", slots->nb_true_divide},
        {"__mod__", slots->nb_remainder},
      };
      for (size_t i = 0; i < sizeof operators / sizeof *operators; ++i) {
        PyObject *pattern = PyObject_GetAttrString((PyObject *)&PyFloat_Type, operators[i].name);
        if (pattern == NULL) return -1;
        PyObject *wrapper = PyDescr_NewWrapper(
            type, ((PyWrapperDescrObject *)pattern)->d_base, (void *)operators[i].slot);
        Py_DECREF(pattern);
        if (wrapper == NULL) return -1;
        int failed = PyDict_SetItemString(type->tp_dict, operators[i].name, wrapper);
        Py_DECREF(wrapper);
        if (failed) return -1;
      }
      PyType_Modified(type);
      return 0;
    }
    """
    int mx_wrap_operators(object cls) except -1

# CPython's vectorcallfunc, declared without the const of its array of arguments.
ctypedef object (*vectorcallfunc)(object, PyObject **, size_t, PyObject *)

cdef extern from *:
    """
    static inline void mx_calls_by_vector(PyObject *type, Py_ssize_t offset) {
      ((PyTypeObject *)type)->tp_vectorcall_offset = offset;
      ((PyTypeObject *)type)->tp_flags |= Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_METHOD_DESCRIPTOR;
      PyType_Modified((PyTypeObject *)type);
    }
    """
    void mx_calls_by_vector(object type, Py_ssize_t offset)
