// Two schedulers, moved step by step. No rules here: every moment and what can follow it came from Python.

const WHO = ["A", "B"];
let count = 0;

function render({ model, el }) {
  const id = `dc-${++count}`;
  const book = model.get("book");
  const play = () => book[model.get("strategy")][model.get("row_locks") ? "locks" : "none"];
  const root = h("div.dc-steps.dc-live", {
    tabindex: 0, role: "group", "aria-label": "Two schedulers, step by step", "data-lm-suppress-shortcuts": "true", onkeydown: key,
  });

  const choice = h("select", { id: `${id}-how`, onchange: () => begin({ strategy: choice.value }) },
    ...Object.entries(book).map(([name, { label }]) => h("option", { value: name }, label)));
  const locks = h("input", { type: "checkbox", onchange: () => begin({ row_locks: locks.checked }) });
  const sides = WHO.map((who) => {
    const go = h("button.dc-go", { type: "button", onclick: () => step(who) });
    const list = h("ol.dc-program");
    return { go, list, box: h("section.dc-side", { "aria-label": `Scheduler ${who}` },
      h("h4", {}, `scheduler ${who}`), list, go) };
  });
  const rows = h("div.dc-rows");
  const executor = h("div.dc-executor");
  const said = h("p.dc-said", { role: "status" });
  const back = h("button", { type: "button", onclick: undo }, "Back");
  const again = h("button", { type: "button", onclick: () => set("") }, "Start again");
  const show = h("button", { type: "button", onclick: () => set(model.get("order") + nextOfExample()) });
  const all = h("p.dc-all");
  const log = h("ol.dc-log");
  root.append(
    h("div.dc-bar", {}, h("label", { for: choice.id }, "Strategy "), choice,
      h("label.dc-check", {}, locks, "the database takes row locks")),
    h("div.dc-stage", {}, sides[0].box,
      h("section.dc-db", { "aria-label": "Database" }, h("h4", {}, "database"), rows, h("h4", {}, "executor"), executor),
      sides[1].box),
    said,
    h("div.dc-bar", {}, back, again, show),
    h("p.dc-hint", {}, "Keys: ← moves A, → moves B, Backspace goes back, Home starts again."),
    all,
    h("details.dc-told", {}, h("summary", {}, "The steps so far"), log));
  for (const one of root.querySelectorAll("button, select, input, summary")) one.setAttribute("data-lm-suppress-shortcuts", "true");

  function walk(order) {
    const graph = play();
    const told = [];
    let now = graph.moments[0];
    for (const who of order) {
      const way = now.next[who];
      if (!way) break;
      told.push([who, way[1]]);
      now = graph.moments[way[0]];
    }
    return { now, told };
  }

  function set(order) {
    model.set("order", order);
    model.save_changes();
    draw();
  }
  function begin(change) {
    for (const [name, value] of Object.entries(change)) model.set(name, value);
    set("");
  }
  function step(who) { if (walk(model.get("order")).now.next[who]) set(model.get("order") + who); }
  function undo() { set(model.get("order").slice(0, -1)); }
  /** The next step of the example; the first one, if something else was done before. */
  function nextOfExample() {
    const { example } = play();
    const order = model.get("order");
    return example.startsWith(order) ? example.slice(order.length, order.length + 1) : "";
  }

  function key(event) {
    if (["SELECT", "INPUT"].includes(event.target.tagName)) return;
    const act = { ArrowLeft: () => step("A"), ArrowRight: () => step("B"), Backspace: undo, Home: () => set("") }[event.key];
    if (!act) return;
    event.preventDefault();
    event.stopPropagation();
    act();
  }

  function draw() {
    const graph = play();
    const { now, told } = walk(model.get("order"));
    const focused = root.contains(document.activeElement) ? document.activeElement : null;
    choice.value = model.get("strategy");
    locks.checked = model.get("row_locks");
    root.dataset.order = model.get("order");
    sides.forEach((side, k) => drawSide(side, WHO[k], now, graph));
    rows.replaceChildren(...now.rows.map((state, row) => drawRow(now, state, row)),
      ...(graph.steps[0][0] === "turn" && locks.checked
        ? [h("p.dc-turn", {}, `advisory lock: ${now.turn === null ? "free" : `held by ${WHO[now.turn]}`}`)] : []));
    drawExecutor(now);
    const last = told.at(-1);
    const over = !Object.keys(now.next).length;
    said.textContent = last ? `${last[0]} ${last[1]}.${over ? " Both are through." : ""}`
      : "Move a scheduler. You choose who goes next; that is the interleaving.";
    said.classList.toggle("dc-twice", Boolean(last) && last[1].includes("TWICE"));
    back.disabled = again.disabled = !told.length;
    show.textContent = graph.doubles ? "Next step of a bad order" : "Next step, in turns";
    show.disabled = !nextOfExample();
    all.textContent = graph.doubles ? `Of ${graph.orders} possible orders ${graph.doubles} start a task twice.`
      : `There are ${graph.orders} possible orders. None of them starts a task twice.`;
    log.replaceChildren(...told.map(([who, text]) => h("li", {}, `${who} ${text}`)));
    if (focused?.disabled) root.focus();               // a button that cannot be pressed any more gives the focus back
  }

  function drawSide({ go, list }, who, now, graph) {
    const [at, over, waits] = now.sides[WHO.indexOf(who)];
    list.replaceChildren(...graph.steps.map(([name, sql], k) => {
      const current = k === at && !over;
      const state = over && over !== "done" && k === at ? "stop" : k < at || over === "done" ? "done" : current ? (waits === null ? "now" : "wait") : "later";
      const mark = { done: "✓", now: "▸", wait: "‖", later: "·", stop: "✕" }[state];
      return h(`li.dc-${state}`, { "aria-current": current ? "step" : undefined },
        h("span.dc-mark", { "aria-hidden": true }, mark), h("span", {}, h("b", {}, name), h("code", {}, sql)));
    }));
    const can = Boolean(now.next[who]);
    go.disabled = !can;
    go.textContent = over ? `${who}: ${over}` : can ? `${who}: ${waits === null ? graph.steps[at][0] : "go on"}`
      : `${who} waits for row ${waits + 1}`;
  }

  function drawRow(now, state, row) {
    const held = now.held[row];
    const changed = now.changed[row];
    return h(`div.dc-row${held === null ? "" : ".dc-held"}`, {},
      h("b", {}, `row ${row + 1}`), h(`span.dc-state.dc-${state}`, {}, state),
      h("span.dc-lock", {}, held === null ? "free" : `held by ${WHO[held]}`),
      ...(changed === null ? [] : [h("span.dc-dirty", {}, `${WHO[changed]} wrote “queued”, not committed`)]));
  }

  function drawExecutor(now) {
    const lines = now.handed.flatMap((by, row) => by.length
      ? [h(`p${by.length > 1 ? ".dc-twice" : ""}`, {}, `row ${row + 1} from ${by.map((k) => WHO[k]).join(" and from ")}${by.length > 1 ? ": runs TWICE" : ""}`)] : []);
    executor.replaceChildren(...(lines.length ? lines : [h("p.dc-empty", {}, "nothing handed over yet")]));
  }

  const listeners = ["strategy", "row_locks", "order"].map((name) => `change:${name}`);
  for (const name of listeners) model.on(name, draw);
  draw();
  el.append(root);
  return () => { for (const name of listeners) model.off(name, draw); };
}

export default { render };
