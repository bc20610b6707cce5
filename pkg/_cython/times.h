/// Durations, and times without a time zone, of exactly the classes of `datetime`; the rules (`_rules/times.py`)
/// convert all others. Once the module is imported, neither Python code nor the garbage collector runs here.

#ifndef ANYFFI_TIMES_H_
#define ANYFFI_TIMES_H_

#include <datetime.h>
#include <string.h>
#include <time.h>

#include "errors.h"

/// The C API of `datetime`, imported by the first conversion; NULL if the rules have to convert: if it is missing, and
/// in check mode.
static PyDateTime_CAPI* anyffi_py_datetime_api(void) {
  if (PyDateTimeAPI == NULL && !anyffi_state.is_check_mode) {
    PyDateTime_IMPORT;
    if (PyDateTimeAPI == NULL) PyErr_Clear();
  }
  return PyDateTimeAPI;
}

/// 1 for exactly these classes, once their module was imported.
static inline int anyffi_py_is_time_class(PyTypeObject* cls) {
  return PyDateTimeAPI != NULL && (cls == PyDateTimeAPI->DeltaType || cls == PyDateTimeAPI->DateTimeType);
}

/// Seconds and nanoseconds of a timedelta.
static int anyffi_py_split_duration(PyObject* x, AnyffiValue* parts) {
  int64_t seconds = (int64_t)PyDateTime_DELTA_GET_DAYS(x) * (24 * 60 * 60) + PyDateTime_DELTA_GET_SECONDS(x);
  parts[0] = anyffi_make_int(seconds);
  parts[1] = anyffi_make_int((int64_t)PyDateTime_DELTA_GET_MICROSECONDS(x) * 1000);
  return 1;
}

/// Seconds since 1970 in UTC and nanoseconds of a datetime without a time zone, which is local time.
static int anyffi_py_split_local_time(PyObject* x, AnyffiValue* parts) {
  if (((PyDateTime_DateTime*)x)->hastzinfo) return 0;
  PyObject* timestamp = PyObject_CallMethodNoArgs(x, anyffi_state.timestamp_name);
  double seconds = timestamp == NULL ? -1 : PyFloat_AsDouble(timestamp);
  Py_XDECREF(timestamp);
  if (seconds == -1 && PyErr_Occurred()) return -1;
  int microsecond = PyDateTime_DATE_GET_MICROSECOND(x);
  // Rounds: at this size a float has the fraction except for its last digits.
  double whole = seconds - microsecond * 1e-6;
  parts[0] = anyffi_make_int((int64_t)(whole < 0 ? whole - 0.5 : whole + 0.5));
  parts[1] = anyffi_make_int((int64_t)microsecond * 1000);
  return 1;
}

/// Splits a time or duration into two ints: 1, 0 if the rules have to convert it, -1 with an exception.
static int anyffi_py_split_time(PyObject* x, int32_t conversion, AnyffiValue* parts) {
  int is_duration = conversion == ANYFFI_AS_DURATION;
  // Compares names first, so that other classes do not import the module.
  if (strcmp(Py_TYPE(x)->tp_name, is_duration ? "datetime.timedelta" : "datetime.datetime") != 0) return 0;
  if (anyffi_py_datetime_api() == NULL) return 0;
  if (is_duration) return PyDelta_CheckExact(x) ? anyffi_py_split_duration(x, parts) : 0;
  return PyDateTime_CheckExact(x) ? anyffi_py_split_local_time(x, parts) : 0;
}

/// The same, as a List.
static int anyffi_py_read_time(PyObject* x, int32_t conversion, AnyffiValue* out) {
  AnyffiValue parts[2];
  int status = anyffi_py_split_time(x, conversion, parts);
  if (status <= 0) return status;
  return anyffi_sequence_create_from(ANYFFI_LIST, parts, 2, out) == 0 ? 1 : anyffi_py_raise_taken();
}

/// Returns a timedelta of this many microseconds; NULL with an exception.
static PyObject* anyffi_py_make_duration(int64_t microseconds) {
  const int64_t day = (int64_t)24 * 60 * 60 * 1000000;
  int64_t days = microseconds / day, rest = microseconds % day;
  if (rest < 0) rest += day, --days;
  return PyDelta_FromDSU((int)days, (int)(rest / 1000000), (int)(rest % 1000000));
}

/// The offset of local time from UTC at a moment, in seconds.
static inline int64_t anyffi_py_offset_at(time_t moment) {
  struct tm local;
  return localtime_r(&moment, &local) == NULL ? 0 : (int64_t)local.tm_gmtoff;
}

/// 1 for the second of two moments with the same local time, which like in `datetime.fromtimestamp` is searched within
/// the day before.
static inline int anyffi_py_is_fold(time_t moment, int64_t offset) {
  int64_t change = offset - anyffi_py_offset_at(moment - 24 * 60 * 60);
  return change < 0 && anyffi_py_offset_at((time_t)(moment + change)) == offset - change;
}

/// Returns the local time this many microseconds after 1970; NULL with an exception, or without one for a time so
/// distant that seconds in a float are not exact enough.
static PyObject* anyffi_py_make_date_time(int64_t microseconds) {
  const int64_t limit = ((int64_t)1 << 32) * 1000000;
  if (microseconds <= -limit || microseconds >= limit) return NULL;
  int64_t rest = microseconds % 1000000;
  if (rest < 0) rest += 1000000;
  time_t moment = (time_t)((microseconds - rest) / 1000000);
  struct tm local;
  if (localtime_r(&moment, &local) == NULL) return PyErr_SetFromErrno(PyExc_OSError);
  int second = local.tm_sec < 59 ? local.tm_sec : 59;
  return PyDateTime_FromDateAndTimeAndFold(local.tm_year + 1900, local.tm_mon + 1, local.tm_mday, local.tm_hour,
                                           local.tm_min, second, (int)rest,
                                           anyffi_py_is_fold(moment, (int64_t)local.tm_gmtoff));
}

/// Makes a time or duration; returns as `anyffi_py_make_date_time`.
static inline PyObject* anyffi_py_make_time(int32_t conversion, int64_t microseconds) {
  return conversion == ANYFFI_AS_DURATION ? anyffi_py_make_duration(microseconds)
                                          : anyffi_py_make_date_time(microseconds);
}

#endif  // ANYFFI_TIMES_H_
