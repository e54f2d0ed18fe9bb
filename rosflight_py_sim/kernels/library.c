/* The kernel library: what surrounds the machine code of the kernels. See kernels/library.py. */

#define PY_SSIZE_T_CLEAN
#define NPY_NO_DEPRECATED_API NPY_1_7_API_VERSION
#include <Python.h>
#include <numpy/arrayobject.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define CALL PyObject *by_numba, PyObject *const *arguments, Py_ssize_t count, PyObject *names
#define TAKE void *into, PyObject *const *arguments, Py_ssize_t first, Py_ssize_t last

/* A kernel: its function for Python, and its parts. `take` stores arguments number first to last - 1 as C values, or
   returns 0 if one has another type; `run` calls the kernel with the stored ones. So does `status`, which returns the
   kernel's integer or boolean, or 0 if it returns nothing; it is NULL for a kernel with another result. */
struct entry {
    PyMethodDef method;
    Py_ssize_t size, count;
    int (*take)(TAKE);
    PyObject *(*run)(void *with);
    int64_t (*status)(void *with);
};

#define ENTRY(name, symbol, count, status) \
    { {name, (PyCFunction)(void (*)(void))call_##symbol, METH_FASTCALL | METH_KEYWORDS, NULL}, \
        sizeof(struct taken_##symbol), count, take_##symbol, run_##symbol, status }

/* What the machine code calls when a kernel raises, in this order. All names but kernel_raised are numba's. */

static int has_raised;

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

void kernel_raised(void) { has_raised = 1; }

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
    for (struct entry *one = kernels; one->size; one++)
        if (!strcmp(one->method.ml_name, name))
            return PyCFunction_NewEx(&one->method, by_numba, NULL);
    return Py_NewRef(by_numba);
}

/* A kernel whose first arguments are bound. */
struct bound {
    PyObject_HEAD
    vectorcallfunc call;
    PyObject *kernel, *given; /* the function, and a tuple of the first arguments, which keeps their memory */
    const struct entry *entry;
    char taken[];
};

static PyObject *call_bound(PyObject *self, PyObject *const *arguments, size_t flags, PyObject *names)
{
    struct bound *bound = (struct bound *)self;
    const struct entry *entry = bound->entry;
    Py_ssize_t first = PyTuple_GET_SIZE(bound->given), count = PyVectorcall_NARGS(flags);
    if (!names && first + count == entry->count && entry->take(bound->taken, arguments - first, first, entry->count))
        return entry->run(bound->taken);
    PyObject *further = PyTuple_New(count), *all = NULL, *result = NULL;
    for (Py_ssize_t i = 0; further && i < count; i++)
        PyTuple_SET_ITEM(further, i, Py_NewRef(arguments[i]));
    if (further)
        all = PySequence_Concat(bound->given, further);
    if (all)
        result = PyVectorcall_Call(bound->kernel, all, NULL);
    Py_XDECREF(further);
    Py_XDECREF(all);
    return result;
}

static void free_bound(PyObject *self)
{
    struct bound *bound = (struct bound *)self;
    Py_XDECREF(bound->kernel);
    Py_XDECREF(bound->given);
    PyObject_Free(self);
}

static PyTypeObject bound_type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "rosflight_kernels.bound",
    .tp_basicsize = sizeof(struct bound),
    .tp_itemsize = 1,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL,
    .tp_vectorcall_offset = offsetof(struct bound, call),
    .tp_call = PyVectorcall_Call,
    .tp_dealloc = free_bound,
};

/* A kernel of the library with its first arguments bound, or None where one has another type than the kernel takes. */
static PyObject *bind(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    (void)module;
    PyObject *kernel = arguments[0];
    struct entry *entry = kernels;
    if (!PyCFunction_Check(kernel))
        Py_RETURN_NONE;
    while (entry->size && &entry->method != ((PyCFunctionObject *)kernel)->m_ml)
        entry++;
    if (!entry->size || count - 1 > entry->count)
        Py_RETURN_NONE;
    struct bound *bound = PyObject_NewVar(struct bound, &bound_type, entry->size);
    if (!bound)
        return NULL;
    bound->call = call_bound, bound->entry = entry, bound->kernel = Py_NewRef(kernel);
    bound->given = PyTuple_New(count - 1);
    for (Py_ssize_t i = 1; bound->given && i < count; i++)
        PyTuple_SET_ITEM(bound->given, i - 1, Py_NewRef(arguments[i]));
    if (bound->given && entry->take(bound->taken, arguments + 1, 0, count - 1))
        return (PyObject *)bound;
    Py_DECREF(bound);
    if (PyErr_Occurred())
        return NULL;
    Py_RETURN_NONE;
}

/* Bound kernels that run one after the other. */
struct chain {
    PyObject_HEAD
    PyObject *links;
};

/* Run the kernels from the one with the given number on, and after the last the first again, until one returns a status
   greater than 0; store its number and the status, and return 1, or 0 with an exception. After the status -n, skip the
   next n kernels. */
static int run_links(PyObject *links, Py_ssize_t *index, int64_t *status)
{
    Py_ssize_t count = PyTuple_GET_SIZE(links);
    if (*index < 0 || *index >= count) {
        PyErr_Format(PyExc_IndexError, "link %zd given; allowed: 0 to %zd", *index, count - 1);
        return 0;
    }
    for (;;) {
        struct bound *link = (struct bound *)PyTuple_GET_ITEM(links, *index);
        *status = link->entry->status(link->taken);
        if (raised())
            return 0;
        if (*status > 0)
            return 1;
        *index += 1 - *status;
        while (*index >= count) /* a division would take longer than many a kernel */
            *index -= count;
    }
}

static PyObject *call_chain(PyObject *self, PyObject *given, PyObject *named)
{
    Py_ssize_t index;
    int64_t status;
    (void)named;
    if (!PyArg_ParseTuple(given, "n", &index) || !run_links(((struct chain *)self)->links, &index, &status))
        return NULL;
    return Py_BuildValue("nL", index, (long long)status);
}

static void free_chain(PyObject *self)
{
    Py_XDECREF(((struct chain *)self)->links);
    PyObject_Free(self);
}

static PyTypeObject chain_type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "rosflight_kernels.chain",
    .tp_basicsize = sizeof(struct chain),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_call = call_chain,
    .tp_dealloc = free_chain,
};

