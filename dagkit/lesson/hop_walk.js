// A walk through a story: the picture up to a step, and the step in words. All rules are in Python; what is chosen
// goes there, and the story comes back. Keys: arrows, Home, End.

const calm = () => globalThis.matchMedia?.("(prefers-reduced-motion: reduce)").matches;

function render({ model, el }) {
  const story = () => model.get("shown");
  const last = () => story().steps.length - 1;
  let at = Math.min(model.get("step"), last());

  const choose = h("select", { onchange: () => put("case", choose.value) },
    ...model.get("cases").map((name) => h("option", { value: name }, name)));
  const box = (trait, text) => {
    const input = h("input", { type: "checkbox", onchange: () => put(trait, input.checked) });
    return [input, h("label", {}, input, text)];
  };
  const [fallback, fallbackLabel] = box("fallback", "fallback scans");
  const [guards, guardsLabel] = box("guards", "guarded writes");
  const button = (text, go) => h("button", { type: "button", onclick: () => show(go()) }, text);
  const first = button("First", () => 0), back = button("Back", () => at - 1);
  const next = button("Next", () => at + 1), end = button("Last", () => last());
  next.classList.add("dl-primary");
  const count = h("span.dl-count");
  const told = h("p"), verdict = h("p.dl-verdict");
  const picture = h("div.dl-picture", { tabindex: "-1" });
  const where = h("div.dl-where", { role: "status" });
  const root = h("div.dl-lesson.dl-live.dl-walk", { tabindex: "0", role: "group", onkeydown: key,
    "aria-label": "A walk through a story. Arrow keys go from step to step, Home and End to the first and the last.",
    "data-lm-suppress-shortcuts": "true" },
  h("div.dl-row", {}, h("label", {}, "What goes wrong", choose), fallbackLabel, guardsLabel),
  told, picture, h("div.dl-row", {}, first, back, next, end, count), where, verdict);
  for (const one of root.querySelectorAll("select, button, input")) one.setAttribute("data-lm-suppress-shortcuts", "true");

  function put(trait, value) {
    model.set(trait, value);
    model.save_changes();
  }

  function key(event) {
    if (event.target === choose) return;
    const to = { ArrowRight: at + 1, ArrowDown: at + 1, ArrowLeft: at - 1, ArrowUp: at - 1, Home: 0, End: last() }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    show(to);
  }

  /** The story came anew: draw it from its first step. */
  function tell() {
    choose.value = model.get("case");
    fallback.checked = model.get("fallback");
    guards.checked = model.get("guards");
    told.replaceChildren(h("b", {}, story().happens), ` ${story().then}`);
    picture.innerHTML = story().svg;                 // written by the kit itself, every text in it escaped
    for (const step of picture.querySelectorAll(".dk-step"))
      step.addEventListener("click", () => show(Number(step.dataset.k)));
    show(0);
  }

  function show(to) {
    at = Math.max(0, Math.min(to, last()));
    root.dataset.step = at;
    for (const step of picture.querySelectorAll(".dk-step")) {
      const k = Number(step.dataset.k);
      step.classList.toggle("dk-now", k === at);
      step.classList.toggle("dk-later", k > at);
    }
    const [ms, who, target, what, why, rows] = story().steps[at];
    where.replaceChildren(h("p", {}, h("b", {}, `${ms} · ${who}${target ? ` → ${target}` : ""}: ${what}`)), h("p", {}, why),
      h("p.dl-note", {}, rows ? `In the database: ${rows}.` : "The database knows nothing yet."));
    count.textContent = `step ${at + 1} of ${last() + 1}`;
    first.disabled = back.disabled = at === 0;
    next.disabled = end.disabled = at === last();
    verdict.hidden = at !== last();
    verdict.className = `dl-verdict ${story().bad ? "dl-bad" : "dl-good"}`;
    verdict.textContent = `${story().bad ? "✗" : "✓"} ${story().verdict}`;
    const row = picture.querySelector(".dk-now");
    if (row) {
      const seen = picture.getBoundingClientRect(), box = row.getBoundingClientRect();
      if (box.bottom > seen.bottom - 30 || box.top < seen.top + 30)
        picture.scrollBy({ top: box.top - seen.top - seen.height / 2, behavior: calm() ? "auto" : "smooth" });
    }
  }

  model.on("change:shown", tell);
  tell();
  el.append(root);
  return () => model.off("change:shown", tell);
}

export default { render };
