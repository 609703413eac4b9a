// The tick player: one ES module for JupyterLab, VS Code and the one-file HTML export. It knows no scheduling rule:
// Python sends one `replay` (see replay.py), everything here only looks things up in it. From top to bottom:
// small helpers, the panes (graph, rows, meters, log, legend, one task), a lane that feeds them, the clock, render.

const ROW = 20; // height of a row of the Gantt chart, px
const LINE = 18; // height of a line of the log, px
const LEGIBLE = 9; // smallest label shown at the default zoom, px
const SPEEDS = [1000, 500, 250, 100, 50]; // ms per tick
const KEYS = [
  ["Space", "play or pause"], ["← →", "one tick back, one tick on"], ["Home End", "first tick, last tick"],
  ["↑ ↓", "another task"], ["?", "show or hide this help"], ["Esc", "leave the player"],
];
const HELP = "A tick is one pass of the scheduler. Step through the ticks and watch each task change its state; choose a "
  + "task (click it) to read why it is where it is. Bars show each task's states over time: high = running, half high = "
  + "waiting, a mark with a thin tail = finished.";
const ICONS = {
  play: "M4 2 14 8 4 14z", pause: "M3 2h4v12H3zM9 2h4v12H9z", first: "M2 2h2v12H2zM14 2 5 8l9 6z",
  back: "M12 2 3 8l9 6z", on: "M4 2l9 6-9 6z", last: "M12 2h2v12h-2zM2 2l9 6-9 6z",
};
// Until the reader chooses a task, one worth explaining is shown: what just went wrong, else what waits.
const WAITING = ["scheduled", "up_for_retry", "awaiting_input", "deferred", "up_for_reschedule"];
let instances = 0;

// ---------------------------------------------------------------------------------------------- helpers

/** An element; children are nodes or plain text, never markup. `on...` properties are listeners. */
function h(tag, props = {}, ...children) {
  const [name, ...classes] = tag.split(".");
  const el = document.createElement(name || "div");
  if (classes.length) el.className = classes.join(" ");
  for (const [key, value] of Object.entries(props)) {
    if (key.startsWith("on")) el.addEventListener(key.slice(2), value);
    else if (value !== undefined && value !== false) el.setAttribute(key, value === true ? "" : value);
  }
  el.append(...children);
  return el;
}

function icon(name) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const path = svg.appendChild(document.createElementNS(svg.namespaceURI, "path"));
  svg.setAttribute("viewBox", "0 0 16 16");
  svg.setAttribute("aria-hidden", "true");
  path.setAttribute("d", ICONS[name]);
  return svg;
}

