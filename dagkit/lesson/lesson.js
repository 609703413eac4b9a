// Makes a lesson page livelier; the page works without it. Three things, each found by its class:
//   .dl-q     a question: commit to a choice (or skip) before the reply is shown
//   .dl-map   a diagram: choose a part or an arrow, by mouse or keyboard
//   data-speak  a text to be read aloud, where the browser can speak

const SURE = ["a guess", "fairly sure", "certain"];
let count = 0;

/** One radio button per choice. */
function radios(legend, name, choices, changed) {
  return h("fieldset", {}, h("legend", { hidden: true }, legend), ...choices.map(({ value, label }) =>
    h("label", {}, h("input", { type: "radio", name, value, onchange: changed }), label)));
}

function question(section, answered) {
  const name = `dl-lesson-${++count}`;
  const withReplies = section.dataset.answers === "1";
  const choices = [...section.querySelectorAll(".dl-choice")];
  const reveal = section.querySelector(".dl-reveal");
  const value = (choice) => choice.dataset.value;
  const words = (choice) => (choice.querySelector("summary") ?? choice).textContent.replace(/^○ /, "");
  const options = radios("Your answer", name, choices.map((c) => ({ value: value(c), label: words(c) })), ready);
  const sure = radios("How sure are you?", `${name}-sure`, SURE.map((s) => ({ value: s, label: s })), () => {});
  sure.classList.add("dl-row");
  sure.prepend(h("span", { "aria-hidden": true }, "How sure?"));
  const commit = h("button.dl-primary", { type: "submit", disabled: true, title: "Choose an answer first" }, withReplies ? "Commit to it" : "Keep my answer");
  const skip = h("button", { type: "button", onclick: () => answer(null) }, "Skip");
  const reply = h("div", { role: "status" });
  const form = h("form", { onsubmit: (event) => { event.preventDefault(); answer(checked(options)); } },
    options, sure, h("div.dl-row", {}, commit, skip));
  for (const choice of choices) choice.remove();
  if (reveal) reveal.hidden = true;
  section.querySelector(".dl-choices").append(form, reply);

  function checked(group) { return group.querySelector("input:checked")?.value ?? null; }
  function ready() { commit.disabled = false; commit.title = ""; }

  function answer(choice) {
    const how = checked(sure);
    for (const control of form.querySelectorAll("input, button")) control.disabled = true;
    commit.hidden = skip.hidden = true;
    for (const mine of form.querySelectorAll("input:checked")) {
      mine.parentElement.classList.add("dl-mine");
      if (options.contains(mine)) mine.parentElement.append(h("span.dl-note", {}, " (your answer)"));
    }
    if (choice !== null) answered(section.dataset.name, { choice, sure: how });
    if (!withReplies) reply.append(h("p.dl-note", {}, choice === null ? "Skipped." : "Kept. It comes back at the end."));
    else tell(choice, how);
  }

  function tell(choice, how) {
    const right = choices.find((c) => c.dataset.right === "1");
    const taken = choices.find((c) => value(c) === choice);
    if (taken) reply.append(...taken.querySelectorAll("p"));
    if (taken !== right) {                             // the reply to the right choice, without its "Yes."
      const why = [...right.querySelectorAll("p")];
      const yes = why[0]?.querySelector("b");
      if (yes) yes.textContent = "Because:";
      reply.append(h("p", {}, h("b", {}, "It is: "), words(right)), ...why);
    }
    if (how === "certain" && taken !== right) reply.append(h("p.dl-note", {},
      "You were certain. That is the best kind of mistake to find here: say to yourself what made it look right."));
    if (how === "a guess" && taken === right) reply.append(h("p.dl-note", {},
      "Right by a guess: read the reason once more, then it is knowledge."));
    if (section.dataset.before && choice !== null) reply.append(h("p.dl-note", {},
      `Before the lesson you said: ${section.dataset.before}`));
    if (reveal) {
      reveal.hidden = false;
      reveal.open = true;
      reveal.querySelector("summary").textContent = "What happens";
    }
  }
}

