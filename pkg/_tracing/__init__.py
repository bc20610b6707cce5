"""Observation of a program's calls: traces, records for replay, and the objects that stay alive."""

from __future__ import annotations

from .. import _mode

__all__ = ["begin"]


def begin() -> None:
    """Begin what the environment variables select; it lasts until the interpreter ends."""
    if _mode.ffi_leak_check:
        from .liveness import check_at_exit

        check_at_exit()
    if _mode.ffi_trace:
        from .tracing import trace_to

        try:
            trace_to(_mode.ffi_trace)
        except OSError as error:
            raise ImportError(f"FFI_TRACE={_mode.ffi_trace}: cannot write the trace: {error}") from error
    if _mode.ffi_record:
        from .recording import record_to

        try:
            record_to(_mode.ffi_record, _mode.ffi_record_sample, _mode.ffi_record_size)
        except OSError as error:
            raise ImportError(f"FFI_RECORD={_mode.ffi_record}: cannot write there: {error}") from error