/** Steps are [[tick, value], ...] in tick order; how many of them have happened by `tick`. */
function countUntil(steps, tick) {
  let low = 0;
  let high = steps.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (steps[middle][0] <= tick) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The value that holds at `tick`: the last one that has happened. */
function at(steps, tick, before) {
  const count = countUntil(steps, tick);
  return count ? steps[count - 1][1] : before;
}

const clamp = (value, low, high) => Math.min(high, Math.max(low, value));
const plural = (n, word) => `${n} ${word}${n === 1 ? "" : "s"}`;
const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

/** Glyph and name of a state, in its colours and border. */
function chip(state, text = state.name) {
  return h(`span.dk-chip.dk-${state.name}`, {}, h("span.dk-mark", { "aria-hidden": "true" }, state.glyph), text);
}

/** The drawing is ours, its labels are not: whatever could run or load something is dropped before it is shown. */
function safeSvg(text) {
  const box = new DOMParser().parseFromString(text, "text/html").body;
  box.querySelectorAll("script, foreignObject, iframe, image, use, a").forEach((el) => el.remove());
  for (const el of box.querySelectorAll("*")) {
    for (const { name } of [...el.attributes]) if (/^on|href$/i.test(name)) el.removeAttribute(name);
  }
  return box.querySelector("svg") || h("p", {}, "no drawing");
}

/**
 * A scrolling list that only holds the rows in sight, so 100,000 rows cost as much as 30. It remembers where it is
 * scrolled to, and really scrolls in `land`, after all else has changed: each question about the page or move in it
 * makes the browser lay it out.
 */
function longList(el, height, make) {
  const space = el.appendChild(h("div.dk-space", { role: "presentation" }));
  const rows = new Map();
  let count = 0;
  let top = 0;
  let view = 0;
  let moved = false;
  const draw = () => {
    const from = Math.max(0, Math.floor(top / height) - 3);
    const to = Math.min(count, Math.ceil((top + view) / height) + 3);
    for (const [i, row] of rows) {
      if (i >= from && i < to) continue;
      row.remove();
      rows.delete(i);
    }
    for (let i = from; i < to; i += 1) {
      if (rows.has(i)) continue;
      const row = make(i);
      row.style.top = `${i * height}px`;
      rows.set(i, space.appendChild(row));
    }
  };
  const scroll = (px) => {
    const wanted = clamp(px, 0, Math.max(0, count * height - view));
    if (wanted === top) return;
    top = wanted;
    moved = true;
    draw();
  };
  el.addEventListener("scroll", () => {
    if (moved || Math.abs(el.scrollTop - top) < 1) return;
    top = el.scrollTop;
    draw();
  }, { passive: true });
  return {
    rows,
    scroll,
    land() {
      if (moved) el.scrollTop = top;
      moved = false;
    },
    atEnd: () => top + view >= (count - 1) * height,
    overflows: () => count * height > view,
    /** After the element changed its size. */
    fit() {
      view = el.clientHeight;
      draw();
    },
    resize(n) {
      if (n === count) return;
      count = n;
      space.style.height = `${n * height}px`;
      draw();
    },
    redraw() {
      rows.forEach((row) => row.remove());
      rows.clear();
      draw();
    },
    reveal(i) {
      if (i * height < top) scroll(i * height);
      else if ((i + 1) * height > top + view) scroll((i + 1) * height - view);
    },
  };
}

/** At most about `most` round numbers from 0 to `end`. */
function niceTicks(end, most) {
  let step = 1;
  for (let i = 0; end / step > most; i += 1) step = [1, 2, 5][i % 3] * 10 ** Math.floor(i / 3);
  return Array.from({ length: Math.floor(end / step) + 1 }, (_, i) => i * step);
}

// ---------------------------------------------------------------------------------------------- panes
// A pane is { el, show(tick, changed, codes), select(ti, asked) }: `changed` lists the TIs that look different now,
// `asked` tells a task the reader chose from one that only happens to be worth explaining.

/** The drawing. Its shapes are laid out once; a tick only changes classes, glyphs and the bars of group nodes. */
function graphPane(replay, choose) {
  const scroller = h("div.dk-graph-scroll", { tabindex: -1 });
  const nodeOf = new Map();
  const edges = [];
  const drawings = replay.graphs.map((graph) => {
    const svg = safeSvg(graph.svg);
    svg.setAttribute("role", "group");
    edges.push(...svg.querySelectorAll(".dk-edge"));
    if (replay.graphs.length > 1) scroller.append(h("p.dk-note", {}, graph.dag_id));
    scroller.append(svg);
    return svg;
  });
  const notes = replay.graphs.filter(({ collapsed }) => collapsed);
  const nodes = replay.nodes.flatMap((spec) => {
    const el = drawings[spec.graph]?.querySelector(`[id="${CSS.escape(spec.id)}"]`);
    return el && spec.tis.length ? [graphNode(spec, el, replay, choose)] : [];
  });
  for (const node of nodes) for (const ti of node.tis) nodeOf.set(ti, node);

  let zoom = 0; // 0: fit the width, but never below legible
  const fit = () => {
    for (const svg of drawings) {
      const [width, height] = (svg.getAttribute("viewBox") || "0 0 300 150").split(/[ ,]+/).slice(2).map(Number);
      const sizes = [...svg.querySelectorAll("text")].map((text) => parseFloat(getComputedStyle(text).fontSize) || 12);
      const smallest = LEGIBLE / Math.min(12, ...sizes);
      const room = (scroller.clientWidth - 8) / width;
      const scale = zoom || clamp(Math.min(room, 460 / height), smallest, 1.25);
      svg.setAttribute("width", width * scale);
      svg.setAttribute("height", height * scale);
      svg.dataset.scale = scale;
    }
  };
  const zoomBy = (factor) => () => {
    zoom = factor ? clamp((zoom || Number(drawings[0]?.dataset.scale) || 1) * factor, 0.1, 4) : 0;
    fit();
  };
  const button = (label, text, factor) =>
    h("button.dk-small", { type: "button", "aria-label": label, title: label, onclick: zoomBy(factor) }, text);
  const tools = h("div.dk-zoom", {}, button("Zoom out", "−", 0.8), button("Fit", "fit", 0),
    button("Zoom in", "+", 1.25));
  return {
    el: h("section.dk-graph", { "aria-label": "Dag" }, h("div.dk-head", {}, h("h4", {}, "Dag"), tools), scroller,
      ...notes.map(({ collapsed }) => h("p.dk-note", {}, collapsed))),
    fit,
    show(tick, changed, codes) {
      for (const node of new Set(changed.map((ti) => nodeOf.get(ti)))) node?.paint(codes);
    },
    select(ti) {
      const chosen = nodeOf.get(ti);
      for (const node of nodes) node.el.classList.toggle("dk-selected", node === chosen);
      for (const edge of edges) {
        const near = chosen && [edge.dataset.from, edge.dataset.to].includes(chosen.el.id);
        edge.classList.toggle("dk-near", Boolean(near));
      }
    },
  };
}

/** One node: a task, or (collapsed, mapped, several runs) a group of TIs that shows its progress as a bar. */
function graphNode(spec, el, replay, choose) {
  const group = spec.tis.length > 1;
  const [glyph, title] = [el.querySelector(".dk-glyph"), el.querySelector("title")];
  const bar = group ? progressBar(el) : null;
  const look = replay.states.map((state) => `dk-${state.name}`);
  el.setAttribute("role", group ? "button" : "img");
  el.classList.add("dk-live");
  if (group) el.setAttribute("tabindex", "0");
  const open = () => choose(spec.tis[0], group ? spec : null);
  el.addEventListener("click", open);
  el.addEventListener("keydown", (event) => {
    if (!group || (event.key !== "Enter" && event.key !== " ")) return;
    event.preventDefault();
    event.stopPropagation();
    open();
  });
  return {
    el,
    tis: spec.tis,
    paint(codes) {
      const counts = new Map();
      for (const ti of spec.tis) counts.set(codes[ti], (counts.get(codes[ti]) || 0) + 1);
      const alike = counts.size === 1;
      const state = replay.states[codes[spec.tis[0]]];
      el.classList.remove(...look, "dk-mixed");
      el.classList.add(alike ? `dk-${state.name}` : "dk-mixed");
      const done = spec.tis.filter((ti) => replay.states[codes[ti]].final).length;
      const badge = state.glyph === state.letter ? state.glyph : `${state.glyph} ${state.letter}`;
      if (glyph) glyph.textContent = alike ? badge : `${Math.floor((100 * done) / spec.tis.length)}%`;
      bar?.(counts, spec.tis.length, replay.states);
      const told = [...counts].map(([code, n]) => `${group ? `${n} ` : ""}${replay.states[code].name}`);
      const words = `${spec.label}: ${told.join(", ")}`;
      el.setAttribute("aria-label", group ? `${words}. List its tasks.` : words);
      if (title) title.textContent = words;
    },
  };
}

/** A stacked bar along the lower edge of a node; returns the function that fills it. */
function progressBar(el) {
  const rects = new Map();
  const shape = el.querySelector("rect");
  const [left, top, width, height] = ["x", "y", "width", "height"].map((name) => Number(shape.getAttribute(name)));
  return (counts, total, states) => {
    let x = left + 4;
    states.forEach((state, code) => {
      const part = ((counts.get(code) || 0) / total) * (width - 8);
      if (!part && !rects.has(code)) return;
      if (!rects.has(code)) {
        const rect = document.createElementNS("http://www.w3.org/2000/svg", "rect");
        rect.setAttribute("class", `dk-part dk-${state.name}`);
        rect.setAttribute("height", 5);
        rect.setAttribute("y", top + height - 8);
        rects.set(code, el.appendChild(rect));
      }
      rects.get(code).setAttribute("x", x);
      rects.get(code).setAttribute("width", part);
      x += part;
    });
  };
}

/** The Gantt chart: a row per TI, its states as segments. A tick is a column, so that the last one shows too. */
function rowsPane(replay, choose, seek) {
  const columns = replay.last_tick + 1;
  const all = replay.tis.map((_, ti) => ti);
  const id = `dk-rows-${(instances += 1)}`;
  let shown = all;
  let codes = [];
  let selected = -1;
  let width = 1; // of the time axis, px
  let following = true; // scroll along with what runs, until the reader scrolls
  const scroller = h("div.dk-rows", { role: "listbox", tabindex: 0, "aria-label": "Tasks over time", id,
    style: `height:${Math.min(ROW * all.length + 2, 310)}px` });
  for (const touch of ["wheel", "pointerdown"]) {
    scroller.addEventListener(touch, () => { following = false; }, { passive: true });
  }
  const dress = (row, ti) => {
    const state = replay.states[codes[ti] ?? 0];
    const mark = row.firstChild.firstChild;
    mark.className = `dk-badge dk-${state.name}`;
    mark.textContent = state.glyph;
    row.setAttribute("aria-label", `${replay.tis[ti].label}: ${state.name}`);
    row.setAttribute("aria-selected", ti === selected);
    row.classList.toggle("dk-selected", ti === selected);
  };
  const list = longList(scroller, ROW, (position) => {
    const ti = shown[position];
    const row = ganttRow(replay, ti, columns, width);
    row.id = `${id}-${ti}`;
    row.setAttribute("aria-posinset", position + 1);
    row.setAttribute("aria-setsize", shown.length);
    row.addEventListener("click", () => choose(ti));
    dress(row, ti);
    return row;
  });
  const show = (tis) => {
    shown = tis;
    list.resize(shown.length);
    list.scroll(0);
    list.redraw();
  };
  const finder = taskFinder(replay.tis, all, show);
  const axis = timeAxis(replay.last_tick, columns, seek);
  const curtain = timeCurtain(columns);
  return {
    el: h("section.dk-gantt", { "aria-label": "Tasks over time" }, h("div.dk-head", {}, h("h4", {}, "Tasks over time"),
      ...finder.parts), h("div.dk-chart", {}, axis.el, scroller, curtain.el)),
    fit() {
      axis.el.style.marginRight = curtain.el.style.right = `${scroller.offsetWidth - scroller.clientWidth}px`;
      width = curtain.el.clientWidth;
      axis.draw(width);
      list.resize(shown.length);
      list.fit();
      list.redraw();
    },
    show(tick, changed, now) {
      codes = now;
      curtain.show(tick);
      following ||= !tick;
      if (following && shown === all && list.overflows()) {
        const busy = codes.findIndex((code) => ["queued", "running"].includes(replay.states[code].name));
        if (busy >= 0) list.scroll((busy - 2) * ROW);
      }
      const dirty = new Set(changed);
      for (const [position, row] of list.rows) if (dirty.has(shown[position])) dress(row, shown[position]);
    },
    select(ti, asked) {
      selected = ti;
      if (asked && !shown.includes(ti)) finder.narrow(null);
      if (asked) list.reveal(shown.indexOf(ti));
      for (const [position, row] of list.rows) dress(row, shown[position]);
      scroller.setAttribute("aria-activedescendant", `${id}-${ti}`);
    },
    land: list.land,
    next: (ti, by) => shown[clamp(shown.indexOf(ti) + by, 0, shown.length - 1)] ?? ti,
    narrow: finder.narrow,
  };
}

/** Which rows are listed: all, those of one node, or those whose name holds what is typed. */
function taskFinder(tis, all, show) {
  const note = h("span.dk-note");
  const search = h("input.dk-search", { type: "search", placeholder: "Find a task", "aria-label": "Find a task" });
  const everything = h("button.dk-small", { type: "button", hidden: true, onclick: () => narrow(null) }, "Show all");
  const list = (found, text) => {
    note.textContent = text;
    everything.hidden = !text;
    show(text ? found : all);
  };
  const narrow = (node) => {
    search.value = "";
    list(node?.tis, node ? `${node.label}: ${plural(node.tis.length, "task")}` : "");
  };
  search.hidden = all.length <= 20;
  search.addEventListener("input", () => {
    const wanted = search.value.toLowerCase();
    const found = all.filter((ti) => tis[ti].label.toLowerCase().includes(wanted));
    list(found, wanted && `${plural(found.length, "task")} found`);
  });
  return { parts: [note, everything, search], narrow };
}

/** Ticks above the chart; pressing or dragging there goes to that tick. */
function timeAxis(end, columns, seek) {
  const el = h("div.dk-axis", { "aria-hidden": "true" });
  const go = (event) => {
    if (event.type === "pointermove" && !event.buttons) return;
    const box = el.getBoundingClientRect();
    seek(clamp(Math.floor(((event.clientX - box.left) / box.width) * columns), 0, end));
  };
  el.addEventListener("pointerdown", go);
  el.addEventListener("pointermove", go);
  const mark = (tick) => h("span", { style: `left:${((tick + 0.5) / columns) * 100}%` }, String(tick));
  return { el, draw: (width) => el.replaceChildren(...niceTicks(end, Math.min(12, width / 40)).map(mark)) };
}

/** The line of the current tick; what comes later is veiled, what was never seen is hidden. */
function timeCurtain(columns) {
  const [later, unseen, line] = [h("div.dk-later"), h("div.dk-unseen"), h("div.dk-now")];
  const move = (el, column) => { el.style.transform = `translateX(${(column / columns) * 100}%)`; };
  let seen = 0;
  return {
    el: h("div.dk-over", { "aria-hidden": "true" }, later, unseen, line),
    show(tick) {
      seen = Math.max(seen, tick);
      move(later, tick + 1);
      move(unseen, seen + 1);
      move(line, tick + 0.5);
    },
  };
}

/** Waiting is half as high as running, and the end is a mark with a thin tail: shape tells what colour tells. */
function ganttRow(replay, ti, columns, width) {
  const { label, changes } = replay.tis[ti];
  const track = h("div.dk-track");
  changes.forEach(([from, code], i) => {
    const to = i + 1 < changes.length ? changes[i + 1][0] : columns;
    const state = replay.states[code];
    if (to <= from || state.name === "none") return;
    const wide = ((to - from) / columns) * width;
    const text = state.final || wide >= 12 ? (state.final ? state.glyph : state.letter) : "";
    track.append(h(`div.dk-seg.dk-${state.name}${state.final ? ".dk-final" : ""}`, {
      style: `left:${(from / columns) * 100}%;width:${((to - from) / columns) * 100}%`,
      title: `${state.name} from tick ${from}${state.final ? "" : ` to ${to}`}`,
    }, h("span", {}, text)));
  });
  const name = h("div.dk-name", { title: label }, h("span.dk-badge", { "aria-hidden": "true" }),
    h("span.dk-text", {}, label));
  return h("div.dk-row", { role: "option" }, name, track);
}

/** Pools and caps: how many places are taken. */
function metersPane(replay) {
  const meters = replay.meters.map(meterRow);
  return {
    el: h("section.dk-meters", { "aria-label": "Pools and limits" }, h("h4", {}, "Places taken"),
      meters.length ? h("ul", {}, ...meters.map(({ el }) => el)) : h("p.dk-note", {}, "No pool or limit was used.")),
    show: (tick) => meters.forEach((meter) => meter.show(tick)),
    select() {},
  };
}

/** Up to 16 places are drawn one by one, more as a bar. */
function meterRow({ name, size, used }) {
  const cells = Array.from({ length: size <= 16 ? size || 0 : 0 }, () => h("i.dk-cell"));
  const [fill, value] = [h("i.dk-fill"), h("span.dk-value")];
  const bar = cells.length ? h("span.dk-cells", {}, ...cells) : h("span.dk-bar", {}, fill);
  const el = h("li.dk-meter", {}, h("span.dk-meter-name", { title: name }, name), value, bar);
  bar.setAttribute("aria-hidden", "true");
  return {
    el,
    show(tick) {
      const taken = at(used, tick, 0);
      const full = size !== null && taken >= size;
      cells.forEach((cell, i) => cell.classList.toggle("dk-taken", i < taken));
      fill.style.width = size ? `${clamp(taken / size, 0, 1) * 100}%` : "0";
      value.textContent = size === null ? `${taken}, no limit` : `${taken} of ${size}${full ? ", full" : ""}`;
      el.classList.toggle("dk-full", full);
    },
  };
}

/** What happened so far; the lines of this tick stand out. Follows the end unless the reader scrolled up. */
function logPane(replay) {
  const scroller = h("div.dk-log", { tabindex: 0, role: "region", "aria-label": "Log so far" });
  let now = 0;
  const list = longList(scroller, LINE, (i) => {
    const [tick, text] = replay.log[i];
    return h(`div.dk-line${tick === now ? ".dk-current" : ""}`, {}, text);
  });
  const empty = scroller.appendChild(h("p.dk-empty", {}, "Nothing has happened yet."));
  return {
    el: h("section.dk-logbox", {}, h("h4", {}, "Log so far"), scroller),
    fit: list.fit,
    land: list.land,
    show(tick) {
      const following = list.atEnd();
      const count = countUntil(replay.log, tick);
      now = tick;
      for (const [i, row] of list.rows) row.classList.toggle("dk-current", replay.log[i]?.[0] === tick);
      empty.hidden = count > 0;
      list.resize(count);
      if (following) list.reveal(count - 1);
    },
    select() {},
  };
}

/** The states of this replay with their meaning, and how many TIs are in each right now. */
function legendPane(replay) {
  const used = new Set(replay.tis.flatMap(({ changes }) => changes.map(([, code]) => code)));
  const rows = replay.states.map((state, code) => {
    const count = h("b.dk-count");
    return { code, count, el: h("div.dk-key", {}, h("dt", {}, chip(state)), h("dd", {}, count, state.meaning)) };
  }).filter(({ code }) => used.has(code));
  return {
    el: h("section.dk-legend", { "aria-label": "Legend" }, h("h4", {}, "States now"),
      h("dl", {}, ...rows.map(({ el }) => el))),
    show(tick, changed, codes) {
      const counts = new Uint32Array(replay.states.length);
      for (const code of codes) counts[code] += 1;
      for (const { code, count, el } of rows) {
        count.textContent = counts[code];
        el.classList.toggle("dk-zero", counts[code] === 0);
      }
    },
    select() {},
  };
}

/** The chosen task: its state, what that means, and the sentence of `explain` at this tick. */
function taskPane(replay) {
  const body = h("div.dk-task-body");
  let chosen = -1;
  let tick = 0;
  let told = "";
  const draw = () => {
    const { label, changes } = replay.tis[chosen];
    const [since, code] = changes[countUntil(changes, tick) - 1];
    const state = replay.states[code];
    const why = replay.reasons.texts[at(replay.reasons.by_ti[chosen] || [], tick, -1)];
    const shown = why ? capital(why) : `${capital(state.meaning)}.`;
    const sentence = `${label} is ${state.name} since tick ${since}. ${shown}`;
    if (told === sentence) return;
    told = sentence;
    body.replaceChildren(
      h("p.dk-task-name", { title: label }, label),
      h("p", {}, chip(state), h("span.dk-note", {}, ` since tick ${since}${why ? `: ${state.meaning}` : ""}`)),
      h("p.dk-why", {}, shown),
    );
  };
  return {
    el: h("section.dk-task", { "aria-label": "Chosen task" }, h("h4", {}, "Why is it there?"), body),
    sentence: () => told,
    show(now) {
      tick = now;
      if (chosen >= 0) draw();
    },
    select(ti) {
      chosen = ti;
      draw();
    },
  };
}

// ---------------------------------------------------------------------------------------------- one lane

/** Everything that shows one replay. A page may hold several lanes driven by one clock. */
function lane(replay, { onselect, seek }) {
  const everyone = replay.tis.map((_, ti) => ti);
  const moves = new Map(); // tick -> the TIs that change then
  replay.tis.forEach(({ changes }, ti) => changes.slice(1).forEach(([when]) => {
    if (!moves.has(when)) moves.set(when, []);
    if (moves.get(when).at(-1) !== ti) moves.get(when).push(ti);
  }));
  const codes = new Uint8Array(replay.tis.length).fill(255);
  let tick = -2;
  let chosen = -1;
  let asked = false;
  const choose = (ti, group) => {
    if (group !== undefined) rows.narrow(group);
    select(ti);
    onselect(ti);
  };
  const telling = () => {
    const first = (name, among) => among.find((ti) => replay.states[codes[ti]].name === name);
    const news = tick === replay.last_tick ? everyone : moves.get(tick) || [];
    const bad = first("upstream_failed", news) ?? first("failed", news);
    if (bad !== undefined) return bad;
    if (WAITING.includes(replay.states[codes[chosen]]?.name)) return chosen;
    for (const name of [...WAITING, "queued", "running"]) {
      const found = first(name, everyone);
      if (found !== undefined) return found;
    }
    return news[0] ?? Math.max(chosen, 0);
  };
  const graph = graphPane(replay, choose);
  const rows = rowsPane(replay, choose, seek);
  const task = taskPane(replay);
  const [meters, log, legend] = [metersPane(replay), logPane(replay), legendPane(replay)];
  const panes = [graph, task, meters, legend, rows, log];
  const point = (ti) => {
    if (ti === chosen || !replay.tis[ti]) return;
    chosen = ti;
    for (const pane of panes) pane.select(ti, asked);
  };
  const select = (ti) => {
    asked = true;
    point(ti);
    land();
  };
  const land = () => panes.forEach((pane) => pane.land?.());
  return {
    el: h("div.dk-lane", {}, h("div.dk-column", {}, graph.el, rows.el, log.el),
      h("div.dk-column", {}, task.el, meters.el, legend.el)),
    fit: () => panes.forEach((pane) => pane.fit?.()),
    select,
    choose,
    sentence: task.sentence,
    step: (by) => choose(rows.next(chosen, by)),
    show(now) {
      const suspects = now === tick + 1 ? moves.get(now) || [] : everyone;
      const changed = suspects.filter((ti) => {
        const code = at(replay.tis[ti].changes, now);
        if (codes[ti] === code) return false;
        codes[ti] = code;
        return true;
      });
      tick = now;
      for (const pane of panes) pane.show(now, changed, codes);
      if (!asked) point(telling());
      land();
    },
    /** What this tick does to each TI, in words. */
    story(now, most) {
      const names = (ti) => {
        const { label, changes } = replay.tis[ti];
        const count = countUntil(changes, now);
        const first = countUntil(changes, now - 1);
        return [label, changes.slice(first - 1, count).map(([, code]) => replay.states[code])];
      };
      const moved = (now && moves.get(now)) || [];
      return { told: moved.slice(0, most).map(names), more: Math.max(0, moved.length - most) };
    },
  };
}

/** Calls `beat` every `interval()` ms on an animation frame. A late frame delays the rest; no beat is left out. */
function clock(interval, beat) {
  let frame = 0;
  let due = 0;
  const turn = (time) => {
    frame = requestAnimationFrame(turn);
    if (time < due - 4) return; // within a quarter of a frame is on time
    due = time - due > interval() ? time + interval() : due + interval();
    beat();
  };
  return {
    running: () => frame !== 0,
    start() {
      due = performance.now() + interval();
      frame ||= requestAnimationFrame(turn);
    },
    stop() {
      cancelAnimationFrame(frame);
      frame = 0;
    },
  };
}

// ---------------------------------------------------------------------------------------------- around the lane

/** The question before the first tick. Play stays locked until `done(answer)`; an empty answer means skipped. */
function questionPanel({ question, choices }, done) {
  const name = `dk-choice-${(instances += 1)}`;
  const inputs = choices.map((choice) => h("input", { type: "radio", name, value: choice }));
  const free = h("input.dk-search", { type: "text", "aria-label": "Your prediction" });
  const commit = h("button.dk-primary", { type: "submit" }, "Commit to it");
  const skip = h("button.dk-link", { type: "button", onclick: () => done("") }, "Skip");
  const value = () => (choices.length ? inputs.find((input) => input.checked)?.value || "" : free.value.trim());
  const check = () => { commit.disabled = !value(); };
  const fields = choices.length ? inputs.map((input, i) => h("label.dk-choice", {}, input, choices[i])) : [free];
  const form = h("form.dk-panel.dk-question", { "aria-label": "Predict first" },
    h("fieldset", {}, h("legend", {}, h("b", {}, "Predict first: "), question), ...fields),
    h("div.dk-actions", {}, commit, skip, h("span.dk-note", {}, "Play is locked until you commit or skip.")));
  form.addEventListener("input", check);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (value()) done(value());
  });
  check();
  return form;
}

