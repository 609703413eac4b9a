// A task's journey on the map: one step at a time, by button or arrow key. The static twin is a table.

function render({ model, el }) {
  const steps = model.get("steps");
  const drawing = h("div.dl-map");
  drawing.innerHTML = model.get("html");               // written by the kit itself, every text in it escaped
  const nodes = [...drawing.querySelectorAll(".dk-node")];
  const nameOf = (node) => node.querySelector("title").textContent;
  const told = h("div.dl-told", { role: "status" });
  const back = h("button", { type: "button", onclick: () => go(model.get("at") - 1) }, "Back");
  const next = h("button.dl-primary", { type: "button", onclick: () => go(model.get("at") + 1) }, "Next step");
  const where = h("span");
  const root = h("div.dl-lesson.dl-live.dl-journey", { tabindex: "0", role: "group",
    "aria-label": "A task's journey. Arrow keys step.", onkeydown: key },
  drawing, h("div.dl-row", {}, back, next, where), told);

  root.style.outlineOffset = "-2px";                   // a cell's output cuts off what lies outside
  root.style.padding = "4px";

  function go(to) {
    model.set("at", Math.max(0, Math.min(steps.length - 1, to)));
    model.save_changes();
  }

  function key(event) {
    const at = model.get("at");
    const to = { ArrowRight: at + 1, ArrowDown: at + 1, ArrowLeft: at - 1, ArrowUp: at - 1, Home: 0,
      End: steps.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    go(to);
  }

  function show() {
    const at = model.get("at");
    const step = steps[at];
    for (const node of nodes) {
      const chosen = nameOf(node) === step.component;
      node.classList.toggle("dl-chosen", chosen);
      const box = node.querySelector(".dk-box");       // the drawing's own style is stronger than a class
      box.style.stroke = chosen ? "var(--dl-accent)" : "";
      box.style.strokeWidth = chosen ? "4px" : "";
      box.style.fill = chosen ? "var(--dl-accent)" : "";
      box.style.fillOpacity = chosen ? ".22" : "";
      node.querySelector("text").style.fontWeight = chosen ? "700" : "";   // not by colour alone
    }
    back.disabled = at === 0;
    next.disabled = at === steps.length - 1;
    where.textContent = ` Step ${at + 1} of ${steps.length}`;
    told.replaceChildren(h("p", {}, h("b", {}, step.component), ": ", step.does),
      h("p", {}, h("b", {}, "Row: "), step.row), h("p", {}, h("b", {}, "State of the task instance: "), step.state));
  }

  model.on("change:at", show);
  el.replaceChildren(root);
  show();
  return () => model.off("change:at", show);
}

export default { render };
