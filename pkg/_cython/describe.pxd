"""What a function says of itself, as Python values."""

from c_api cimport AnyffiFunctionInfo, AnyffiParamInfo
from unpack cimport unpack_copy


cdef inline object describe(const AnyffiFunctionInfo* info):
    """`(name, doc, params, number of required ones, flags, result type)`; None where nothing is known."""
    cdef const AnyffiParamInfo* param
    cdef list params = []
    cdef int i
    if info == NULL:
        return None
    for i in range(info.num_params):
        param = &info.params[i]
        has_default = param.default_value != NULL
        default = unpack_copy(param.default_value) if has_default else None
        params.append((text_or_none(param.name), has_default, default, text_or_none(param.type_name)))
    return (
        text_or_none(info.name), text_or_none(info.doc), tuple(params), info.num_required, info.flags,
        text_or_none(info.result_type),
    )


cdef inline object text_or_none(const char* utf8):
    # Doc strings come from C++ authors; one in another encoding must not hide the function.
    return None if utf8 == NULL else utf8[:].decode("utf-8", "backslashreplace")
