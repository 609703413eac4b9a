// The tick player: one ES module for JupyterLab, VS Code and the one-file HTML export. It knows no scheduling rule:
// Python sends one `replay`, or two to be compared (see replay.py), everything here only looks things up in them. From
// top to bottom: small helpers, the panes (graph, rows, meters, log, legend, one task), a lane that feeds them, the
// stage with one or two lanes, the clock, what stands around them, render.

const ROW = 20; // height of a row of the Gantt chart, px
const LINE = 18; // height of a line of the log, px
const LEGIBLE = 9; // smallest label shown at the default zoom, px
const SPEEDS = [1000, 500, 250, 100, 50]; // ms per tick
const KEYS = [
  ["Space", "play or pause"], ["← →", "one tick back, one tick on"], ["Home End", "first tick, last tick"],
  ["↑ ↓", "another task"], ["?", "show or hide this help"], ["Esc", "close this help, or leave the player"],
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
const ORDER = ["First", "Second"]; // of two futures, as the sentence about them calls them
let instances = 0;

// ---------------------------------------------------------------------------------------------- helpers

/** An element of a drawing. */
function shape(tag, props) {
  const el = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [key, value] of Object.entries(props)) el.setAttribute(key, value);
  return el;
}

function icon(name) {
  const svg = shape("svg", { viewBox: "0 0 16 16", "aria-hidden": "true" });
  svg.append(shape("path", { d: ICONS[name] }));
  return svg;
}

/** Steps are [[tick, value], ...] in tick order; how many of them have happened by `tick`. */
const countUntil = (steps, tick) => steps.findLastIndex(([when]) => when <= tick) + 1;

/** The value that holds at `tick`: the last one that has happened. */
const at = (steps, tick, before) => steps.findLast(([when]) => when <= tick)?.[1] ?? before;

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
class LongList {
  rows = new Map(); // position -> element
  #count = 0;
  #top = 0;
  #view = 0;
  #moved = false;

