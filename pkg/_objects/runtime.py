"""The runtime's functions for front ends, registered as `anyffi.*`."""

from __future__ import annotations

from .._builtins import *  # noqa: F403
from .._typing import Any

__all__ = ["Runtime"]


class Runtime:
    """One backend's wrappers of these functions."""

    def __init__(self, core: Any) -> None:
        def get(name: str) -> Any:
            function = core.get_function("anyffi." + name)
            if function is None:
                raise ImportError(
                    f"libanyffi lacks anyffi.{name}: it is of another version than the package, or there was "
                    "no memory when the process loaded it"
                )
            return function

        self.to_object = core.to_object
        self.to_plain = core.to_plain
        self.get_function = core.get_function
        self.iterate_elements = core.iterate_elements
        self.create_record = core.create_record
        self.get_attributes = core.get_attributes
        self.set_attributes = core.set_attributes
        self.field_getter = core.field_getter
        self.field_setter = core.field_setter
        self.need_stack = core.need_stack
        self.renew_wrapper = core.renew_wrapper
        self.revive_wrapper = core.revive_wrapper
        self.function_overloads = get("Function.overloads")
        self.function_select = get("Function.select")
        self.function_signature = get("Function.signature")
        self.container_copy = get("container.copy")
        self.container_erase_peeked = get("container.erase_peeked")
        self.container_freeze = get("container.freeze")
        self.container_is_tree = get("container.is_tree")
        self.container_thaw = get("container.thaw")
        self.sequence_concat = get("Sequence.concat")
        self.sequence_pick = get("Sequence.pick")
        self.sequence_repeat = get("Sequence.repeat")
        self.sequence_slice = get("Sequence.slice")
        self.list_append = get("List.append")
        self.list_clear = get("List.clear")
        self.list_erase_slice = get("List.erase_slice")
        self.list_extend = get("List.extend")
        self.list_insert = get("List.insert")
        self.list_peek = get("List.peek")
        self.list_pop = get("List.pop")
        self.list_reverse = get("List.reverse")
        self.list_set_slice = get("List.set_slice")
        self.list_sort = get("List.sort")
        self.list_sort_by = get("List.sort_by")
        self.shape_create = get("Shape")
        self.mapping_merge = get("Mapping.merge")
        self.dict_erase = get("Dict.erase")
        self.dict_peek = get("Dict.peek")
        self.dict_peek_last = get("Dict.peek_last")
        self.dict_pop = get("Dict.pop")
        self.dict_popitem = get("Dict.popitem")
        self.dict_setdefault = get("Dict.setdefault")
        self.dict_update = get("Dict.update")
        self.dict_clear = get("Dict.clear")
        self.set_assign = get("Set.assign")
        self.set_change = get("Set.change")
        self.set_update = get("Set.update")
        self.set_discard = get("Set.discard")
        self.set_peek_last = get("Set.peek_last")
        self.set_pop = get("Set.pop")
        self.set_add = get("Set.add")
        self.set_clear = get("Set.clear")
        self.names_suggest = get("names.suggest")
        self.registry_set = get("registry.set")
        self.registry_remove = get("registry.remove")
        self.registry_list = get("registry.list")
        self.registry_find_library = get("registry.find_library")
        self.module_load = get("Module.load")
        self.module_get_program = get("Module.get_program")
        self.module_import = get("Module.import_module")
        self.module_imports = get("Module.imports")
        self.module_get_function = get("Module.get_function")
        self.module_list = get("Module.list")
        self.module_find_class = get("Module.find_class")
        self.module_list_classes = get("Module.list_classes")
        self.module_path = get("Module.path")
        self.module_prefix = get("Module.prefix")
        self.module_find_origin = get("Module.find_origin")
        self.object_get_field = get("Object.get_field")
        self.object_set_field = get("Object.set_field")
        self.object_is_shared = get("Object.is_shared")
        self.object_keep_alive = get("Object.keep_alive")
        self.json_read = get("json.read")
        self.json_write = get("json.write")
        self.record_create = get("record.create")
        self.record_prepare = get("record.prepare")
        self.record_declare = get("record.declare")
        self.record_describe = get("record.describe")
        self.record_name = get("record.name")
        self.record_set_defaults = get("record.set_defaults")
        self.record_set_repr = get("record.set_repr")
        self.record_set_base = get("record.set_base")
        self.structure_equal = get("structure.equal")
        self.structure_hash = get("structure.hash")
        self.structure_field_index = get("structure.field_index")
        self.structure_children = get("structure.children")
        self.structure_map = get("structure.map")
        self.structure_map_children = get("structure.map_children")
        self.structure_replace = get("structure.replace")
        self.structure_reset = get("structure.reset")
        self.structure_set = get("structure.set")
        self.structure_visit = get("structure.visit")
        self.structure_diff = get("structure.diff")
        self.type_describe = get("type.describe")
        self.type_methods = get("type.methods")
        self.type_find = get("type.find")
        self.type_list_nested = get("type.list_nested")
        self.type_let_host_compare = get("type.let_host_compare")
        self.type_let_host_derive = get("type.let_host_derive")
        self.type_convertible_from = get("type.convertible_from")
        self.type_table = get("type.table")
        self.value_equal = get("value.equal")
        self.value_hash = get("value.hash")
        self.value_repr = get("value.repr")
        self.value_show = get("value.show")
        self.tensor_copy = get("Tensor.copy")
        self.tensor_to_capsule = get("Tensor.to_capsule")
        self.tensor_from_writable_capsule = get("Tensor.from_writable_capsule")
