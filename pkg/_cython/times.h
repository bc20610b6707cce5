/// Durations that are exactly of the class of `datetime`, and times that are made; the rules (`_rules/times.py`)
/// convert others.

#ifndef ANYFFI_TIMES_H_
#define ANYFFI_TIMES_H_

#include <datetime.h>
#include <string.h>

#include "errors.h"

/// The interface of `datetime`, once a conversion needed it; NULL where the rules convert: without it, and in check
/// mode.
static PyDateTime_CAPI* anyffi_py_datetime_api(void) {
  if (PyDateTimeAPI == NULL && !anyffi_state.is_check_mode) {
    PyDateTime_IMPORT;
    if (PyDateTimeAPI == NULL) PyErr_Clear();
  }
  return PyDateTimeAPI;
}

/// Seconds and nanoseconds of a timedelta: 1, 0 for other objects, -1 with an exception.
static int anyffi_py_read_duration(PyObject* x, AnyffiValue* out) {
  // Without an import for what is no timedelta.
  if (strcmp(Py_TYPE(x)->tp_name, "datetime.timedelta") != 0) return 0;
  if (anyffi_py_datetime_api() == NULL || !PyDelta_CheckExact(x)) return 0;
  int64_t seconds = (int64_t)PyDateTime_DELTA_GET_DAYS(x) * (24 * 60 * 60) + PyDateTime_DELTA_GET_SECONDS(x);
  AnyffiValue parts[] = {anyffi_make_int(seconds),
                         anyffi_make_int((int64_t)PyDateTime_DELTA_GET_MICROSECONDS(x) * 1000)};
  return anyffi_sequence_create_from(ANYFFI_LIST, parts, 2, out) == 0 ? 1 : anyffi_py_raise_taken();
}

/// Seconds since 1970 in UTC and nanoseconds of a datetime without a zone, which is local; returns as
/// `anyffi_py_read_duration`.
static int anyffi_py_read_local_time(PyObject* x, AnyffiValue* out) {
  if (strcmp(Py_TYPE(x)->tp_name, "datetime.datetime") != 0) return 0;
  if (anyffi_py_datetime_api() == NULL || !PyDateTime_CheckExact(x)) return 0;
  if (((PyDateTime_DateTime*)x)->hastzinfo) return 0;
  PyObject* timestamp = PyObject_CallMethod(x, "timestamp", NULL);
  double seconds = timestamp == NULL ? -1 : PyFloat_AsDouble(timestamp);
  Py_XDECREF(timestamp);
  if (seconds == -1 && PyErr_Occurred()) return -1;
  int microsecond = PyDateTime_DATE_GET_MICROSECOND(x);
  // A float of so many seconds has its fraction, but for its last digits.
  double whole = seconds - microsecond * 1e-6;
  AnyffiValue parts[] = {anyffi_make_int((int64_t)(whole < 0 ? whole - 0.5 : whole + 0.5)),
                         anyffi_make_int((int64_t)microsecond * 1000)};
  return anyffi_sequence_create_from(ANYFFI_LIST, parts, 2, out) == 0 ? 1 : anyffi_py_raise_taken();
}

/// Returns the timedelta of so many microseconds; NULL with an exception.
static PyObject* anyffi_py_make_duration(int64_t microseconds) {
  const int64_t day = (int64_t)24 * 60 * 60 * 1000000;
  int64_t days = microseconds / day, rest = microseconds % day;
  if (rest < 0) rest += day, --days;
  return PyDelta_FromDSU((int)days, (int)(rest / 1000000), (int)(rest % 1000000));
}

/// Returns the local time at so many microseconds since 1970; NULL with an exception, or without one for a time that is
/// too far away for seconds in a float.
static PyObject* anyffi_py_make_date_time(int64_t microseconds) {
  const int64_t limit = ((int64_t)1 << 32) * 1000000;
  if (microseconds <= -limit || microseconds >= limit) return NULL;
  PyObject* seconds = Py_BuildValue("(d)", (double)microseconds / 1e6);
  PyObject* made = seconds == NULL ? NULL : PyDateTime_FromTimestamp(seconds);
  Py_XDECREF(seconds);
  return made;
}

#endif  // ANYFFI_TIMES_H_
