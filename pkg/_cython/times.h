/// Durations that are exactly of the class of `datetime`; the rules (`_rules/times.py`) convert others, and times.

#ifndef ANYFFI_TIMES_H_
#define ANYFFI_TIMES_H_

#include <datetime.h>
#include <string.h>

#include "state.h"

/// The interface of `datetime`, once a conversion needed it; NULL where the rules convert: without it, and in check
/// mode.
static PyDateTime_CAPI* anyffi_py_datetime_api(void) {
  if (PyDateTimeAPI == NULL && !anyffi_state.is_check_mode) {
    PyDateTime_IMPORT;
    if (PyDateTimeAPI == NULL) PyErr_Clear();
  }
  return PyDateTimeAPI;
}

/// Seconds and nanoseconds of a timedelta: 1, 0 for other objects, -1 with the runtime's error.
static int anyffi_py_read_duration(PyObject* x, AnyffiValue* out) {
  // Without an import for what is no timedelta.
  if (strcmp(Py_TYPE(x)->tp_name, "datetime.timedelta") != 0) return 0;
  if (anyffi_py_datetime_api() == NULL || !PyDelta_CheckExact(x)) return 0;
  int64_t seconds = (int64_t)PyDateTime_DELTA_GET_DAYS(x) * (24 * 60 * 60) + PyDateTime_DELTA_GET_SECONDS(x);
  AnyffiValue parts[] = {anyffi_make_int(seconds),
                         anyffi_make_int((int64_t)PyDateTime_DELTA_GET_MICROSECONDS(x) * 1000)};
  return anyffi_sequence_create_from(ANYFFI_LIST, parts, 2, out) == 0 ? 1 : -1;
}

/// Returns the timedelta of so many microseconds; NULL with an exception.
static PyObject* anyffi_py_make_duration(int64_t microseconds) {
  const int64_t day = (int64_t)24 * 60 * 60 * 1000000;
  int64_t days = microseconds / day, rest = microseconds % day;
  if (rest < 0) rest += day, --days;
  return PyDelta_FromDSU((int)days, (int)(rest / 1000000), (int)(rest % 1000000));
}

#endif  // ANYFFI_TIMES_H_