/* A chain of kernels, all of whose arguments are bound, or None if one is no such kernel or returns another result. */
static PyObject *chain(PyObject *module, PyObject *const *links, Py_ssize_t count)
{
    (void)module;
    for (Py_ssize_t i = 0; i < count; i++) {
        struct bound *link = (struct bound *)links[i];
        if (Py_TYPE(links[i]) != &bound_type || !link->entry->status
            || PyTuple_GET_SIZE(link->given) != link->entry->count)
            Py_RETURN_NONE;
    }
    struct chain *made = PyObject_New(struct chain, &chain_type);
    if (!made)
        return NULL;
    made->links = PyTuple_New(count);
    for (Py_ssize_t i = 0; made->links && i < count; i++)
        PyTuple_SET_ITEM(made->links, i, Py_NewRef(links[i]));
    if (made->links)
        return (PyObject *)made;
    Py_DECREF(made);
    return NULL;
}

/* Run chains, given in a list, one after the other: each from the link in the second argument on, an array of integers,
   in which its last one is stored, and its status in the third. None if an argument has another type. */
static PyObject *run_chains(PyObject *module, PyObject *const *given, Py_ssize_t count)
{
    (void)module;
    if (count != 3 || !PyList_Check(given[0]) || !is_array(given[1], NPY_INT64, 1, 1) || !is_array(given[2], NPY_INT64, 1, 1))
        Py_RETURN_NONE;
    npy_intp lanes = PyList_GET_SIZE(given[0]);
    if (PyArray_DIM((PyArrayObject *)given[1], 0) != lanes || PyArray_DIM((PyArrayObject *)given[2], 0) != lanes)
        Py_RETURN_NONE;
    for (npy_intp i = 0; i < lanes; i++)
        if (Py_TYPE(PyList_GET_ITEM(given[0], i)) != &chain_type)
            Py_RETURN_NONE;
    int64_t *at = PyArray_DATA((PyArrayObject *)given[1]), *status = PyArray_DATA((PyArrayObject *)given[2]);
    for (npy_intp i = 0; i < lanes; i++) {
        Py_ssize_t index = at[i];
        if (!run_links(((struct chain *)PyList_GET_ITEM(given[0], i))->links, &index, &status[i]))
            return NULL;
        at[i] = index;
    }
    Py_RETURN_TRUE;
}

static PyMethodDef functions[] = {
    {"run_chains", (PyCFunction)(void (*)(void))run_chains, METH_FASTCALL, NULL},
    {"kernel", kernel, METH_VARARGS, NULL},
    {"chain", (PyCFunction)(void (*)(void))chain, METH_FASTCALL, NULL},
    {"bind", (PyCFunction)(void (*)(void))bind, METH_FASTCALL, NULL},
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
    if (PyType_Ready(&bound_type) < 0 || PyType_Ready(&chain_type) < 0)
        return NULL;
    return PyModule_Create(&definition);
}