  constructor(el, height, make) {
    Object.assign(this, { el, height, make, space: el.appendChild(h("div.dk-space", { role: "presentation" })) });
    el.addEventListener("scroll", () => {
      if (this.#moved || Math.abs(el.scrollTop - this.#top) < 1) return;
      this.#top = el.scrollTop;
      this.#draw();
    }, { passive: true });
  }

  #draw() {
    const from = Math.max(0, Math.floor(this.#top / this.height) - 3);
    const to = Math.min(this.#count, Math.ceil((this.#top + this.#view) / this.height) + 3);
    for (const [i, row] of this.rows) {
      if (i >= from && i < to) continue;
      row.remove();
      this.rows.delete(i);
    }
    for (let i = from; i < to; i += 1) {
      if (this.rows.has(i)) continue;
      const row = this.make(i);
      row.style.top = `${i * this.height}px`;
      this.rows.set(i, this.space.appendChild(row));
    }
  }

  scroll(px) {
    const wanted = clamp(px, 0, Math.max(0, this.#count * this.height - this.#view));
    if (wanted === this.#top) return;
    this.#top = wanted;
    this.#moved = true;
    this.#draw();
  }

  land() {
    if (this.#moved) this.el.scrollTop = this.#top;
    this.#moved = false;
  }

  atEnd() { return this.#top + this.#view >= (this.#count - 1) * this.height; }

  overflows() { return this.#view > 0 && this.#count * this.height > this.#view; }

  /** After the element changed its size. */
  fit() {
    this.#view = this.el.clientHeight;
    this.#draw();
  }

  resize(count) {
    if (count === this.#count) return;
    this.#count = count;
    this.space.style.height = `${count * this.height}px`;
    this.#draw();
  }

  redraw() {
    this.rows.forEach((row) => row.remove());
    this.rows.clear();
    this.#draw();
  }

  reveal(i) {
    if (i * this.height < this.#top) this.scroll(i * this.height);
    else if ((i + 1) * this.height > this.#top + this.#view) this.scroll((i + 1) * this.height - this.#view);
  }
}

/** At most about `most` round numbers from 0 to `end`. */
function niceTicks(end, most) {
  let step = 1;
  for (let i = 0; end / step > most; i += 1) step = [1, 2, 5][i % 3] * 10 ** Math.floor(i / 3);
  return Array.from({ length: Math.floor(end / step) + 1 }, (_, i) => i * step);
}

// ---------------------------------------------------------------------------------------------- panes
// A pane is { el, show(tick, changed, codes) } and where needed select(ti, asked), fit() and land(): `changed` lists the
// TIs that look different now, `asked` tells a task the reader chose from one that only happens to be worth explaining,
// `ti` is -1 for a task that only the other future has.

/** The drawing. Its shapes are laid out once; a tick only changes classes, glyphs and the bars of group nodes. */
function graphPane(replay, choose) {
  const scroller = h("div.dk-graph-scroll", { tabindex: -1 });
  const drawings = replay.graphs.map(({ svg: text, dag_id }) => {
    const svg = safeSvg(text);
    svg.setAttribute("role", "group");
    scroller.append(...(replay.graphs.length > 1 ? [h("p.dk-note", {}, dag_id)] : []), svg);
    return svg;
  });
  const edges = drawings.flatMap((svg) => [...svg.querySelectorAll(".dk-edge")]);
  const nodes = replay.nodes.flatMap((spec) => {
    const el = drawings[spec.graph]?.querySelector(`[id="${CSS.escape(spec.id)}"]`);
    return el && spec.tis.length ? [graphNode(spec, el, replay, choose)] : [];
  });
  const nodeOf = new Map(nodes.flatMap((node) => node.tis.map((ti) => [ti, node])));
  const notes = replay.graphs.filter(({ collapsed }) => collapsed);
  const legible = Math.max(0, ...drawings.map((svg) => sizeOf(svg)[0])) * (LEGIBLE / 11) + 32; // its key is of 11 px
  const wide = `--dk-wide:${Math.ceil(legible)}px`;
  const zoom = zoomTools(scroller, drawings);
  return {
    wide,
    el: h("section.dk-graph", { "aria-label": "Dag", style: wide },
      h("div.dk-head", {}, h("h4", {}, "Dag"), zoom.el), scroller,
      ...notes.map(({ collapsed }) => h("p.dk-note", {}, collapsed))),
    fit: zoom.fit,
    land: zoom.land,
    show(tick, changed, codes) {
      for (const node of new Set(changed.map((ti) => nodeOf.get(ti)))) node?.paint(codes);
    },
    select(ti) {
      const chosen = nodeOf.get(ti);
      zoom.aim(chosen?.el);
      for (const node of nodes) node.el.classList.toggle("dk-selected", node === chosen);
      for (const edge of edges) {
        const near = chosen && [edge.dataset.from, edge.dataset.to].includes(chosen.el.id);
        edge.classList.toggle("dk-near", Boolean(near));
      }
    },
  };
}

const sizeOf = (svg) => (svg.getAttribute("viewBox") || "0 0 300 150").split(/[ ,]+/).slice(2).map(Number);

/**
 * Drawings fit the width, but their labels stay legible; "fit" shows the whole even where they do not, the other
 * buttons make it larger or smaller. Where it is cut, it scrolls to the chosen node.
 */
function zoomTools(scroller, drawings) {
  let [zoom, cut, target] = [1, false, null];
  let mode = "legible"; // or "whole", or "zoom"
  const scaleOf = (svg) => {
    if (mode === "zoom") return zoom;
    const [width, height] = sizeOf(svg);
    const tallest = (parseFloat(getComputedStyle(scroller).maxHeight) || 480) - 20;
    const room = Math.min((scroller.clientWidth - 8) / width, tallest / height, 1.25);
    if (mode === "whole") return Math.max(room, 0.02);
    const sizes = [...svg.querySelectorAll("text")].map((text) => parseFloat(getComputedStyle(text).fontSize) || 12);
    return Math.max(room, LEGIBLE / Math.min(12, ...sizes));
  };
  const fit = () => {
    for (let pass = 0; pass < 2; pass += 1) { // the first may bring a scroll bar, which takes room
      for (const svg of drawings) {
        const scale = scaleOf(svg);
        sizeOf(svg).forEach((px, i) => svg.setAttribute(["width", "height"][i], px * scale));
        svg.dataset.scale = scale;
      }
    }
    cut = scroller.scrollWidth > scroller.clientWidth || scroller.scrollHeight > scroller.clientHeight;
    scroller.classList.toggle("dk-cut", cut);
    land();
  };
  const land = () => {
    if (!cut || !target) return;
    const [box, node] = [scroller, target].map((el) => el.getBoundingClientRect());
    target = null;
    const by = (from, to, low, high) => (from < low ? from - low - 12 : to > high ? to - high + 12 : 0);
    scroller.scrollBy(by(node.left, node.right, box.left, box.left + scroller.clientWidth),
      by(node.top, node.bottom, box.top, box.top + scroller.clientHeight));
  };
  const button = (label, text, factor) => h("button.dk-small", { type: "button", "aria-label": label, title: label,
    onclick: () => {
      mode = factor ? "zoom" : "whole";
      if (factor) zoom = clamp((Number(drawings[0]?.dataset.scale) || 1) * factor, 0.1, 4);
      fit();
    } }, text);
  const el = h("div.dk-zoom", {}, button("Zoom out", "−", 0.8), button("Fit", "fit", 0), button("Zoom in", "+", 1.25));
  return { el, fit, land, aim: (node) => { target = node; } };
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
  const box = el.querySelector("rect");
  const [left, top, width, height] = ["x", "y", "width", "height"].map((name) => Number(box.getAttribute(name)));
  const rect = ({ name }) => el.appendChild(
    shape("rect", { class: `dk-part dk-${name}`, height: 5, y: top + height - 8 }));
  return (counts, total, states) => {
    let x = left + 4;
    states.forEach((state, code) => {
      const part = ((counts.get(code) || 0) / total) * (width - 8);
      if (!part && !rects.has(code)) return;
      if (!rects.has(code)) rects.set(code, rect(state));
      rects.get(code).setAttribute("x", x);
      rects.get(code).setAttribute("width", part);
      x += part;
    });
  };
}

/** The Gantt chart: a row per TI, its states as segments. A tick is a column that begins at its mark; the last one too. */
function rowsPane(replay, end, choose, seek) {
  const columns = end + 1;
  const all = replay.tis.map((_, ti) => ti);
  const id = `dk-rows-${(instances += 1)}`;
  let [shown, codes, selected, width] = [all, [], -1, 1]; // the width of the time axis, px
  let following = true; // scroll along with what runs, until the reader scrolls
  const scroller = h("div.dk-rows", { role: "listbox", tabindex: 0, "aria-label": "Tasks over time", id,
    style: `height:${Math.min(ROW * all.length + 2, 310)}px` });
  for (const touch of ["wheel", "pointerdown"]) {
    scroller.addEventListener(touch, () => { following = false; }, { passive: true });
  }
  const dress = (row, ti) => dressRow(row, replay.tis[ti].label, replay.states[codes[ti] ?? 0], ti === selected);
  const list = new LongList(scroller, ROW, (position) => {
    const ti = shown[position];
    return dress(ganttRow(replay, ti, columns, width, { role: "option", id: `${id}-${ti}`,
      "aria-posinset": position + 1, "aria-setsize": shown.length, onclick: () => choose(ti) }), ti);
  });
  const finder = taskFinder(replay.tis, all, (tis) => {
    shown = tis;
    list.resize(shown.length);
    align(); // its scroll bar may have come or gone
    list.scroll(0);
    list.redraw();
  });
  const [axis, curtain] = [timeAxis(end, columns, seek), timeCurtain(columns)];
  /** Axis and curtain end where the rows end, to a fraction of a pixel. */
  const align = () => {
    const [outer, inner] = [scroller, list.space].map((el) => el.getBoundingClientRect());
    const zoom = outer.width / scroller.offsetWidth || 1; // of the page around: a rectangle is of the page
    const over = (outer.right - inner.right) / zoom;
    axis.el.style.marginRight = curtain.el.style.right = `${over}px`;
    width = axis.el.clientWidth;
    axis.draw(width);
  };
  return {
    el: h("section.dk-gantt", { "aria-label": "Tasks over time" }, h("div.dk-head", {}, h("h4", {}, "Tasks over time"),
      ...finder.parts), h("div.dk-chart", {}, axis.el, scroller, curtain.el)),
    fit() {
      list.resize(shown.length);
      align();
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
      if (asked && ti >= 0) {
        if (!shown.includes(ti)) finder.narrow(null);
        list.reveal(shown.indexOf(ti));
      }
      for (const [position, row] of list.rows) dress(row, shown[position]);
      scroller.setAttribute("aria-activedescendant", ti >= 0 ? `${id}-${ti}` : "");
    },
    land: () => list.land(),
    next: (ti, by) => shown[clamp(shown.indexOf(ti) + by, 0, shown.length - 1)] ?? ti,
    narrow: finder.narrow,
  };
}

/** The parts of a row that change while it plays. */
function dressRow(row, label, state, selected) {
  const mark = row.firstChild.firstChild;
  mark.className = `dk-badge dk-${state.name}`;
  mark.textContent = state.glyph;
  row.setAttribute("aria-label", `${label}: ${state.name}`);
  row.setAttribute("aria-selected", selected);
  row.classList.toggle("dk-selected", selected);
  return row;
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
  const mark = (tick) => h("span", { style: `left:${(tick / columns) * 100}%` }, String(tick));
  return { el, draw: (width) => el.replaceChildren(...niceTicks(end, Math.min(12, width / 40)).map(mark)) };
}

/** The line of the current tick; what comes later is veiled, what was never seen is hidden. */
function timeCurtain(columns) {
  const [later, unseen, line] = [h("div.dk-later"), h("div.dk-unseen"), h("div.dk-now")];
  // what begins there has a border, of which no hair may show
  const move = (el, column) => { el.style.transform = `translateX(calc(${(column / columns) * 100}% - 1px))`; };
  let seen = 0;
  return {
    el: h("div.dk-over", { "aria-hidden": "true" }, later, unseen, line),
    show(tick) {
      seen = Math.max(seen, tick);
      move(later, tick + 1);
      move(unseen, seen + 1);
      move(line, tick);
    },
  };
}

/** Waiting is half as high as running, and the end is a mark with a thin tail: shape tells what colour tells. */
function ganttRow(replay, ti, columns, width, props) {
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
  return h("div.dk-row", props, name, track);
}

/** Pools and caps: how many places are taken. */
function metersPane(replay) {
  const meters = replay.meters.map(meterRow);
  return {
    el: h("section.dk-meters", { "aria-label": "Pools and limits" }, h("h4", {}, "Places taken"),
      meters.length ? h("ul", {}, ...meters.map(({ el }) => el)) : h("p.dk-note", {}, "No pool or limit was used.")),
    show: (tick) => meters.forEach((meter) => meter.show(tick)),
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
  const list = new LongList(scroller, LINE, (i) => {
    const [tick, text] = replay.log[i];
    return h(`div.dk-line${tick === now ? ".dk-current" : ""}`, {}, text);
  });
  const empty = scroller.appendChild(h("p.dk-empty", {}, "Nothing has happened yet."));
  return {
    el: h("section.dk-logbox", {}, h("h4", {}, "Log so far"), scroller),
    fit: () => list.fit(),
    land: () => list.land(),
    show(tick) {
      const following = list.atEnd();
      const count = countUntil(replay.log, tick);
      now = tick;
      for (const [i, row] of list.rows) row.classList.toggle("dk-current", replay.log[i]?.[0] === tick);
      empty.hidden = count > 0;
      list.resize(count);
      if (following) list.reveal(count - 1);
    },
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
  };
}

/** The chosen task: its state, what that means, and the sentence of `explain` at this tick. */
function taskPane(replay) {
  const body = h("div.dk-task-body");
  let chosen = null; // nothing yet
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
      if (chosen !== null) draw();
    },
    select(ti) {
      chosen = ti < 0 ? null : ti;
      if (chosen !== null) return draw();
      told = "The chosen task does not exist in this future.";
      body.replaceChildren(h("p.dk-why", {}, told));
    },
  };
}

// ---------------------------------------------------------------------------------------------- lanes

/** tick -> the TIs that change then. */
function movesByTick(tis) {
  const moves = new Map();
  tis.forEach(({ changes }, ti) => changes.slice(1).forEach(([when]) => {
    if (!moves.has(when)) moves.set(when, []);
    if (moves.get(when).at(-1) !== ti) moves.get(when).push(ti);
  }));
  return moves;
}

/** Everything that shows one replay until tick `end`. Of two futures each has a lane, with a `name`. */
function lane(replay, end, { choose, seek, name }) {
  const everyone = replay.tis.map((_, ti) => ti);
  const moves = movesByTick(replay.tis);
  const codes = new Uint8Array(replay.tis.length).fill(255);
  let [tick, chosen] = [-2, -1];
  const [graph, rows, log] = [graphPane(replay, choose), rowsPane(replay, end, choose, seek), logPane(replay)];
  const [task, meters, legend] = [taskPane(replay), metersPane(replay), legendPane(replay)];
  const panes = [graph, task, meters, legend, rows, log];
  const story = h("p.dk-story");
  if (name) for (const { el } of panes) tagPane(el, name);
  /** What this tick does to each TI, in words. */
  const told = (most) => {
    const moved = (tick && moves.get(tick)) || [];
    const steps = moved.slice(0, most).map((ti) => {
      const { label, changes } = replay.tis[ti];
      const [first, last] = [countUntil(changes, tick - 1), countUntil(changes, tick)];
      return [label, changes.slice(first - 1, last).map(([, code]) => replay.states[code])];
    });
    return { told: steps, more: moved.length - steps.length };
  };
  return {
    story,
    columns: () => h("div.dk-lane", { style: graph.wide }, h("div.dk-column", {}, graph.el, rows.el, log.el),
      h("div.dk-column", {}, task.el, meters.el, legend.el)),
    parts: () => [futureHeading(name, story), ...[graph, task, rows, meters, log, legend].map(({ el }) => el)],
    fit: () => panes.forEach((pane) => pane.fit?.()),
    land: () => panes.forEach((pane) => pane.land?.()),
    narrow: rows.narrow,
    next: (by) => rows.next(chosen, by),
    code: (ti) => codes[ti],
    telling: () => worthTelling(replay, codes, chosen, tick >= replay.last_tick ? everyone : moves.get(tick) || []),
    spoken: () => `${spoken(told(3))} ${task.sentence()}`,
    select(ti, asked) {
      chosen = ti;
      for (const pane of panes) pane.select?.(ti, asked);
    },
    show(now, locked) {
      const changed = (now === tick + 1 ? moves.get(now) || [] : everyone).filter((ti) => {
        const code = at(replay.tis[ti].changes, now);
        if (codes[ti] === code) return false;
        codes[ti] = code;
        return true;
      });
      tick = now;
      story.replaceChildren(...storyLine(tick, replay.last_tick, end, told(4), locked));
      for (const pane of panes) pane.show(tick, changed, codes);
    },
  };
}

/** The task to explain until the reader chooses one: what just went wrong, else what waits. */
function worthTelling(replay, codes, chosen, news) {
  const first = (name, among) => among.find((ti) => replay.states[codes[ti]].name === name);
  const bad = first("upstream_failed", news) ?? first("failed", news);
  if (bad !== undefined) return bad;
  if (WAITING.includes(replay.states[codes[chosen]]?.name)) return chosen;
  const everyone = replay.tis.map((_, ti) => ti);
  for (const name of [...WAITING, "queued", "running"]) {
    const found = first(name, everyone);
    if (found !== undefined) return found;
  }
  return news[0] ?? Math.max(chosen, 0);
}

/** One lane, or two that always show the same tick and the same task. A row is a pair: a TI of each lane, or -1. */
function stage(replays, beside, end, { seek, onselect }) {
  const pairs = beside ? beside.pairs : replays[0].tis.map((_, ti) => [ti]);
  const rowOf = replays.map((_, i) => new Map(pairs.map((pair, row) => [pair[i], row])));
  let [row, tick, asked] = [-1, 0, false];
  let active = 0; // the lane in which the reader last chose
  const land = () => lanes.forEach((one) => one.land());
  const point = (to) => {
    if (to === row || !pairs[to]) return;
    row = to;
    lanes.forEach((one, i) => one.select(pairs[row][i], asked));
  };
  const select = (to) => {
    asked = true;
    point(to);
    land();
  };
  const choose = (from) => (ti, group) => {
    active = from;
    const across = (to) => group.tis.map((one) => pairs[rowOf[from].get(one)]?.[to]).filter((one) => one >= 0);
    if (group !== undefined) lanes.forEach((one, to) => one.narrow(group && { ...group, tis: across(to) }));
    select(rowOf[from].get(ti));
    onselect(row);
  };
  const names = beside ? beside.titles.map((title, i) => ({ order: ORDER[i], text: title })) : [];
  const lanes = replays.map((replay, i) => lane(replay, end, { choose: choose(i), seek, name: names[i] }));
  const differ = (pair) => pair?.every((ti) => ti >= 0) && lanes[0].code(pair[0]) !== lanes[1].code(pair[1]);
  const telling = () => {
    if (!beside) return lanes[0].telling();
    if (differ(pairs[row])) return row;
    const apart = pairs.findIndex(differ);
    return apart >= 0 ? apart : rowOf[0].get(lanes[0].telling());
  };
  return {
    el: beside ? pairsOfPanes(...lanes) : lanes[0].columns(),
    story: beside ? "" : lanes[0].story,
    fit: () => lanes.forEach((one) => one.fit()),
    select,
    step: (by) => choose(active)(lanes[active].next(by)),
    spoken: () => [`Tick ${tick}.`, ...lanes.map((one, i) =>
      (beside ? `${names[i].order}, ${names[i].text}: ${one.spoken()}` : one.spoken()))].join(" "),
    show(now, locked) {
      tick = now;
      for (const one of lanes) one.show(tick, locked);
      if (!asked) point(telling());
      land();
    },
  };
}

/** The same pane of both futures beside each other or, where there is no room, below each other. */
function pairsOfPanes(left, right) {
  const others = right.parts();
  return h("div.dk-two", {}, ...left.parts().map((part, i) => h("div.dk-pair", {}, part, others[i])));
}

const futureHeading = (name, story) =>
  h("div.dk-future", {}, h("h4", { title: name.text }, nameTag(name), name.text), story);

/** "First" and "Second" are told by word and by shape. */
const nameTag = ({ order }) => h(`span.dk-tag.dk-${order.toLowerCase()}`, {}, order);

/** Which future a pane belongs to, to be seen and to be heard. */
function tagPane(section, name) {
  section.querySelector("h4").prepend(nameTag(name));
  section.setAttribute("aria-label", `${section.getAttribute("aria-label") || "Log"}, ${name.order}: ${name.text}`);
}

// ---------------------------------------------------------------------------------------------- the clock

/**
 * Where the player is and how it moves: `show` draws a tick, `settle` follows once at the end of each movement. While
 * it plays, a beat falls on an animation frame every `interval` ms; a late frame delays the rest, none is left out.
 */
function transport(start, end, { locked, show, settle }) {
  let [tick, interval, frame, due] = [clamp(start, 0, end), 500, 0, 0];
  const stop = () => {
    cancelAnimationFrame(frame);
    frame = 0;
  };
  const move = (to) => {
    tick = clamp(to, 0, end);
    show(tick, frame !== 0);
  };
  const seek = (to) => {
    if (locked()) return;
    stop();
    move(to);
    settle(tick);
  };
  const turn = (time) => {
    frame = requestAnimationFrame(turn);
    if (time < due - 4) return; // within a quarter of a frame is on time
    due = time - due > interval ? time + interval : due + interval;
    if (tick + 1 >= end) stop();
    move(tick + 1);
    if (!frame) settle(tick);
  };
  return {
    tick: () => tick,
    running: () => frame !== 0,
    pace: (ms) => { interval = ms; },
    stop,
    seek,
    go(to) {
      stop();
      move(to);
    },
    toggle() {
      if (locked() || frame) return seek(tick);
      due = performance.now() + interval;
      frame = requestAnimationFrame(turn);
      move(tick >= end ? 0 : tick);
    },
  };
}

// ---------------------------------------------------------------------------------------------- around the lanes

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

/** The prediction beside what happened. */
function feedback({ answer, because }, predicted) {
  const same = (a, b) => a.trim().toLowerCase() === b.trim().toLowerCase();
  const right = answer && same(predicted, answer);
  const judged = right ? "✓ As you predicted: " : "✗ Not as predicted. You said: ";
  return h(`p.dk-feedback${right ? ".dk-right" : ""}`, {}, h("b", {}, answer ? judged : "You predicted: "), predicted,
    ...(answer && !right ? [h("b", {}, " It was: "), answer] : []),
    ...(because ? [h("span.dk-because", {}, because)] : []));
}

/** After the end: the prediction, then both verdicts (on each future) and why they can differ. */
function verdictPanel(replays, beside, prediction, predicted) {
  const box = (title, good, word) => h(`div.dk-judge${word === "running" ? "" : good ? ".dk-good" : ".dk-bad"}`, {},
    h("span.dk-note", {}, title), h("b", {}, `${word === "running" ? "…" : good ? "✓" : "✗"} ${word}`));
  const ends = replays.map(({ last_tick, verdict: { run_state, good, any_failed, text } }, i) => h("div.dk-end", {},
    ...(beside ? [h("p", {}, h("b", {}, `${ORDER[i]}: ${beside.titles[i]}`), `, last change at tick ${last_tick}`)]
      : []),
    h("div.dk-judges", {}, box("Airflow's verdict on the run", good, run_state),
      box("Did some task fail?", !any_failed, any_failed ? "yes" : "no")), h("p", {}, text)));
  return h("div.dk-panel.dk-verdict", { role: "group", "aria-label": "Verdict" },
    ...(prediction && predicted ? [feedback(prediction, predicted)] : []), h("div.dk-ends", {}, ...ends));
}

/** Where two futures part, and what made the difference. */
function partingPanel({ tick, text }, seek) {
  const go = h("button.dk-small", { type: "button", onclick: () => seek(tick) }, `Go to tick ${tick}`);
  return h("div.dk-panel.dk-parting", {}, ...(tick === null ? [text] : [partingMark(), `${text} `, go]));
}

const partingMark = (props = {}) => h("span.dk-parted", { "aria-hidden": "true", ...props }, "◆");

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

/** The row of buttons, the scrubber (two futures part at `parted`) and the speed; `act` holds what they do. */
function controls(end, tickSeconds, parted, act) {
  const button = (name, label, key) => h("button.dk-tool", {
    type: "button", "aria-label": label, title: `${label} (${key})`, onclick: act[name] }, icon(name));
  const play = h("button.dk-primary.dk-play", { type: "button", title: "Play or pause (Space)", onclick: act.toggle });
  const scrub = h("input.dk-scrub", { type: "range", min: 0, max: end, step: 1, value: 0, "aria-label": "Tick",
    oninput: () => act.seek(Number(scrub.value)) });
  const mark = partingMark({ title: `They part at tick ${parted}`, style: `--dk-at:${parted / (end || 1)}` });
  const track = h("span.dk-scrubber", {}, scrub, ...(parted === null ? [] : [mark]));
  const count = h("output.dk-tick");
  const speed = h("select", { "aria-label": "Speed", onchange: () => act.speed(Number(speed.value)) });
  const help = h("button.dk-tool.dk-help-button", { type: "button", "aria-label": "Help", title: "Help (?)",
    "aria-expanded": "false", onclick: () => toggleHelp() }, "?");
  const panel = helpPanel();
  let before = null; // what had focus when help was opened; it gets it back
  const toggleHelp = () => {
    if (panel.hidden) before = document.activeElement;
    panel.hidden = !panel.hidden;
    help.setAttribute("aria-expanded", String(!panel.hidden));
    (panel.hidden ? before : panel)?.focus({ preventScroll: true });
  };
  const el = h("div.dk-controls", { role: "group", "aria-label": "Player controls" }, play,
    button("first", "First tick", "Home"), button("back", "One tick back", "←"), button("on", "One tick on", "→"),
    button("last", "Last tick", "End"), track, count, speed, help);
  return {
    el,
    help: panel,
    toggleHelp,
    /** Whether there was a help to close. */
    closeHelp: () => !panel.hidden && (toggleHelp(), true),
    lock(locked) {
      for (const part of el.querySelectorAll("button:not(.dk-help-button), input")) part.disabled = locked;
      mark.hidden = locked; // it tells what happens
    },
    speed(interval) {
      const all = [...new Set([...SPEEDS, interval])].sort((a, b) => b - a);
      const label = (ms) => `${plural(+(1000 / ms).toFixed(1), "tick")}/s`;
      speed.replaceChildren(...all.map((ms) => h("option", { value: ms, selected: ms === interval }, label(ms))));
    },
    show(tick, playing) {
      const seconds = tickSeconds === 1 ? "" : ` (${+(tick * tickSeconds).toFixed(3)} s)`;
      scrub.value = tick;
      scrub.setAttribute("aria-valuetext", `tick ${tick} of ${end}`);
      count.textContent = `tick ${tick} / ${end}${seconds}`;
      const word = playing ? "Pause" : tick >= end ? "Replay" : "Play";
      if (play.textContent !== word) play.replaceChildren(icon(playing ? "pause" : "play"), word);
    },
  };
}

/** Keys of the player. What has focus keeps the keys it needs itself, and no key reaches the page around. */
function listenToKeys(root, actions, close) {
  const leave = () => {
    if (close()) return;
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
  return h("div.dk-panel.dk-help", { hidden: true, tabindex: -1, role: "region", "aria-label": "Help" },
    h("p", {}, HELP), h("dl.dk-keys", {}, ...keys));
}

/** What this tick changes. `last` is the last tick at which something happens here, `end` that of the player. */
function storyLine(tick, last, end, { told, more }, locked) {
  if (!end) return ["Nothing ever happens here, so there is nothing to play."];
  const press = locked ? "Answer or skip, then press" : "Press";
  if (!tick) return [`${press} Play (or Space). Each tick is one pass of the scheduler.`];
  if (tick > last) return [`Tick ${tick}: nothing changes any more after tick ${last}.`];
  if (!told.length) return [`Tick ${tick}: nothing changes; time passes for what runs or waits.`];
  const parts = told.map(([label, states]) => h("span.dk-move", {}, h("b", {}, label), " ",
    ...states.flatMap((state, i) => (i ? [" → ", chip(state)] : [chip(state)]))));
  return [`Tick ${tick}: `, ...parts, ...(more ? [` and ${more} more`] : [])];
}

/** The same in plain words, for the live region. */
function spoken({ told, more }) {
  const parts = told.map(([label, states]) => `${label}: ${states.map(({ name }) => name).join(", then ")}`);
  return `${parts.join(". ") || "Nothing changes"}${more ? `. And ${more} more` : ""}.`;
}

/** A place that shows one of several things, each made when it is first wanted. */
function slot(make) {
  const el = h("div.dk-slot");
  return {
    el,
    show(wanted) {
      if (el.dataset.shows === wanted) return;
      el.dataset.shows = wanted;
      el.replaceChildren(...(wanted ? [make[wanted]()] : []));
    },
  };
}

/** Warnings; of two futures, those of one only say of which. */
function warningList(replays) {
  const texts = replays.flatMap(({ warnings }, i) => warnings.flatMap((text) => {
    const shared = replays.every((other) => other.warnings.includes(text));
    if (shared) return i ? [] : [text];
    return [`${ORDER[i]}: ${text}`];
  }));
  return h("ul.dk-warnings", { "aria-label": "Warnings" }, ...texts.map((text) => h("li", {}, `⚠ ${text}`)));
}

// ---------------------------------------------------------------------------------------------- the widget

/** The player's own element, with its title. */
function shell(replays, parts) {
  const each = (key) => [...new Set(replays.map((replay) => replay[key]))];
  const title = each("title").join(" and ");
  return h("div.dk-player", { tabindex: 0, role: "group", "data-lm-suppress-shortcuts": "true",
    "aria-label": `Tick player for ${title}. Press question mark for help.` }, stateStyle(replays[0].states),
  h("div.dk-title", {}, h("h3", {}, title), h("span.dk-note", {}, each("fidelity").join(" "))), ...parts);
}

/** Puts the player on the page and lets it follow the kernel; returns what takes it away again. */
function attach(model, el, root, move, view, relock) {
  const heard = {
    "change:tick": () => model.get("tick") !== move.tick() && move.go(model.get("tick")),
    "change:row": () => view.select(model.get("row")),
    "change:predicted": relock,
  };
  const sizes = new ResizeObserver(view.fit);
  relock(); // so that it says all from its first frame on
  el.append(root);
  sizes.observe(root);
  view.fit();
  relock(); // now that it knows its size, its lists scroll to where they belong
  if (model.get("row") >= 0) view.select(model.get("row"));
  for (const [name, listener] of Object.entries(heard)) model.on(name, listener);
  return () => {
    move.stop();
    sizes.disconnect();
    for (const [name, listener] of Object.entries(heard)) model.off(name, listener);
    root.remove();
  };
}

function render({ model, el }) {
  const [beside, prediction] = [model.get("beside"), model.get("prediction")];
  const replays = [model.get("replay"), ...(beside ? [beside.replay] : [])];
  const end = Math.max(...replays.map(({ last_tick }) => last_tick));
  const locked = () => Boolean(prediction) && model.get("predicted") === null;
  const sync = (key, value) => {
    model.set(key, value);
    model.save_changes();
  };
  const live = h("div.dk-sr", { "aria-live": "polite" });
  const say = () => { live.textContent = view.spoken(); };
  const move = transport(model.get("tick") || 0, end, {
    locked,
    show(tick, playing) {
      root.dataset.tick = tick;
      bar.show(tick, playing);
      panel.show(locked() ? "question" : tick === end ? "verdict" : "");
      view.show(tick, locked()); // last, because it scrolls
    },
    settle(tick) { // tell the kernel and the listener once
      sync("tick", tick);
      say();
    },
  });
  const commit = (answer) => {
    sync("predicted", answer);
    root.focus({ preventScroll: true });
  };
  const panel = slot({ question: () => questionPanel(prediction, commit),
    verdict: () => verdictPanel(replays, beside, prediction, model.get("predicted")) });
  const speed = (ms) => {
    move.pace(ms);
    root.style.setProperty("--dk-fade", ms < 200 ? "0s" : "60ms");
  };
  const actions = { toggle: move.toggle, first: () => move.seek(0), back: () => move.seek(move.tick() - 1),
    on: () => move.seek(move.tick() + 1), last: () => move.seek(end) };
  const bar = controls(end, replays[0].tick_seconds, beside?.tick ?? null, { ...actions, seek: move.seek, speed });
  const view = stage(replays, beside, end, { seek: move.seek, onselect(row) {
    sync("row", row);
    if (!move.running()) say();
  } });
  const spoilers = [...(beside ? [partingPanel(beside, move.seek)] : []), warningList(replays)];
  const top = h("div.dk-top", {}, bar.el, bar.help, view.story); // stays in sight
  const root = shell(replays, [top, panel.el, ...spoilers, view.el, live]);
  root.querySelector(".dk-task").append(readAloud(view.spoken));
  listenToKeys(root, { " ": actions.toggle, "?": bar.toggleHelp, Home: actions.first, End: actions.last,
    ArrowLeft: actions.back, ArrowRight: actions.on, ArrowUp: () => view.step(-1), ArrowDown: () => view.step(1) },
  bar.closeHelp);
  const relock = () => {
    for (const spoiler of spoilers) spoiler.hidden = locked() || !spoiler.hasChildNodes(); // they may tell how it ends
    bar.lock(locked() || !end);
    move.go(move.tick());
  };
  const interval = model.get("interval") || 500;
  bar.speed(interval);
  speed(interval);
  return attach(model, el, root, move, view, relock);
}

export default { render };