const same = (a, b) => a.trim().toLowerCase() === b.trim().toLowerCase();

/** After the end: the prediction beside what happened, then both verdicts and why they can differ. */
function verdictPanel(replay, prediction, predicted) {
  const panel = h("div.dk-panel.dk-verdict", { role: "group", "aria-label": "Verdict" });
  if (prediction && predicted) {
    const right = prediction.answer && same(predicted, prediction.answer);
    const judged = right ? "✓ As you predicted: " : "✗ Not as predicted. You said: ";
    const lead = prediction.answer ? judged : "You predicted: ";
    panel.append(h(`p.dk-feedback${right ? ".dk-right" : ""}`, {}, h("b", {}, lead), predicted,
      ...(prediction.answer && !right ? [h("b", {}, " It was: "), prediction.answer] : []),
      ...(prediction.because ? [h("span.dk-because", {}, prediction.because)] : [])));
  }
  const { run_state, good, any_failed, text } = replay.verdict;
  const box = (title, good, word) => h(`div.dk-judge${good ? ".dk-good" : ".dk-bad"}`, {},
    h("span.dk-note", {}, title), h("b", {}, `${good ? "✓" : "✗"} ${word}`));
  panel.append(h("div.dk-judges", {}, box("Airflow's verdict on the run", good, run_state),
    box("Did some task fail?", !any_failed, any_failed ? "yes" : "no")), h("p", {}, text));
  return panel;
}

