"""`python -m anyffi trace`: the HTML page, read by a parser and by a browser, and Chrome's format."""

from __future__ import annotations

import html.parser
import json
import os
import pathlib
import re
import shutil
import sys
import urllib.parse
from typing import Any

import pytest
from programs import run_program
from support import run

BROWSER = shutil.which("chromium") or shutil.which("google-chrome")

HOSTILE = "</script><script>document.title = 'hacked'</script><img src=x onerror=\"document.title='hacked'\">"

PROGRAM = f"""
    import threading, anyffi, anyffi.testing as t

    def again(n):
        return n and t.apply(again, n - 1)

    again(4)
    worker = threading.Thread(target=again, args=(2,), name={HOSTILE!r})
    worker.start()
    worker.join()
    t.echo({HOSTILE!r})
    try:
        t.raise_error("ValueError", "<b>no &amp; \\u2028 such</b>")
    except ValueError:
        pass
    t.apply(lambda: __import__("os")._exit(3))
"""
CALLS = 8 + 4 + 1 + 1 + 2
#: The name of the last call on the page.
EXITS = "← __main__.&lt;lambda&gt;"


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """The trace of a program, with its page and the other file beside it."""
    path = tmp_path_factory.mktemp("pages") / "trace"
    with pytest.raises(AssertionError, match="exit 3"):
        run_program(PROGRAM, "auto", FFI_TRACE=os.fspath(path))
    with path.open("ab") as file:
        file.write(b'{"event": "return", "pid"')
    show(path)
    return path


def show(path: pathlib.Path, *options: object) -> str:
    done = run([sys.executable, "-m", "anyffi", "trace", path, *options])
    assert done.returncode == 0, done.stderr
    return done.stdout


class Page(html.parser.HTMLParser):
    """The elements of a page, and the text of each script."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, Any]]] = []
        self.scripts: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag == "script":
            self.scripts.append("")

    def handle_data(self, data: str) -> None:
        if self.tags and self.tags[-1][0] == "script":
            self.scripts[-1] += data


def test_the_page_has_all_calls_and_loads_nothing(written: pathlib.Path) -> None:
    text = written.with_name("trace.html").read_text()
    page = Page(text)
    names = [tag for tag, _ in page.tags]
    assert names.count("script") == 2
    assert not {"img", "link", "iframe"} & set(names)
    assert not any({"src", "href"} & set(attributes) for _, attributes in page.tags)
    policy = next(a["content"] for _, a in page.tags if a.get("http-equiv") == "Content-Security-Policy")
    assert policy.startswith("default-src 'none';")
    data = json.loads(page.scripts[0])
    columns = ("lane", "parent", "start", "duration", "name", "to", "signature", "args", "result", "error")
    assert {len(data[column]) for column in columns} == {CALLS}
    assert sorted(re.sub(r"^\d+ | \(\w+\)$", "", lane) for lane in data["lanes"]) == sorted(
        ["MainThread", HOSTILE]
    )
    assert data["duration"].count(-1) == 2
    assert sum(data["error"]) == 1
    assert data["notes"][-2] == "2 calls did not return"
    assert data["notes"][-1] == "1 lines of the file say nothing"
    for place, parent in enumerate(data["parent"]):
        assert parent < place
        assert parent < 0 or data["start"][parent] <= data["start"][place]


def test_chromes_format(written: pathlib.Path) -> None:
    events = json.loads(written.with_name("trace.chrome.json").read_text())["traceEvents"]
    by_phase = {phase: [event for event in events if event["ph"] == phase] for phase in "MXB"}
    assert [len(found) for found in by_phase.values()] == [3, CALLS - 2, 2]
    assert {event["name"] for event in by_phase["M"]} == {"process_name", "thread_name"}
    for event in by_phase["X"]:
        assert event["ts"] >= 0
        assert event["dur"] > 0
    assert {event["cat"] for event in events if "cat" in event} == {"C++", "Python"}
    [raised] = [event for event in events if event["name"] == "testing.raise_error"]
    assert raised["args"]["result"].startswith("ValueError: <b>no &amp;")


def test_the_command(written: pathlib.Path, tmp_path: pathlib.Path) -> None:
    page = tmp_path / "page.html"
    assert show(written, "--html", page) == f"{page}\n"
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]
    assert page.stat().st_mode & 0o77 == 0
    for path, message in (
        (tmp_path / "none", "No such file"),
        (page, "this is no trace: no line of it describes a process"),
    ):
        done = run([sys.executable, "-m", "anyffi", "trace", path])
        assert done.returncode == 1
        assert done.stderr.startswith("python -m anyffi trace: ")
        assert os.fspath(path) in done.stderr
        assert message in done.stderr
    newer = tmp_path / "newer"
    newer.write_text('{"event": "process", "pid": 1, "format": 99}\n')
    done = run([sys.executable, "-m", "anyffi", "trace", newer])
    assert f"{newer}: line 1: a trace of format 99, and this version of anyffi reads format 1" in done.stderr


def test_lines_that_are_no_events(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "trace"
    process = {
        "event": "process",
        "pid": 1,
        "format": 1,
        "date": 1.5,
        "time": 0,
        "mode": "x",
        "command": ["a"],
    }
    lines = [
        b"", b"\xff\x00", b"[]", b"1", b"null", b'{"event": "call"}', b'{"event": "return", "pid": 7, "id": 1}',
        b"[" * 100_000, json.dumps(process).encode(), b'{"event": "return", "pid": 1, "id": 9}',
        b'{"event": "call", "pid": 1, "id": "x", "time": "y"}', b'{"event": "thread", "pid": 1, "thread": []}',
        b'{"event": "call", "pid": 1, "id": 1, "time": 5, "arguments": 3}',
        b'{"event": "call", "pid": 1, "id": 2, "time": 5, "parent": 77, "arguments": [{}], "name": "f"}',
        b'{"event": "return", "pid": 1, "id": 2, "duration": null}', b'{"event": "end", "pid": 1}',
        b'{"event": "return", "pid": 1, "id": 2, "duration": 1%s}' % (b"0" * 400),
        b'{"event": "end", "pid": 1, "lost": 1e999}', b'{"event": "thread", "pid": 1, "thread": Infinity, "name": ""}',
        *(
            b'{"event": "call", "pid": 1, "id": 3, "time": 5, "name": "g", %s}' % wrong
            for wrong in (
                b'"time": Infinity', b'"time": NaN', b'"time": 1e999', b'"parent": [1]', b'"arguments": [1]',
                b'"arguments": "x"', b'"thread": {}', b'"depth": -1e30',
            )
        ),
    ]  # fmt: skip
    path.write_bytes(b"\n".join(lines))
    show(path)
    data = json.loads(Page((tmp_path / "trace.html").read_text()).scripts[0])
    assert len(data["name"]) == 1
    json.loads((tmp_path / "trace.chrome.json").read_text(), parse_constant=pytest.fail)


# ---- in a browser -----------------------------------------------------------------------------------------


def browse(page: pathlib.Path, **state: str) -> str:
    """Return the page's elements, after its script has run."""
    if BROWSER is None:
        pytest.skip("there is no Chromium (Debian: apt-get install chromium)")
    profile = page.with_name("profile")
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--dump-dom"]
    options += ["--virtual-time-budget=5000", "--window-size=1000,800", f"--user-data-dir={profile}"]
    done = run([BROWSER, *options, f"{page.as_uri()}#{urllib.parse.urlencode(state)}"], LD_PRELOAD=None)
    assert done.returncode == 0, done.stderr
    assert "hacked</title>" not in done.stdout
    return re.sub(r'<script type="application/json".*', "", done.stdout, flags=re.DOTALL)


