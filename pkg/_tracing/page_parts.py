"""The parts of the page of a trace that do not depend on it."""

from __future__ import annotations

__all__ = ["PAGE", "SCRIPT", "STYLE"]

#: The policy forbids loading anything, from anywhere.
PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" \
content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'">
<meta name="referrer" content="no-referrer">
<title>anyffi trace</title>
<style>STYLE</style>
</head>
<body>
<header>
<nav id="views"></nav>
<input id="filter" type="search" placeholder="name, argument, result" aria-label="Filter">
<label title="and calls that did not return"><input id="errors" type="checkbox"> errors only</label>
<span id="count"></span>
</header>
<main id="main"></main>
<footer id="details"></footer>
<script type="application/json" id="data">DATA</script>
<script>SCRIPT</script>
</body>
</html>
"""

STYLE = """
:root { color-scheme: light dark; --line: #8884; --error: #c33; --python: #37a; --cpp: #974; }
* { box-sizing: border-box; }
html, body { margin: 0; height: 100%; font: 13px/20px ui-monospace, monospace; }
body { display: flex; flex-direction: column; }
header { display: flex; gap: 12px; padding: 6px 10px; align-items: center;
  border-bottom: 1px solid var(--line); }
header button { font: inherit; } header button[aria-pressed=true] { font-weight: bold; }
#filter { flex: 1; max-width: 420px; font: inherit; }
main { flex: 1; overflow: auto; position: relative; }
footer { max-height: 35%; overflow: auto; padding: 6px 10px; border-top: 1px solid var(--line);
  white-space: pre-wrap; overflow-wrap: anywhere; }
.row { position: absolute; left: 0; right: 0; height: 20px; white-space: pre; overflow: hidden;
  text-overflow: ellipsis; cursor: default; padding-left: 6px; }
.row:hover, tr:hover td { background: #8882; } .selected { background: #48f3 !important; }
.toggle { display: inline-block; width: 1.2em; cursor: pointer; }
.time { display: inline-block; width: 9em; text-align: right; opacity: .7; }
.error { color: var(--error); } .python { color: var(--python); } .cpp { color: var(--cpp); }
table { border-collapse: collapse; } th, td { padding: 0 10px; text-align: right; white-space: nowrap; }
th { cursor: pointer; position: sticky; top: 0; background: Canvas; } th.text, td.text { text-align: left; }
canvas { display: block; }
"""

SCRIPT = r"""
"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const size = data.name.length;
const main = document.getElementById("main"), details = document.getElementById("details");
const text = (column, i) => data.strings[data[column][i]];
const VIEWS = ["tree", "totals", "slowest", "flame"];
const state = { view: "tree", filter: "", errors: false, selected: -1, sort: "total", closed: new Set() };

// ---- the calls: children, depths, own time ----
const children = new Map(), depth = new Int32Array(size), own = new Float64Array(size);
const endOf = (i) => data.start[i] + Math.max(data.duration[i], 0);
const lastTime = data.start.reduce((last, start, i) => Math.max(last, endOf(i)), 1);
// A call that did not return lasted at least until the last event.
const isOpen = (i) => data.duration[i] < 0;
const lengthOf = (i) => isOpen(i) ? lastTime - data.start[i] : data.duration[i];
const isFailed = (i) => data.error[i] || isOpen(i);
for (let i = 0; i < size; ++i) own[i] = lengthOf(i);
for (let i = 0; i < size; ++i) {
  const parent = data.parent[i];
  if (!children.has(parent)) children.set(parent, []);
  children.get(parent).push(i);
  if (parent < 0) continue;
  depth[i] = depth[parent] + 1;
  own[parent] -= lengthOf(i);
}

function shownTime(ns) {
  if (ns < 1e3) return `${ns} ns`;
  if (ns < 1e6) return `${(ns / 1e3).toFixed(1)} µs`;
  return ns < 1e9 ? `${(ns / 1e6).toFixed(2)} ms` : `${(ns / 1e9).toFixed(3)} s`;
}
const shownLength = (i) => isOpen(i) ? "did not return" : shownTime(lengthOf(i));
function element(tag, className, content) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (content !== undefined) made.textContent = content;
  return made;
}

// ---- the filter ----
let matches = null;  // null: all
function applyFilter() {
  const wanted = state.filter.toLowerCase();
  matches = null;
  if (!wanted && !state.errors) return;
  // Texts are few: each is searched once.
  const found = data.strings.map((each) => each.toLowerCase().includes(wanted));
  matches = new Uint8Array(size);
  for (let i = 0; i < size; ++i) {
    const has = found[data.name[i]] || found[data.args[i]] || found[data.result[i]];
    if (has && (!state.errors || isFailed(i))) matches[i] = 1;
  }
}
const isMatch = (i) => matches === null || matches[i] === 1;
function countMatches() {
  let count = 0;
  for (let i = 0; i < size; ++i) count += isMatch(i);
  return count;
}

// ---- the tree: only the rows in sight are elements ----
const HEIGHT = 20;
let rows = [];
function listRows() {
  const keep = new Uint8Array(size);
  for (let i = size - 1; i >= 0; --i) {
    if (!isMatch(i) && !keep[i]) continue;
    keep[i] = 1;
    if (data.parent[i] >= 0) keep[data.parent[i]] = 1;
  }
  rows = [];
  // With a stack of its own: calls may be nested deeply.
  const left = [...(children.get(-1) || [])].reverse();
  while (left.length) {
    const i = left.pop();
    if (!keep[i]) continue;
    rows.push(i);
    if (state.closed.has(i)) continue;
    const inner = children.get(i) || [];
    for (let k = inner.length - 1; k >= 0; --k) left.push(inner[k]);
  }
}
function treeRow(i, top) {
  const row = element("div", "row" + (i === state.selected ? " selected" : ""));
  row.style.top = `${top}px`;
  row.append(element("span", "time", isOpen(i) ? "" : shownTime(lengthOf(i))));
  row.append(element("span", "", "  ".repeat(depth[i] + 1)));
  const toggle = element("span", "toggle", children.has(i) ? (state.closed.has(i) ? "▸" : "▾") : "");
  toggle.onclick = (event) => {
    event.stopPropagation();
    if (!state.closed.delete(i)) state.closed.add(i);
    listRows();
    drawTree();
  };
  row.append(toggle);
  row.append(element("span", data.to[i] ? "python" : "cpp", `${data.to[i] ? "← " : "→ "}${text("name", i)}`));
  row.append(`(${text("args", i)}) `);
  row.append(element("span", isFailed(i) ? "error" : "", `= ${text("result", i)}`));
  row.onclick = () => select(i);
  return row;
}
function drawTree() {
  const first = Math.max(0, Math.floor(main.scrollTop / HEIGHT) - 5);
  const last = Math.min(rows.length, first + Math.ceil(main.clientHeight / HEIGHT) + 10);
  const space = element("div");
  space.style.height = `${rows.length * HEIGHT}px`;
  const shown = [];
  for (let k = first; k < last; ++k) shown.push(treeRow(rows[k], k * HEIGHT));
  const top = main.scrollTop;
  main.replaceChildren(space, ...shown);
  main.scrollTop = top;
}

// ---- tables ----
function table(headings, lines, onRow, onHeading) {
  const made = element("table"), head = element("tr");
  headings.forEach(([title, isText]) => {
    const cell = element("th", isText ? "text" : "", title);
    if (onHeading) cell.onclick = () => onHeading(title);
    head.append(cell);
  });
  made.append(head);
  for (const line of lines) {
    const row = element("tr");
    line.cells.forEach((content, k) => row.append(element("td", headings[k][1] ? "text" : "", content)));
    row.onclick = () => onRow(line);
    made.append(row);
  }
  main.replaceChildren(made);
}
function drawTotals() {
  const totals = new Map();
  for (let i = 0; i < size; ++i) {
    if (!isMatch(i)) continue;
    const key = 2 * data.name[i] + data.to[i];
    let row = totals.get(key);
    if (!row) totals.set(key, row = { name: data.strings[data.name[i]], to: data.to[i], calls: 0, errors: 0,
                                      open: 0, total: 0, own: 0, longest: 0 });
    row.calls += 1;
    row.errors += data.error[i];
    row.open += isOpen(i);
    row.total += lengthOf(i);
    row.own += own[i];
    row.longest = Math.max(row.longest, lengthOf(i));
  }
  const by = state.sort === "did not return" ? "open" : state.sort;
  const found = [...totals.values()];
  found.sort((a, b) => by === "name" ? (a.name < b.name ? -1 : 1) : b[by] - a[by]);
  const lines = found.map((row) => {
    const times = [row.total, row.own, Math.round(row.total / row.calls), row.longest];
    const shown = times.map((time) => (row.open ? "≥ " : "") + shownTime(time));
    return { row, cells: [(row.to ? "← " : "→ ") + row.name, row.calls, row.errors, row.open, ...shown] };
  });
  const headings = [["name", true], ["calls"], ["errors"], ["did not return"], ["total"], ["own"], ["mean"],
                    ["longest"]];
  table(headings, lines, (line) => show({ view: "tree", filter: line.row.name }), (title) => {
    if (title !== "mean") show({ sort: title });
  });
}
function drawSlowest() {
  const found = [];
  for (let i = 0; i < size; ++i) if (isMatch(i)) found.push(i);
  found.sort((a, b) => isOpen(b) - isOpen(a) || lengthOf(b) - lengthOf(a));
  const lines = found.slice(0, 200).map((i) => ({ i, cells: [
    shownLength(i), isOpen(i) ? "" : shownTime(own[i]), (data.to[i] ? "← " : "→ ") + text("name", i),
    text("args", i), text("result", i)] }));
  const headings = [["duration"], ["own"], ["name", true], ["arguments", true], ["result", true]];
  table(headings, lines, (line) => select(line.i));
}

// ---- the flame chart ----
let range = [0, lastTime];
function drawFlame() {
  const deepest = new Int32Array(data.lanes.length);
  for (let i = 0; i < size; ++i) deepest[data.lane[i]] = Math.max(deepest[data.lane[i]], depth[i] + 1);
  const tops = [];
  let height = 0;
  deepest.forEach((levels, k) => { tops[k] = height; height += (levels + 1) * HEIGHT + 8; });
  const canvas = element("canvas"), width = main.clientWidth || 1000;
  canvas.width = width;
  canvas.height = Math.min(Math.max(height, main.clientHeight), 30000);
  canvas.id = "flame";
  main.replaceChildren(canvas);
  const pen = canvas.getContext("2d");
  const color = getComputedStyle(document.body).color;
  const scale = () => width / (range[1] - range[0]);
  function draw() {
    pen.clearRect(0, 0, width, canvas.height);
    pen.font = "12px monospace";
    pen.fillStyle = color;
    data.lanes.forEach((name, k) => pen.fillText(name, 4, tops[k] + 14));
    // Of calls too short to see, one for each pixel of a level.
    const done = new Map();
    let drawn = 0;
    for (let i = 0; i < size; ++i) {
      const left = (data.start[i] - range[0]) * scale(), long = lengthOf(i) * scale();
      if (left > width || left + long < 0) continue;
      const top = tops[data.lane[i]] + (depth[i] + 1) * HEIGHT;
      const pixel = Math.floor(left);
      if (long < 1) {
        if (done.get(top) === pixel) continue;
        done.set(top, pixel);
      }
      const hue = isFailed(i) ? 0 : data.to[i] ? 210 : 30 + data.name[i] * 47 % 90;
      pen.fillStyle = i === state.selected ? "#48f" : `hsl(${hue} 55% 60% / ${isMatch(i) ? 1 : .25})`;
      pen.fillRect(left, top, Math.max(long - .5, 1), HEIGHT - 1);
      ++drawn;
      if (long < 30) continue;
      pen.save();
      pen.beginPath();
      pen.rect(left, top, long, HEIGHT);
      pen.clip();
      pen.fillStyle = "#000";
      pen.fillText(text("name", i), Math.max(left, 0) + 3, top + 14);
      pen.restore();
    }
    canvas.dataset.drawn = drawn;
  }
  canvas.onwheel = (event) => {
    event.preventDefault();
    const at = range[0] + event.offsetX / scale(), factor = event.deltaY > 0 ? 1.25 : .8;
    range = [at - (at - range[0]) * factor, at + (range[1] - at) * factor];
    draw();
  };
  let pressed = null;
  canvas.onpointerdown = (event) => { pressed = { x: event.offsetX, range, moved: false }; };
  canvas.onpointermove = (event) => {
    if (!pressed) return;
    const by = (event.offsetX - pressed.x) / scale();
    pressed.moved = pressed.moved || Math.abs(event.offsetX - pressed.x) > 3;
    range = [pressed.range[0] - by, pressed.range[1] - by];
    draw();
  };
  canvas.onpointerup = (event) => {
    const was = pressed;
    pressed = null;
    if (!was || was.moved) return;
    const at = range[0] + event.offsetX / scale();
    for (let i = size - 1; i >= 0; --i) {
      const top = tops[data.lane[i]] + (depth[i] + 1) * HEIGHT;
      if (event.offsetY < top || event.offsetY >= top + HEIGHT) continue;
      if (at >= data.start[i] && at <= data.start[i] + lengthOf(i)) return select(i);
    }
  };
  canvas.onpointerleave = () => { pressed = null; };
  canvas.ondblclick = () => { range = [0, lastTime]; draw(); };
  draw();
}

// ---- all of it ----
function select(i) {
  state.selected = i;
  const took = isOpen(i) ? "did not return"
    : `took ${shownTime(lengthOf(i))}, without inner calls ${shownTime(own[i])}`;
  details.textContent = [
    text("signature", i) || text("name", i), `arguments: ${text("args", i)}`, `result: ${text("result", i)}`,
    `began at ${shownTime(data.start[i])}, ${took}; thread ${data.lanes[data.lane[i]]}`].join("\n");
  draw();
}
function draw() {
  ({ tree: drawTree, totals: drawTotals, slowest: drawSlowest, flame: drawFlame })[state.view]();
}
function show(changes) {
  const isOther = changes.view !== undefined && changes.view !== state.view;
  Object.assign(state, changes);
  applyFilter();
  listRows();
  document.getElementById("filter").value = state.filter;
  document.getElementById("errors").checked = state.errors;
  document.getElementById("count").textContent = `${countMatches()} of ${size} calls`;
  for (const button of document.getElementById("views").children) {
    button.setAttribute("aria-pressed", button.textContent === state.view);
  }
  if (isOther) main.scrollTop = 0;
  const parameters = new URLSearchParams({ view: state.view });
  if (state.filter) parameters.set("filter", state.filter);
  if (state.errors) parameters.set("errors", "1");
  try { history.replaceState(null, "", "#" + parameters); } catch { /* of a file, some browsers forbid it */ }
  draw();
}
for (const view of VIEWS) {
  const button = element("button", "", view);
  button.onclick = () => show({ view });
  document.getElementById("views").append(button);
}
document.getElementById("filter").oninput = (event) => show({ filter: event.target.value });
document.getElementById("errors").onchange = (event) => show({ errors: event.target.checked });
main.onscroll = () => { if (state.view === "tree") drawTree(); };
window.onresize = draw;
details.textContent = data.notes.join("\n");
const given = new URLSearchParams(location.hash.slice(1));
const asked = given.get("view");
show({ view: VIEWS.includes(asked) ? asked : "tree", filter: given.get("filter") || "",
       errors: given.has("errors") });
"""
