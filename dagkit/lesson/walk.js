// The decision chart as a walk. The questions come from the kernel as data; an answer opens the next one.
// Native radio buttons: the arrow keys choose, Tab goes on. The recommendation is worked out in the kernel.

let count = 0;

function render({ model, el }) {
  const steps = model.get("steps");
  const group = `dl-walk-${++count}`;
  const result = h("div", { role: "status", "aria-live": "polite" });
  const boxes = new Map(steps.map((step) => [step.name, question(step)]));
  const works = h("select", { onchange: (event) => { model.set("workload", event.target.value); model.save_changes(); } },
    ...model.get("works").map((name) => h("option", { value: name }, name)));
  works.value = model.get("workload");
  const root = h("div.dl-lesson.dl-live.dl-walk", {}, h("p", {}, model.get("before")),
    h("label", {}, h("span", {}, "Work to try it on"), works), ...boxes.values(), result);

  function question(step) {
    const choice = (word, value) => h("label", {}, h("input", { type: "radio", name: `${group}-${step.name}`, value: word,
      "data-lm-suppress-shortcuts": "true", onchange: () => answer(step.name, value) }), word);
    return h("fieldset.dl-q", { "data-step": step.name }, h("legend", {}, `${step.number}. ${step.asks}`),
      h("p.dl-note", {}, step.why), choice("yes", true), choice("no", false));
  }

  function answer(name, value) {
    const given = { ...model.get("answers"), [name]: value };
    model.set("answers", Object.fromEntries(way(given).filter((n) => n in given).map((n) => [n, given[n]])));
    model.save_changes();
    show();
  }

  /** The questions on the way: all that are answered, and the one that is open. */
  function way(given) {
    const found = [];
    for (let step = steps[0]; step; step = steps.find((s) => s.name === (given[step.name] ? step.yes : step.no))) {
      found.push(step.name);
      if (!(step.name in given)) break;
    }
    return found;
  }

  function show() {
    const given = model.get("answers");
    const open = way(given);
    for (const [name, box] of boxes) {
      box.hidden = !open.includes(name);
      for (const input of box.querySelectorAll("input")) input.checked = name in given && (input.value === "yes") === given[name];
    }
  }

  function told() { result.innerHTML = model.get("result"); }   // written by the kit itself, every text in it escaped

  works.setAttribute("data-lm-suppress-shortcuts", "true");
  model.on("change:result", told);
  model.on("change:answers", show);
  show();
  told();
  el.append(root);
  return () => { model.off("change:result", told); model.off("change:answers", show); };
}

export default { render };