function map(section) {
  const parts = [...section.querySelectorAll(".dl-part")];
  const told = section.querySelector(".dl-told");
  const svg = section.querySelector("svg");
  const nodes = [...svg.querySelectorAll(".dk-node")];
  const nameOf = (node) => node.querySelector("title").textContent;
  const byId = new Map(nodes.map((node) => [node.id, nameOf(node)]));
  const stops = [];                                    // what the arrow keys walk through: parts, then arrows
  svg.setAttribute("role", "group");
  told.hidden = false;
  told.append(h("p.dl-note", {}, "Choose a box: why it exists. Choose an arrow: what passes, and what if it breaks. ",
    "With the keyboard: Tab to the diagram, then the arrow keys."));

  for (const node of nodes) {
    const part = parts.find((p) => p.dataset.part === nameOf(node));
    stops.push({ el: node, mark: node, part, label: `Part ${nameOf(node)}` });
  }
  for (const edge of svg.querySelectorAll(".dk-edge")) {
    const [from, to] = [byId.get(edge.dataset.from), byId.get(edge.dataset.to)];
    const part = parts.find((p) => p.dataset.from === from && p.dataset.to === to);
    if (!part) continue;
    const hit = edge.cloneNode();                      // a wider line to hit
    hit.removeAttribute("id");
    hit.setAttribute("class", "dl-hit");
    svg.insertBefore(hit, nodes[0] ?? null);
    stops.push({ el: hit, mark: edge, part, label: `Arrow from ${from} to ${to}` });
  }
  stops.forEach((stop, at) => {
    stop.el.setAttribute("tabindex", at ? -1 : 0);
    stop.el.setAttribute("role", "button");
    stop.el.setAttribute("aria-label", stop.label);
    stop.el.addEventListener("click", () => choose(at));
    stop.el.addEventListener("keydown", (event) => key(event, at));
  });

  function choose(at) {
    stops.forEach((stop, k) => {
      stop.mark.classList.toggle("dl-chosen", k === at);
      const line = stop.mark.querySelector(".dk-box") ?? stop.mark;   // the drawing's own style beats a class
      line.style.stroke = k === at ? "var(--dl-accent)" : "";
      line.style.strokeWidth = k === at ? "3.5px" : "";
      stop.el.setAttribute("tabindex", k === at ? 0 : -1);
      stop.el.setAttribute("aria-pressed", k === at);
    });
    const { part } = stops[at];
    told.replaceChildren(h("p", {}, ...part.querySelector("summary").cloneNode(true).childNodes),
      ...[...part.querySelectorAll("p")].map((p) => p.cloneNode(true)));
  }

  function key(event, at) {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    const to = event.key === "Home" ? 0 : event.key === "End" ? stops.length - 1
      : event.key === "Enter" || event.key === " " ? at : step && (at + step + stops.length) % stops.length;
    if (to === undefined) return;
    event.preventDefault();
    choose(to);
    stops[to].el.focus();
  }
}

function speak(section) {
  if (!("speechSynthesis" in window)) return;
  const button = h("button", { type: "button", onclick: () => {
    const speaking = speechSynthesis.speaking;
    speechSynthesis.cancel();
    if (!speaking) speechSynthesis.speak(new SpeechSynthesisUtterance(section.dataset.speak));
  } }, "Read aloud");
  section.prepend(button);
}

function render({ model, el }) {
  const root = h("div.dl-lesson.dl-live");
  root.innerHTML = model.get("html");                  // written by the kit itself, every text in it escaped
  const answered = (name, given) => {
    model.set("answers", { ...model.get("answers"), [name]: given });
    model.save_changes();
  };
  for (const section of root.querySelectorAll(".dl-q")) question(section, answered);
  for (const section of root.querySelectorAll(".dl-map")) map(section);
  for (const section of root.querySelectorAll("[data-speak]")) speak(section);
  // JupyterLab asks the focused element itself whether its letter keys are shortcuts.
  for (const one of root.querySelectorAll("summary, button, input, [tabindex]"))
    one.setAttribute("data-lm-suppress-shortcuts", "true");
  el.append(root);
  return () => globalThis.speechSynthesis?.cancel();
}

export default { render };
