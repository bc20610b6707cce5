"""The compiled marshaller.

Importing it raises ModuleNotFoundError for `_core` if the extension is not installed, and the original error
if it is installed but broken: nothing here may hide the difference.
"""

from __future__ import annotations

from .._rules.errors import (
    is_main_interpreter,
    require_first_interpreter,
    require_loadable,
    require_main_interpreter,
)

# The first interpreter that loads a Cython module remains the only one, even if it is rejected here.
require_main_interpreter(is_main_interpreter())

with require_loadable():
    from ._core import NAME

# All interpreters of a process share the module object; the first one clears it at exit.
require_first_interpreter(NAME is not None)

from ._core import (  # noqa: E402
    ArrayCore,
    DictCore,
    FrozenSetCore,
    FunctionCore,
    ItemsCore,
    KeysCore,
    ListCore,
    MapCore,
    ObjectCore,
    SetCore,
    TensorCore,
    ValuesCore,
    create_exchange,
    create_record,
    drop_class,
    field_getter,
    field_setter,
    get_attributes,
    get_function,
    iterate_elements,
    methods_of,
    need_stack,
    plan_record,
    renew_wrapper,
    revive_wrapper,
    set_attributes,
    set_class,
    set_class_maker,
    set_constant_class,
    set_constructor,
    set_constructor_class,
    set_field_class,
    set_method_class,
    set_module_class,
    set_observer,
    set_record_class,
    shut_down,
    to_object,
    to_plain,
)

__all__ = [
    "NAME",
    "ArrayCore",
    "DictCore",
    "FrozenSetCore",
    "FunctionCore",
    "ItemsCore",
    "KeysCore",
    "ListCore",
    "MapCore",
    "ObjectCore",
    "SetCore",
    "TensorCore",
    "ValuesCore",
    "create_exchange",
    "create_record",
    "drop_class",
    "field_getter",
    "field_setter",
    "get_attributes",
    "get_function",
    "iterate_elements",
    "methods_of",
    "need_stack",
    "plan_record",
    "renew_wrapper",
    "revive_wrapper",
    "set_attributes",
    "set_class",
    "set_class_maker",
    "set_constant_class",
    "set_constructor",
    "set_constructor_class",
    "set_field_class",
    "set_method_class",
    "set_module_class",
    "set_observer",
    "set_record_class",
    "shut_down",
    "to_object",
    "to_plain",
]