def cells(dom: str) -> list[list[str]]:
    rows = re.findall("<tr>(.*?)</tr>", dom)
    return [re.findall("<td[^>]*>(.*?)</td>", row) for row in rows][1:]


def test_views_in_a_browser(written: pathlib.Path) -> None:
    page = written.with_name("trace.html")
    tree = browse(page)
    assert f"{CALLS} of {CALLS} calls" in tree
    assert tree.count('class="row"') == CALLS
    assert "&lt;/script&gt;&lt;script&gt;" in tree
    assert tree.count("= did not return") == 2
    totals = {row[0]: row[1:] for row in cells(browse(page, view="totals"))}
    assert totals["→ testing.apply"][:3] == ["7", "0", "1"]
    assert totals["← __main__.again"][:3] == ["6", "0", "0"]
    assert totals["→ testing.raise_error"][:3] == ["1", "1", "0"]
    # For a call that did not return, only a lower bound of its duration is known.
    assert {name for name, row in totals.items() if row[3].startswith("≥ ")} == {"→ testing.apply", EXITS}
    slowest = cells(browse(page, view="slowest"))
    assert len(slowest) == CALLS
    assert [(row[0], row[2]) for row in slowest[:2]] == [
        ("did not return", "→ testing.apply"),
        ("did not return", EXITS),
    ]
    assert "did not return" not in slowest[2]
    flame = browse(page, view="flame")
    # All calls are drawn, except those less than a pixel apart.
    assert int(re.findall(r'data-drawn="(\d+)"', flame)[0]) > CALLS // 2


def test_the_filter_in_a_browser(written: pathlib.Path) -> None:
    page = written.with_name("trace.html")
    errors = browse(page, view="slowest", errors="1")
    assert [row[2] for row in cells(errors)] == ["→ testing.apply", EXITS, "→ testing.raise_error"]
    assert f"3 of {CALLS} calls" in errors
    found = browse(page, filter="HACKED")
    assert f"1 of {CALLS} calls" in found
    assert found.count('class="row"') == 1
    # Names and arguments are searched one by one, so that nothing is found.
    inner = browse(page, filter="again(int 0)")
    assert re.search(rf"\b0 of {CALLS} calls", inner)


@pytest.mark.slow("100,000 calls")
def test_a_hundred_thousand_calls(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "trace"
    with path.open("w") as file:
        process = {"event": "process", "pid": 1, "format": 1, "date": 0, "time": 0, "command": []}
        file.write(json.dumps(process) + "\n")
        for i in range(100_000):
            depth = i % 10
            call = {"event": "call", "pid": 1, "id": i, "parent": i - 1 if depth else None, "thread": 1 + i // 50_000,
                    "depth": depth, "to": "C++", "name": f"f{i % 97}", "signature": "f()", "time": i * 100,
                    "arguments": [{"type": "Int", "value": str(i)}]}  # fmt: skip
            end = {"event": "return", "pid": 1, "id": i, "time": 0, "duration": 2000 - depth * 150, "type": "Int",
                   "value": str(i)}  # fmt: skip
            file.write(f"{json.dumps(call)}\n{json.dumps(end)}\n")
    show(path)
    page = tmp_path / "trace.html"
    assert page.stat().st_size < 20_000_000
    tree = browse(page)
    assert "100000 of 100000 calls" in tree
    assert re.search(r"height: 2(e\+06|000000)px", tree)
    assert tree.count('class="row"') < 100
    assert len(cells(browse(page, view="totals"))) == 97
    assert int(re.findall(r'data-drawn="(\d+)"', browse(page, view="flame"))[0]) > 1000
