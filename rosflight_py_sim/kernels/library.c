/* The kernel library: what surrounds the machine code of the kernels. See kernels/library.py. */

#define PY_SSIZE_T_CLEAN
#define NPY_NO_DEPRECATED_API NPY_1_7_API_VERSION
#include <Python.h>
#include <numpy/arrayobject.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#define CALL PyObject *by_numba, PyObject *const *arguments, Py_ssize_t count, PyObject *names
#define FLAGS METH_FASTCALL | METH_KEYWORDS

/* What the machine code calls when a kernel raises, in this order. All names but kernel_raised are numba's. */

static int has_raised;

void numba_gil_ensure(int *state) { (void)state; }

PyObject *numba_unpickle(const char *data, int size, const char *hash)
{
    (void)hash;
    PyObject *pickle = PyImport_ImportModule("pickle");
    PyObject *loaded = pickle ? PyObject_CallMethod(pickle, "loads", "y#", data, (Py_ssize_t)size) : NULL;
    Py_XDECREF(pickle);
    return loaded;
}

PyObject *numba_runtime_build_excinfo_struct(PyObject *type, PyObject *arguments)
{
    (void)type, (void)arguments;
    PyErr_SetString(PyExc_RuntimeError, "a kernel raised an exception with arguments computed at run time");
    return NULL;
}

void numba_do_raise(PyObject *packed)
{
    PyObject *type, *arguments, *place;
    if (PyArg_ParseTuple(packed, "OOO", &type, &arguments, &place))
        PyErr_SetObject(type, arguments); /* makes an exception of that type, of a tuple of arguments */
    Py_DECREF(packed);
}

void kernel_raised(PyObject *where) { (void)where; has_raised = 1; }

void numba_gil_release(int *state) { (void)state; }

/* Reference counts are those of arrays that numba made. Kernels make none. */
void NRT_Free(void *data) { (void)data; }
void NRT_MemInfo_call_dtor(void *info) { (void)info; }

/* Whether the kernel has raised an exception, which is then Python's current one. */
static int raised(void)
{
    if (!has_raised)
        return 0;
    has_raised = 0;
    if (!PyErr_Occurred())
        PyErr_SetString(PyExc_RuntimeError, "a kernel failed");
    return 1;
}

static int is_array(PyObject *given, int type, int dimensions, int is_written)
{
    PyArrayObject *array = (PyArrayObject *)given;
    return PyArray_CheckExact(given) && PyArray_TYPE(array) == type && PyArray_NDIM(array) == dimensions
        && (is_written ? PyArray_ISCARRAY(array) : PyArray_ISCARRAY_RO(array));
}

static int is_float64(PyObject *given, double *value)
{
    if (PyFloat_Check(given)) {
        *value = PyFloat_AS_DOUBLE(given);
        return 1;
    }
    if (!PyLong_Check(given))
        return 0;
    *value = PyLong_AsDouble(given);
    if (*value != -1.0 || !PyErr_Occurred())
        return 1;
    PyErr_Clear();
    return 0;
}

static int is_int64(PyObject *given, int64_t *value)
{
    int overflow;
    if (!PyLong_Check(given))
        return 0;
    *value = PyLong_AsLongLongAndOverflow(given, &overflow);
    return !overflow;
}

static int is_boolean(PyObject *given, int64_t *value)
{
    *value = given == Py_True;
    return PyBool_Check(given);
}

/* A class of records, looked up at the first call that takes one. */
struct record {
    const char *module, *name;
    PyTypeObject *type;
};

static int is_record(PyObject *given, struct record *expected, void **data)
{
    Py_buffer buffer;
    if (!expected->type) {
        PyObject *module = PyImport_ImportModule(expected->module);
        expected->type = module ? (PyTypeObject *)PyObject_GetAttrString(module, expected->name) : NULL;
        Py_XDECREF(module);
    }
    if (Py_TYPE(given) != expected->type || PyObject_GetBuffer(given, &buffer, PyBUF_SIMPLE)) {
        PyErr_Clear();
        return 0;
    }
    *data = buffer.buf;
    PyBuffer_Release(&buffer); /* the caller holds the record, whose memory does not move */
    return 1;
}

static PyObject *tuple_of(int count, ...)
{
    va_list members;
    PyObject *tuple = PyTuple_New(count);
    va_start(members, count);
    for (int i = 0; tuple && i < count; i++)
        PyTuple_SET_ITEM(tuple, i, va_arg(members, PyObject *));
    va_end(members);
    return tuple;
}

/* A function for each kernel, the table `kernels` of them, and BASELINE and LACKS_BASELINE. */
#include "kernels.inc"

/* The kernel of that name, or by_numba where the library has none of that name. */
static PyObject *kernel(PyObject *module, PyObject *given)
{
    const char *name;
    PyObject *by_numba;
    (void)module;
    if (!PyArg_ParseTuple(given, "sO", &name, &by_numba))
        return NULL;
    for (PyMethodDef *one = kernels; one->ml_name; one++)
        if (!strcmp(one->ml_name, name))
            return PyCFunction_NewEx(one, by_numba, NULL);
    return Py_NewRef(by_numba);
}

static PyMethodDef functions[] = {
    {"kernel", kernel, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, .m_name = "rosflight_kernels", .m_size = -1, .m_methods = functions,
};

PyMODINIT_FUNC PyInit_rosflight_kernels(void)
{
    if (LACKS_BASELINE) {
        PyErr_SetString(PyExc_ImportError, "this processor is older than " BASELINE);
        return NULL;
    }
    import_array();
    return PyModule_Create(&definition);
}
