// You are the scheduler. Python holds the rules: it is told what was picked, and says what became of it.
// `svg`, `bars`, `score` and `said` were written by the kit, every text in them escaped.

function made(html, tag = "div", props = {}) {
  const el = h(tag, props);
  el.innerHTML = html;
  return el;
}

function render({ model, el }) {
  const root = h("div.dl-lesson.dp-board", { role: "group", "aria-label": "You are the scheduler", tabindex: 0 });
  const send = (act, more = {}) => model.send({ do: act, ...more });
  const body = h("div"), said = h("div.dp-said"), live = h("div.dp-live", { "aria-live": "polite" });
  root.append(body, live);

  function task(one, k) {
    const open = one.state === "none" || one.state === "scheduled";
    const state = h("span.dp-chip", { style: `background:${one.fill};color:${one.ink}` }, `${one.badge} ${one.state}`);
    const words = `${one.label}, takes ${one.takes}${one.after ? `, after ${one.after}` : ""}${one.pool ? `, pool ${one.pool}` : ""}, ${one.state}`
      + (open && !one.why ? ", may be queued" : "");
    return h(`button.dp-task${open && !one.why ? ".dp-ready" : ""}`, { type: "button", "aria-label": words,
      title: one.why && open ? one.why : "", onclick: () => send("queue", { task: k }) },
    h("b", {}, one.label), h("span", {}, `takes ${one.takes}`),
    one.after ? h("span.dl-note", {}, `after ${one.after}`) : "", one.pool ? h("span.dp-pool", {}, `pool ${one.pool}`) : "",
    state, one.until === null ? "" : h("span.dl-note", {}, `until ${one.until}`));
  }

  function draw() {
    const board = model.get("board");
    const focused = root.contains(document.activeElement) ? [...root.querySelectorAll("button")].indexOf(document.activeElement) : -2;
    const filled = "■".repeat(board.used) + "□".repeat(Math.max(0, board.slots - board.used));
    body.replaceChildren(
      h("p.dl-note", {}, `${board.how} ${board.limits}`),
      h("div.dp-head", {}, h("b.dp-tick", {}, `Tick ${board.tick}`),
        h("span", { role: "img", "aria-label": `${board.used} of ${board.slots} slots taken` }, `slots ${filled}`),
        h("button.dl-primary.dp-go", { type: "button", disabled: board.over, onclick: () => send("go") }, "Next tick →"),
        h("button", { type: "button", onclick: () => send("again") }, "Start again"),
        h("span.dl-note", {}, "Keys: a task's letter queues it, Enter goes on")),
      h("div.dp-table", {}, made(board.svg, "div", { class: "dl-scroll dp-graph" }),
        h("div.dp-tasks", { role: "group", "aria-label": "Tasks: pick what to queue" }, ...board.tasks.map(task))),
      said, made(board.score), made(board.bars));
    said.innerHTML = model.get("said");
    for (const one of [root, ...root.querySelectorAll("button, summary")]) one.setAttribute("data-lm-suppress-shortcuts", "true");
    if (focused >= 0) (root.querySelectorAll("button")[focused] ?? root).focus();
    else if (focused === -1) root.focus({ preventScroll: true });
  }

  root.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const k = model.get("board").tasks.findIndex((one) => one.label === event.key);
    if (k >= 0) send("queue", { task: k });
    else if (event.key === "Enter" && !event.target.matches("button, summary")) send("go");
    else return;
    event.preventDefault();
  });

  const speak = () => { said.innerHTML = model.get("said"); live.textContent = said.textContent; };
  model.on("change:board", draw);
  model.on("change:said", speak);
  draw();
  el.append(root);
  return () => {
    model.off("change:board", draw);
    model.off("change:said", speak);
  };
}

export default { render };
