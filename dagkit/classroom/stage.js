// A demo on stage: the question, then one prepared situation per key. Each is drawn by a module of its own (player,
// steps, walk), which gets a model that lives here. Keys: 0 the question, 1 to 9, A answer, F full screen, + and -.

/** A model for one situation: it keeps what is done there, and nothing leaves it. */
function standIn(state) {
  const listeners = new Map();
  return {
    get: (key) => state[key],
    set(key, value) {
      if (state[key] === value) return;
      state[key] = value;
      for (const listener of [...(listeners.get(`change:${key}`) || [])]) listener();
    },
    on: (name, one) => listeners.set(name, [...(listeners.get(name) || []), one]),
    off: (name, one) => listeners.set(name, (listeners.get(name) || []).filter((other) => other !== one)),
    save_changes() {},
    send() {},
  };
}

const SIZES = [0.8, 2.4];

function render({ model, el }) {
  const draw = { player, steps, walk };
  const situations = model.get("situations");
  const ask = model.get("ask");
  const hands = ask.choices.map(() => 0);
  let answered = false, cleanup = null, size = model.get("size");

  const root = h("div.ds-room", { tabindex: 0, role: "group", "aria-label": model.get("title"), "data-lm-suppress-shortcuts": "true" });
  const tabs = ["Question", ...situations.map((one) => one.title)].map((title, n) =>
    h("button.ds-tab", { type: "button", onclick: () => go(n) }, h("kbd", {}, String(n)), title));
  const tool = (key, text, label, act) => h("button.ds-tool", { type: "button", "aria-label": label, title: `${label} (${key})`, onclick: act }, text);
  const full = tool("F", "Full screen", "Full screen", fullscreen);
  const watch = h("p.ds-watch", { role: "status" });
  const mount = h("div.ds-mount");
  root.append(
    h("div.ds-head", {}, h("h2", {}, model.get("title")),
      tool("-", "A−", "Smaller", () => resize(-0.15)), tool("+", "A+", "Larger", () => resize(0.15)),
      ...(root.requestFullscreen ? [full] : [])),
    h("nav.ds-tabs", { "aria-label": "Situations" }, ...tabs), watch, mount,
    h("p.ds-keys", {}, `Keys: 0 the question, 1 to ${situations.length} the situations, S the answer, F full screen, + and − the size. This is a model of Airflow 3; what it simplifies is in docs/fidelity.md.`));
  for (const one of root.querySelectorAll("button")) one.setAttribute("data-lm-suppress-shortcuts", "true");

  function question() {
    watch.hidden = true;
    const list = h("ol.ds-choices", {}, ...ask.choices.map((choice, n) => {
      const count = h("span.ds-hands", {}, told(n));
      const letter = String.fromCharCode(65 + n);
      const button = h("button.ds-choice", { type: "button", "data-lm-suppress-shortcuts": "true",
        "aria-label": `${letter}: ${choice.say}. One more hand`,
        onclick: () => { hands[n] += 1; count.textContent = told(n); } },
      h("b", {}, letter), h("span.ds-say", {}, choice.say), count);
      const reply = h(`p.ds-reply${choice.right ? ".ds-right" : ".ds-wrong"}`, {},
        h("b", {}, choice.right ? "✓ Yes. " : "✗ Not so. "), choice.reply);
      reply.hidden = !answered;
      return h("li", {}, button, reply);
    }));
    const show = h("button.ds-show", { type: "button", "data-lm-suppress-shortcuts": "true", onclick: answer },
      h("kbd", {}, "S"), answered ? "Hide the answer" : "Show the answer");
    mount.replaceChildren(h("div.ds-ask", {}, h("p.ds-text", {}, ask.text), list, show));
  }
  function told(n) { return hands[n] ? `${hands[n]} ${hands[n] === 1 ? "hand" : "hands"}` : ""; }
  function answer() {
    answered = model.get("now") === 0 ? !answered : true;
    go(0);
  }

  function go(n) {
    if (!(n >= 0 && n <= situations.length)) return;
    if (model.get("now") !== n) {
      model.set("now", n);
      model.save_changes();
    }
    open(n);
    const inside = n ? mount.querySelector("[tabindex='0']") : null;
    (inside || root).focus({ preventScroll: true });     // arrow keys act on what is shown at once
  }

  /** Draw a situation afresh, as it was prepared: whoever got lost presses its key again. */
  function open(n) {
    cleanup?.();
    cleanup = null;
    root.dataset.now = n;
    tabs.forEach((tab, k) => tab.setAttribute("aria-pressed", String(k === n)));
    if (!n) return question();
    const { watch: what, kind, state } = situations[n - 1];
    watch.hidden = false;
    watch.textContent = what;
    mount.replaceChildren();
    cleanup = draw[kind].render({ model: standIn({ ...model.get("shared"), ...state }), el: mount });
  }

  function resize(by) {
    size = Math.min(SIZES[1], Math.max(SIZES[0], size + by));
    root.style.setProperty("--ds-size", size.toFixed(2));
  }
  function fullscreen() {
    if (document.fullscreenElement) document.exitFullscreen();
    else root.requestFullscreen?.();
  }

  // Before whatever is inside: it keeps its own keys, and no key reaches the page around.
  root.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.tagName === "SELECT") return;
    const key = event.key.toLowerCase();
    const act = /^[0-9]$/.test(key) ? () => go(Number(key))
      : { s: answer, f: fullscreen, "+": () => resize(0.15), "=": () => resize(0.15), "-": () => resize(-0.15) }[key];
    if (!act) return;
    event.preventDefault();
    event.stopPropagation();
    act();
  }, true);
  root.addEventListener("keydown", (event) => event.stopPropagation());

  const heard = () => String(model.get("now")) !== root.dataset.now && open(model.get("now"));
  model.on("change:now", heard);
  resize(0);
  el.append(root);
  open(model.get("now"));
  return () => {
    model.off("change:now", heard);
    cleanup?.();
  };
}

export default { render };
