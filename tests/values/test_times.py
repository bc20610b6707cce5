"""Times and durations as parameters and results of C++: std::chrono."""

from __future__ import annotations

import collections
import datetime
import decimal
import fractions
import math
import time
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import get_testing_function

UTC = datetime.timezone.utc
EPOCH = datetime.datetime(1970, 1, 1, tzinfo=UTC)
TIMES = st.datetimes(datetime.datetime(1970, 1, 2), datetime.datetime(2200, 1, 1))


@pytest.fixture(params=["UTC", "America/New_York", "Asia/Kolkata"])
def zone(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("TZ", request.param)
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.usefixtures("zone")
def test_times(ffi: Any) -> None:
    same, count = get_testing_function(ffi, "as.time"), get_testing_function(ffi, "as.time_count")
    for naive in (
        datetime.datetime(2024, 2, 29, 12, 30, 15, 123456), datetime.datetime(1969, 7, 20), datetime.datetime(1970, 1, 1),
        # An hour that occurs twice, since clocks were turned back.
        datetime.datetime(2024, 11, 3, 1, 30), datetime.datetime(2024, 11, 3, 1, 30, fold=1),
    ):  # fmt: skip
        result = same(naive)
        assert (result, result.fold) == (naive, naive.fold if time.tzname[0] == "EST" else 0)
        assert result.tzinfo is None
        aware = naive.astimezone(datetime.timezone(datetime.timedelta(hours=5, minutes=45)))
        assert same(aware) == naive
        assert count(naive) == count(aware) == (aware - EPOCH) // datetime.timedelta(microseconds=1) * 1000


@given(naive=TIMES)
def test_times_are_exact(ffi: Any, naive: datetime.datetime) -> None:
    aware = naive.replace(tzinfo=UTC)
    assert (
        get_testing_function(ffi, "as.time_count")(aware)
        == (aware - EPOCH) // datetime.timedelta(microseconds=1) * 1000
    )


def test_times_of_numpy_and_pandas(ffi: Any) -> None:
    count = get_testing_function(ffi, "as.time_count")
    for text in ("2024-02-29T12:30:15.123456789", "1969-12-31T23:59:59.999999999"):
        assert count(np.datetime64(text, "ns")) == int(np.datetime64(text, "ns").astype("i8"))
    for unit in ("Y", "M", "W", "D", "h", "m", "s", "ms", "us"):
        x = np.datetime64("2020-01-02T03:04:05", unit)
        assert count(x) == int(x.astype("datetime64[ns]").astype("i8"))
    with pytest.raises(ValueError, match=r"datetime64\('NaT'.*\) is not a time$"):
        count(np.datetime64("NaT", "s"))
    with pytest.raises(ValueError, match="in units of 'ps'"):
        count(np.datetime64(1, "ps"))
    duration = get_testing_function(ffi, "stl.nanoseconds")
    assert duration(np.timedelta64(1500, "us")) == datetime.timedelta(microseconds=1500)
    with pytest.raises(ValueError, match="in units of 'M'"):
        duration(np.timedelta64(1, "M"))


def test_what_is_no_time(ffi: Any) -> None:
    same = get_testing_function(ffi, "as.time")
    for bad in (
        5,
        1.5,
        "2020-01-01",
        None,
        datetime.date(2020, 1, 1),
        datetime.time(1),
        datetime.timedelta(1),
    ):
        with pytest.raises(TypeError, match=r"argument 0 \(x\): expected datetime, got"):
            same(bad)
    for far in (datetime.datetime.min, datetime.datetime.max):
        with pytest.raises(OverflowError, match="does not fit the duration"):
            same(far.replace(tzinfo=UTC))
    seconds = get_testing_function(ffi, "as.time_seconds")
    assert seconds(datetime.datetime(2020, 1, 1)) == datetime.datetime(2020, 1, 1)
    with pytest.raises(ValueError, match="expected a whole number of the duration's ticks, got datetime"):
        seconds(datetime.datetime(2020, 1, 1, microsecond=1))
    assert seconds(datetime.datetime(9999, 12, 30, tzinfo=UTC)).year == 9999

    class Zone(datetime.tzinfo):
        def utcoffset(self, dt: Any) -> Any:
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        same(datetime.datetime(2020, 1, 1, tzinfo=Zone()))


def test_results_are_rounded_to_microseconds(ffi: Any) -> None:
    at = get_testing_function(ffi, "as.time_at")
    for count in (0, 499, 500, 1500, -499, -1501, 1700000000123456789):
        expected = EPOCH + datetime.timedelta(
            microseconds=math.floor(abs(count) / 1000 + 0.5) * (1 if count >= 0 else -1)
        )
        assert abs(at(count).astimezone(UTC) - expected) <= datetime.timedelta(
            microseconds=abs(count) > 10**15
        )


def test_durations(ffi: Any) -> None:
    delta = datetime.timedelta
    nanoseconds, milliseconds, minutes = (
        get_testing_function(ffi, "stl." + n) for n in ("nanoseconds", "milliseconds", "minutes")
    )
    for value in (delta(seconds=1.5), 1.5, fractions.Fraction(3, 2) * 1.0, np.float32(1.5)):
        assert nanoseconds(value) == milliseconds(value) == delta(seconds=1.5)
    assert nanoseconds(2) == milliseconds(np.int8(2)) == delta(seconds=2)
    assert nanoseconds(1e-9) == nanoseconds(-4e-7) == delta(0)
    assert nanoseconds(6e-7) == delta(microseconds=1)
    assert milliseconds(0.0015) == milliseconds(0.0025) == delta(milliseconds=2)
    assert minutes(delta(minutes=2)) == minutes(120) == minutes(100.0) == delta(minutes=2)
    for uneven in (90, True, delta(seconds=90)):
        with pytest.raises(ValueError, match="expected a whole number of the duration's ticks, got"):
            minutes(uneven)
    with pytest.raises(ValueError, match="a whole number"):
        milliseconds(delta(microseconds=1))
    for bad in (math.inf, -math.inf, 1e10, 2**63 / 1e9, 10**10, 2**62, -(2**63), 2**70, delta.max, delta.min):
        with pytest.raises(OverflowError, match="does not fit the duration"):
            nanoseconds(bad)
    with pytest.raises(ValueError, match="cannot be NaN"):
        nanoseconds(math.nan)
    seconds = get_testing_function(ffi, "stl.seconds_float")
    for endless in (math.inf, 1e300):
        with pytest.raises(OverflowError, match="292,000 years"):
            seconds(endless)
    with pytest.raises(ValueError, match="cannot be NaN"):
        seconds(math.nan)
    for bad in ("1", None, decimal.Decimal(1), collections.Counter(), datetime.datetime(2020, 1, 1)):
        with pytest.raises(TypeError, match=r"argument 0 \(x\): expected timedelta | float, got"):
            nanoseconds(bad)


def test_times_inside_of_containers(ffi: Any) -> None:
    delta, moment = datetime.timedelta, datetime.datetime(2024, 2, 29, 12, 30, 15, 123456)
    times = get_testing_function(ffi, "as.times")

    class Delta(datetime.timedelta):
        pass

    # Times without a zone, and others, which only the general rules convert.
    for each in ([], [moment], [moment] * 3, (moment, moment.astimezone(UTC))):
        expected = {delta(seconds=-1): [moment] * len(each), delta(days=2): []}
        assert list(times({delta(days=2): (), delta(seconds=-1): each}).items()) == list(expected.items())
    assert times({Delta(1): [], 1.5: [], 2: []}) == {
        delta(seconds=1.5): [],
        delta(seconds=2): [],
        delta(1): [],
    }
    with pytest.raises(ValueError, match="two keys are equal in C"):
        times({delta(seconds=1): [], 1: []})
    with pytest.raises(TypeError, match=r"\[0\].*: expected datetime, got timedelta"):
        times({delta(1): [delta(1)]})
    with pytest.raises(TypeError, match=r"expected timedelta \| float, got datetime"):
        times({moment: []})
    with pytest.raises(OverflowError, match="does not fit the duration"):
        times({delta.max: []})


@given(delta=st.timedeltas(datetime.timedelta(-36525), datetime.timedelta(36525)))
def test_durations_round_trip(ffi: Any, delta: datetime.timedelta) -> None:
    assert get_testing_function(ffi, "stl.nanoseconds")(delta) == delta
    # Within a year, a double holds microseconds exactly.
    short = delta / 100
    assert get_testing_function(ffi, "stl.seconds_float")(short) == short
