// The minimum cost of a type-erased call: values of 16 bytes on the stack, an indirect call, and containers copied
// completely into memory that is reused by the next call. No names, no threads, no errors except TypeError.
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stddef.h>
#include <stdint.h>
#include <structmember.h>

enum { NONE = 0, BOOL = -1, INT = -2, FLOAT = -3, TEXT = -4, BYTES = -5, ELLIPSIS = -6, SEQUENCE = 1, SLICE = 2 };

typedef struct Value {
  int32_t code;
  uint32_t size;
  union {
    int64_t integer;
    double number;
    const char* text;
    struct Block* block;
  };
} Value;

typedef struct Block {
  int64_t references;
  int64_t size;
  struct Block* next;
  Value items[];
} Block;

typedef int (*Body)(const Value* args, int64_t count, Value* result);

typedef struct Function {
  PyObject_HEAD vectorcallfunc call;
  Body body;
} Function;

enum { KEPT_SIZES = 128 };
static Block* kept[KEPT_SIZES];

static Block* block_create(int64_t size) {
  Block* block = size < KEPT_SIZES ? kept[size] : NULL;
  if (block != NULL) {
    kept[size] = block->next;
  } else {
    block = malloc(sizeof(Block) + (size_t)size * sizeof(Value));
    if (block == NULL) return NULL;
  }
  block->references = 1;
  block->size = size;
  return block;
}

static void release(const Value* value);

static void block_release(Block* block, int64_t filled) {
  if (--block->references != 0) return;
  for (int64_t i = 0; i < filled; i++) release(&block->items[i]);
  if (block->size < KEPT_SIZES) {
    block->next = kept[block->size];
    kept[block->size] = block;
  } else {
    free(block);
  }
}

static inline void release(const Value* value) {
  if (value->code > 0) block_release(value->block, value->block->size);
}

static int pack(PyObject* object, Value* value);

static int pack_all(PyObject* const* objects, int64_t size, int32_t code, Value* value) {
  Block* block = block_create(size);
  if (block == NULL) {
    PyErr_NoMemory();
    return -1;
  }
  for (int64_t i = 0; i < size; i++) {
    if (pack(objects[i], &block->items[i]) != 0) {
      block_release(block, i);
      return -1;
    }
  }
  value->code = code;
  value->block = block;
  return 0;
}

static int pack(PyObject* object, Value* value) {
  PyTypeObject* type = Py_TYPE(object);
  value->size = 0;
  if (type == &PyLong_Type) {
    value->code = INT;
    value->integer = PyLong_AsLongLong(object);
    return value->integer == -1 && PyErr_Occurred() ? -1 : 0;
  }
  if (type == &PyUnicode_Type) {
    Py_ssize_t size;
    value->code = TEXT;
    value->text = PyUnicode_AsUTF8AndSize(object, &size);
    value->size = (uint32_t)size;
    return value->text == NULL ? -1 : 0;
  }
  if (type == &PyFloat_Type) {
    value->code = FLOAT;
    value->number = PyFloat_AS_DOUBLE(object);
    return 0;
  }
  if (type == &PyTuple_Type) return pack_all(((PyTupleObject*)object)->ob_item, Py_SIZE(object), SEQUENCE, value);
  if (type == &PyList_Type) return pack_all(((PyListObject*)object)->ob_item, Py_SIZE(object), SEQUENCE, value);
  if (type == &PySlice_Type) {
    PySliceObject* slice = (PySliceObject*)object;
    PyObject* parts[] = {slice->start, slice->stop, slice->step};
    return pack_all(parts, 3, SLICE, value);
  }
  if (type == &PyBytes_Type) {
    value->code = BYTES;
    value->text = PyBytes_AS_STRING(object);
    value->size = (uint32_t)PyBytes_GET_SIZE(object);
    return 0;
  }
  value->integer = object == Py_True;
  if (object == Py_None) {
    value->code = NONE;
  } else if (type == &PyBool_Type) {
    value->code = BOOL;
  } else if (object == Py_Ellipsis) {
    value->code = ELLIPSIS;
  } else {
    PyErr_Format(PyExc_TypeError, "no value for %s", type->tp_name);
    return -1;
  }
  return 0;
}

static PyObject* unpack(const Value* value) {
  switch (value->code) {
    case BOOL:
      return PyBool_FromLong((long)value->integer);
    case INT:
      return PyLong_FromLongLong(value->integer);
    case FLOAT:
      return PyFloat_FromDouble(value->number);
    case TEXT:
      return PyUnicode_DecodeUTF8(value->text, value->size, NULL);
    default:
      Py_RETURN_NONE;
  }
}

static PyObject* call(PyObject* self, PyObject* const* objects, size_t flags, PyObject* names) {
  Value few[8], result = {0};
  int64_t count = PyVectorcall_NARGS(flags), packed = 0;
  PyObject* answer = NULL;
  Value* args = count <= 8 ? few : malloc((size_t)count * sizeof(Value));
  if (args == NULL || names != NULL) return PyErr_NoMemory();
  while (packed < count && pack(objects[packed], &args[packed]) == 0) packed++;
  if (packed == count) {
    if (((Function*)self)->body(args, count, &result) == 0) {
      answer = unpack(&result);
    } else {
      PyErr_SetString(PyExc_TypeError, "refused");
    }
  }
  for (int64_t i = 0; i < packed; i++) release(&args[i]);
  if (args != few) free(args);
  return answer;
}

static int nop(const Value* args, int64_t count, Value* result) {
  (void)args, (void)count, (void)result;
  return 0;
}

static int add_one(const Value* args, int64_t count, Value* result) {
  if (count != 1 || args[0].code != INT) return -1;
  result->code = INT;
  result->integer = args[0].integer + 1;
  return 0;
}

// Values that borrow or are inline.
static int echo(const Value* args, int64_t count, Value* result) {
  if (count != 1 || args[0].code > 0) return -1;
  *result = args[0];
  return 0;
}

static PyMemberDef members[] = {{"__vectorcalloffset__", T_PYSSIZET, offsetof(Function, call), READONLY, NULL}, {0}};
static PyType_Slot slots[] = {{Py_tp_call, (void*)PyVectorcall_Call}, {Py_tp_members, members}, {0}};
static PyType_Spec spec = {"bench_floor.Function", sizeof(Function), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL,
                           slots};

static struct PyModuleDef definition = {.m_base = PyModuleDef_HEAD_INIT, .m_name = "bench_floor", .m_size = -1};

PyMODINIT_FUNC PyInit_bench_floor(void) {
  static const struct {
    const char* name;
    Body body;
  } functions[] = {{"nop", nop}, {"add_one", add_one}, {"echo", echo}, {NULL, NULL}};
  PyObject* module = PyModule_Create(&definition);
  PyObject* type = PyType_FromSpec(&spec);
  if (module == NULL || type == NULL) return NULL;
  for (int i = 0; functions[i].name != NULL; i++) {
    Function* function = PyObject_New(Function, (PyTypeObject*)type);
    if (function == NULL) return NULL;
    function->call = call;
    function->body = functions[i].body;
    if (PyModule_AddObject(module, functions[i].name, (PyObject*)function) != 0) return NULL;
  }
  return module;
}