/** A button that speaks `text()`, or nothing where the browser cannot speak. */
function readAloud(text) {
  if (!("speechSynthesis" in window)) return "";
  return h("button.dk-small", { type: "button", onclick: () => {
    speechSynthesis.cancel();
    speechSynthesis.speak(new SpeechSynthesisUtterance(text()));
  } }, "Read aloud");
}

/** Colours and borders of the states, for chips, segments and nodes alike. */
function stateStyle(states) {
  const rules = states.map(({ name, fill, ink, border }) =>
    `.dk-player .dk-${name}{--dk-fill:${fill};--dk-ink:${ink};--dk-line:${border}}`);
  const fill = (name) => states.find((state) => state.name === name).fill;
  const roles = `--dk-busy:${fill("running")};--dk-good:${fill("success")};--dk-bad:${fill("failed")}`;
  return h("style", {}, [`.dk-player{${roles}}`, ...rules].join("\n"));
}

/** The row of buttons, the scrubber and the speed; `act` holds what they do. */
function controls(replay, act) {
  const end = replay.last_tick;
  const button = (name, label, key) => h("button.dk-tool", {
    type: "button", "aria-label": label, title: `${label} (${key})`, onclick: act[name] }, icon(name));
  const play = h("button.dk-primary.dk-play", { type: "button", title: "Play or pause (Space)", onclick: act.toggle });
  const scrub = h("input.dk-scrub", { type: "range", min: 0, max: end, step: 1, value: 0, "aria-label": "Tick",
    oninput: () => act.seek(Number(scrub.value)) });
  const count = h("output.dk-tick");
  const speed = h("select", { "aria-label": "Speed", onchange: () => act.speed(Number(speed.value)) });
  const help = h("button.dk-tool.dk-help-button", { type: "button", "aria-label": "Help", title: "Help (?)",
    "aria-expanded": "false", onclick: act.help }, "?");
  const el = h("div.dk-controls", { role: "group", "aria-label": "Player controls" }, play,
    button("first", "First tick", "Home"), button("back", "One tick back", "←"), button("on", "One tick on", "→"),
    button("last", "Last tick", "End"), scrub, count, speed, help);
  return {
    el,
    help,
    lock(locked) {
      for (const part of el.querySelectorAll("button:not(.dk-help-button), input")) part.disabled = locked;
    },
    speed(interval) {
      const all = [...new Set([...SPEEDS, interval])].sort((a, b) => b - a);
      const label = (ms) => `${plural(+(1000 / ms).toFixed(1), "tick")}/s`;
      speed.replaceChildren(...all.map((ms) => h("option", { value: ms, selected: ms === interval }, label(ms))));
    },
    show(tick, playing) {
      const seconds = replay.tick_seconds === 1 ? "" : ` (${+(tick * replay.tick_seconds).toFixed(3)} s)`;
      scrub.value = tick;
      scrub.setAttribute("aria-valuetext", `tick ${tick} of ${end}`);
      count.textContent = `tick ${tick} / ${end}${seconds}`;
      const word = playing ? "Pause" : tick >= end ? "Replay" : "Play";
      if (play.textContent !== word) play.replaceChildren(icon(playing ? "pause" : "play"), word);
    },
  };
}

