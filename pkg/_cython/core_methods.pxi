"""The methods of containers in C, as descriptors of the classes of wrappers; a part of _core.pyx."""


cdef struct Container:
    int32_t type_code
    const MethodRow* methods
    const OperatorRow* operators


cdef Container[7] containers = [
    Container(ANYFFI_OBJECT, object_methods, object_operators),
    Container(ANYFFI_ARRAY, array_methods, array_operators),
    Container(ANYFFI_LIST, list_methods, list_operators),
    Container(ANYFFI_MAP, map_methods, map_operators),
    Container(ANYFFI_DICT, dict_methods, dict_operators),
    Container(ANYFFI_FROZEN_SET, frozen_set_methods, frozen_set_operators),
    Container(ANYFFI_SET, set_methods, set_operators),
]


def methods_of(name, type methods not None):
    """Return the compiled methods of a public class, by name.

    Parameters
    ----------
    name : str
        The name of the class; "Api" for the public functions.
    methods : type
        Its methods in Python. The compiled ones have their signatures and docstrings, and call them for
        all that is not frequent.
    """
    if name == "Api":
        return compile_functions(methods)
    if name == "Function":
        own = vars(FunctionCore)
        return {"__get__": own["__get__"], "__name__": property(own["_anyffi_name"])}
    cores = (ObjectCore, ArrayCore, ListCore, MapCore, DictCore, FrozenSetCore, SetCore)
    names = ("Object", "Array", "List", "Map", "Dict", "FrozenSet", "Set")
    if name in names[1:]:
        state.unpickle_container = keep(methods._anyffi_unpickle)
    return compile_methods(names.index(name), cores[names.index(name)], methods) if name in names else {}


cdef dict compile_methods(int number, type core, type methods):
    cdef const MethodRow* row = containers[number].methods
    cdef const OperatorRow* binary = containers[number].operators
    state.cores[containers[number].type_code] = <PyObject*>core
    state.methods[containers[number].type_code] = keep(methods)
    cdef PyObject* doc
    shared = vars(methods)
    is_shared = _container_rules.FunctionType
    compiled = {key: slot for key, slot in vars(core).items() if isinstance(shared.get(key), is_shared)}
    while row.name != NULL:
        key = row.name.decode()
        doc = keep(_container_rules.text_signature(shared[key]).encode())
        compiled[key] = new_method(<PyTypeObject*>core, row, PyBytes_AsString(doc))
        row += 1
    while binary.name != NULL:
        for slot in (binary.name, binary.reflected_name):
            compiled[slot.decode()] = new_operator(<PyTypeObject*>core, slot, binary.call)
        binary += 1
    return compiled