/** Keys of the player. What has focus keeps the keys it needs itself, and no key reaches the page around. */
function listenToKeys(root, actions) {
  const leave = () => {
    document.activeElement.blur();
    root.parentElement?.closest("[tabindex]")?.focus({ preventScroll: true });
  };
  root.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    event.stopPropagation();
    const field = event.target.closest("input:not(.dk-scrub), select");
    const button = event.key === " " && event.target.closest("button");
    const action = event.key === "Escape" ? leave : !field && !button && actions[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  });
}

function helpPanel() {
  const caps = (keys) => keys.split(" ").map((key) => h("kbd", {}, key));
  const keys = KEYS.map(([names, text]) => h("div", {}, h("dt", {}, ...caps(names)), h("dd", {}, text)));
  return h("div.dk-panel.dk-help", { hidden: true }, h("p", {}, HELP), h("dl.dk-keys", {}, ...keys));
}

/** The line under the controls: what this tick changes. */
function storyLine(tick, end, { told, more }, locked) {
  if (!end) return ["Nothing ever happens here, so there is nothing to play."];
  const press = locked ? "Answer or skip, then press" : "Press";
  if (!tick) return [`${press} Play (or Space). Each tick is one pass of the scheduler.`];
  if (!told.length) return [`Tick ${tick}: nothing changes; time passes for what runs or waits.`];
  const parts = told.map(([label, states]) => h("span.dk-move", {}, h("b", {}, label), " ",
    ...states.flatMap((state, i) => (i ? [" → ", chip(state)] : [chip(state)]))));
  return [`Tick ${tick}: `, ...parts, ...(more ? [` and ${more} more`] : [])];
}

/** The same in plain words, for the live region. */
function spoken(tick, { told, more }) {
  const parts = told.map(([label, states]) => `${label}: ${states.map(({ name }) => name).join(", then ")}`);
  return `Tick ${tick}. ${parts.join(". ") || "Nothing changes"}${more ? `. And ${more} more` : ""}.`;
}

// ---------------------------------------------------------------------------------------------- the widget

function render({ model, el }) {
  const replay = model.get("replay");
  const prediction = model.get("prediction");
  const end = replay.last_tick;
  let tick = clamp(model.get("tick") || 0, 0, end);
  let interval = model.get("interval") || 500;
  const locked = () => Boolean(prediction) && model.get("predicted") === null;
  const sync = (key, value) => {
    model.set(key, value);
    model.save_changes();
  };

  const live = h("div.dk-sr", { "aria-live": "polite" });
  const story = h("p.dk-story");
  const panel = h("div.dk-slot");
  const help = helpPanel();
  const say = () => { live.textContent = `${spoken(tick, view.story(tick, 3))} ${view.sentence()}`; };
  const show = (now) => {
    tick = clamp(now, 0, end);
    root.dataset.tick = tick;
    story.replaceChildren(...storyLine(tick, end, view.story(tick, 4), locked()));
    bar.show(tick, ticker.running());
    verdict();
    view.show(tick); // last, because it scrolls
  };
  const verdict = () => {
    const wanted = locked() ? "question" : tick === end ? "verdict" : "";
    if (panel.dataset.shows === wanted) return;
    panel.dataset.shows = wanted;
    const make = { question: () => [questionPanel(prediction, commit)],
      verdict: () => [verdictPanel(replay, prediction, model.get("predicted"))] };
    panel.replaceChildren(...(make[wanted]?.() || []));
  };
  const ticker = clock(() => interval, () => {
    if (tick + 1 >= end) ticker.stop();
    show(tick + 1);
    if (!ticker.running()) settle();
  });
  const settle = () => { // the end of a movement: tell the kernel and the listener once
    bar.show(tick, false);
    sync("tick", tick);
    say();
  };
  const pause = () => {
    if (!ticker.running()) return;
    ticker.stop();
    settle();
  };
  const seek = (to) => {
    if (locked()) return;
    ticker.stop();
    show(to);
    settle();
  };
  const toggle = () => {
    if (locked()) return;
    if (ticker.running()) return pause();
    if (tick >= end) show(0);
    ticker.start();
    bar.show(tick, true);
  };
  const speed = (ms) => {
    interval = ms;
    root.style.setProperty("--dk-fade", ms < 200 ? "0s" : "60ms");
  };
  const toggleHelp = () => {
    help.hidden = !help.hidden;
    bar.help.setAttribute("aria-expanded", String(!help.hidden));
  };
  const commit = (answer) => {
    sync("predicted", answer);
    relock();
    root.focus({ preventScroll: true });
  };
  const bar = controls(replay, { toggle, seek, speed, help: toggleHelp,
    first: () => seek(0), back: () => seek(tick - 1), on: () => seek(tick + 1), last: () => seek(end) });
  const view = lane(replay, { seek, onselect: (ti) => {
    sync("row", ti);
    if (!ticker.running()) say();
  } });

  const title = h("div.dk-title", {}, h("h3", {}, replay.title), h("span.dk-note", {}, replay.fidelity));
  const notes = h("ul.dk-warnings", { "aria-label": "Warnings" },
    ...replay.warnings.map((text) => h("li", {}, `⚠ ${text}`)));
  const root = h("div.dk-player", { tabindex: 0, role: "group", "data-lm-suppress-shortcuts": "true",
    "aria-label": `Tick player for ${replay.title}. Press question mark for help.` },
  stateStyle(replay.states), title, bar.el, help, story, panel, notes, view.el, live);
  root.querySelector(".dk-task").append(readAloud(() => `${spoken(tick, view.story(tick, 3))} ${view.sentence()}`));

  listenToKeys(root, { " ": toggle, "?": toggleHelp, Home: () => seek(0), End: () => seek(end),
    ArrowLeft: () => seek(tick - 1), ArrowRight: () => seek(tick + 1),
    ArrowUp: () => view.step(-1), ArrowDown: () => view.step(1) });

  const follow = () => {
    if (model.get("tick") === tick) return;
    ticker.stop();
    show(model.get("tick"));
  };
  const pick = () => view.select(model.get("row"));
  const relock = () => {
    notes.hidden = locked() || !replay.warnings.length; // they may tell how it ends
    bar.lock(locked() || !end);
    show(tick);
  };
  model.on("change:tick", follow);
  model.on("change:row", pick);
  model.on("change:predicted", relock);
  el.append(root);
  const sizes = new ResizeObserver(() => view.fit());
  sizes.observe(root);
  bar.speed(interval);
  speed(interval);
  view.fit();
  relock();
  if (model.get("row") >= 0) pick();
  return () => {
    ticker.stop();
    sizes.disconnect();
    model.off("change:tick", follow);
    model.off("change:row", pick);
    model.off("change:predicted", relock);
    root.remove();
  };
}

export default { render };
