// Questions one at a time. Python holds the answers: it is told what was committed to, and says the verdict.
// Everything in `deck`, `replies` and `report` that is HTML was written by the kit, every text in it escaped.

const SURE = ["a guess", "fairly sure", "certain"];
const MARKS = { right: "✓", wrong: "✗", seen: "•", open: "" };
let count = 0;

/** A box for HTML that the kit has made. */
function made(html, tag = "div", props = {}) {
  const el = h(tag, props);
  el.innerHTML = html;
  return el;
}

function radios(legend, name, options, picked) {
  return h("fieldset", {}, h("legend", { hidden: true }, legend), ...options.map(({ value, html }, k) => {
    const input = h("input", { type: "radio", name, value, checked: value === picked });
    return h("label", {}, input, made(html, "span"), ...(k < 9 && legend === "Your answer" ? [h("kbd", {}, String(k + 1))] : []));
  }));
}

function render({ model, el }) {
  const name = `dp-cards-${++count}`;
  const root = h("div.dl-lesson.dp-cards", { role: "group", "aria-label": model.get("title"), tabindex: 0 });
  const timed = model.get("seconds") > 0;
  const drafts = {};                                   // what was typed or chosen, by question, until it is committed
  const body = h("div"), live = h("div.dp-live", { "aria-live": "polite" });
  root.append(body, live);
  let started = 0, ticking = 0;

  const said = (at) => model.get("replies")[at] ?? { stage: "asked", hints: [], said: "", ok: null };
  const done = (at) => ["told", "graded"].includes(said(at).stage);
  const send = (act, more = {}) => model.send({ do: act, at: model.get("at"), ...more });
  const draft = () => (drafts[model.get("at")] ??= { given: "", sure: "", points: [] });

  function go(to) {
    if (to < 0 || to >= model.get("deck").length) return;
    model.set("at", to);
    model.save_changes();
  }

  function dots() {
    return h("div.dp-dots", { role: "group", "aria-label": "Questions" }, ...model.get("deck").map((card, k) => {
      const reply = said(k), how = done(k) ? (reply.ok ? "right" : reply.ok === false ? "wrong" : "seen") : "open";
      const words = { right: "right", wrong: "to review", seen: "seen", open: "not answered yet" }[how];
      return h(`button.dp-dot.dp-${how}`, { type: "button", "aria-current": k === model.get("at") && "step", disabled: timed,
        "aria-label": `Question ${k + 1}: ${words}`, title: card.title, onclick: () => go(k) }, MARKS[how] || String(k + 1));
    }));
  }

  function answerForm(card, reply) {
    const mine = draft();
    const input = card.form === "choice" ? radios("Your answer", name, card.choices, mine.given)
      : card.form === "text" ? h("input.dp-text", { type: "text", "aria-label": "Your answer", autocomplete: "off", value: mine.given })
        : h("textarea.dp-text", { rows: 3, "aria-label": "Your answer, for yourself",
          placeholder: "Say it aloud, or write it here. It stays in this page." }, mine.given);
    const sure = radios("How sure are you?", `${name}-sure`, SURE.map((s) => ({ value: s, html: s })), mine.sure);
    sure.classList.add("dl-row");
    sure.prepend(h("span", { "aria-hidden": true }, "How sure?"));
    const commit = h("button.dl-primary", { type: "submit" }, card.form === "open" ? "Done, compare" : "Commit");
    const keep = () => {
      mine.given = card.form === "choice" ? input.querySelector("input:checked")?.value ?? "" : input.value;
      mine.sure = sure.querySelector("input:checked")?.value ?? "";
      commit.disabled = card.form !== "open" && !mine.given;
    };
    input.addEventListener("input", keep);
    sure.addEventListener("input", keep);
    const left = card.hints - reply.hints.length;
    const form = h("form", { onsubmit: (event) => {
      event.preventDefault();
      keep();
      if (!commit.disabled) send("answer", { given: card.form === "open" ? "" : mine.given, sure: mine.sure });
    } }, input, reply.stage === "asked" ? sure : "", h("div.dl-row", {}, commit,
      h("button", { type: "button", onclick: () => send("skip") }, timed ? "Skip" : "I do not know"),
      timed ? "" : h("button.dp-hint", { type: "button", disabled: !left, onclick: () => send("hint") },
        left ? `Hint (${left} left)` : "No hint left")));
    keep();
    return form;
  }

  function gradeForm(card) {
    const boxes = card.rubric.map((point, k) => h("label", {}, h("input", { type: "checkbox", value: k + 1 }), made(point, "span")));
    return h("form.dp-grade", { onsubmit: (event) => {
      event.preventDefault();
      send("grade", { points: boxes.filter((b) => b.firstChild.checked).map((b) => Number(b.firstChild.value)) });
    } }, h("fieldset", {}, h("legend", {}, "What did your answer have?"), ...boxes),
    h("div.dl-row", {}, h("button.dl-primary", { type: "submit" }, "That is my grade")));
  }

  function clock() {
    const left = Math.max(0, model.get("seconds") - (started ? (performance.now() - started) / 1000 : 0));
    return { left, text: `${Math.floor(left / 60)}:${String(Math.floor(left % 60)).padStart(2, "0")}` };
  }

  function intro() {
    body.replaceChildren(h("h4", {}, model.get("title")),
      h("p", {}, `${model.get("deck").length} questions, ${Math.round(model.get("seconds") / 60)} minutes. Verdicts come at once, `
        + "explanations with the report at the end."),
      h("button.dl-primary", { type: "button", onclick: () => {
        started = performance.now();
        send("start");
        ticking = setInterval(tick, 500);
        draw(true);
      } }, "Begin"));
  }

  function tick() {
    const { left, text } = clock();
    const shown = root.querySelector(".dp-clock");
    if (shown) shown.textContent = text;
    if (left > 0) return;
    clearInterval(ticking);
    send("stop");
  }

  function report() {
    clearInterval(ticking);
    body.replaceChildren(h("h4", {}, `${model.get("title")}: report`), made(model.get("report")));
    live.textContent = "The interview is over. Its report is shown.";
    quiet();
  }

  function draw(focus = false) {
    if (model.get("report")) return report();
    if (timed && !started) return intro();
    const deck = model.get("deck"), at = model.get("at"), card = deck[at];
    if (!card) { body.replaceChildren(h("p", {}, "Nothing is due again.")); return; }
    const reply = said(at);
    const parts = [
      h("div.dp-head", {}, h("b", {}, `${at + 1} of ${deck.length}`), h("span.dl-note", {}, card.title),
        ...(timed ? [h("span.dp-clock", { role: "timer" }, clock().text)] : [])),
      dots(),
      made(card.question, "div", { class: "dp-question" }),
    ];
    if (["asked", "again"].includes(reply.stage)) parts.push(answerForm(card, reply));
    if (card.form === "choice" && reply.stage === "told" && draft().given) parts.push(h("p.dl-note", {}, `You said: ${draft().given}`));
    if (card.form === "open" && ["grade", "graded"].includes(reply.stage) && draft().given)
      parts.push(h("details", {}, h("summary", {}, "What you wrote"), h("p.dp-mine", {}, draft().given)));
    parts.push(h("div", {}, ...reply.hints.map((hint, k) => h("div.dp-hinted", {}, h("b", {}, `Hint ${k + 1}`), made(hint))),
      ...(reply.said ? [made(reply.said)] : [])));
    if (reply.stage === "grade") parts.push(gradeForm(card));
    if (reply.verdict) parts.push(made(reply.verdict));
    parts.push(h("div.dl-row.dp-nav", {},
      timed ? "" : h("button", { type: "button", disabled: at === 0, onclick: () => go(at - 1) }, "← Previous"),
      timed && !done(at) ? "" : h("button.dp-next", { type: "button", disabled: at === deck.length - 1, onclick: () => go(at + 1) }, "Next →"),
      h("span.dl-note", {}, "Keys: 1–9 choose, Enter commits and goes on", timed ? "" : ", h hint, n and p page")));
    body.replaceChildren(h("section.dl-q", {}, ...parts));
    quiet();
    if (focus) root.focus({ preventScroll: true });
  }

  /** What changed is read aloud by a screen reader: the region stays, only its text changes. */
  function announce() {
    const reply = said(model.get("at"));
    const last = reply.verdict || reply.said || reply.hints.at(-1) || "";
    const told = made(last).querySelector("p");
    if (told) live.textContent = told.textContent;
  }

  /** JupyterLab asks the focused element itself whether its letter keys are shortcuts. */
  function quiet() {
    for (const one of [root, ...root.querySelectorAll("summary, button, input, textarea, [tabindex]")])
      one.setAttribute("data-lm-suppress-shortcuts", "true");
  }

  root.addEventListener("keydown", (event) => {
    const typing = event.target.matches("textarea, input[type=text]");
    if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
    const press = (selector) => root.querySelector(selector)?.click();
    const choices = root.querySelectorAll(`input[name="${name}"]`);
    if (/^[1-9]$/.test(event.key) && choices[event.key - 1]) {
      choices[event.key - 1].click();
      choices[event.key - 1].focus();
    } else if (event.key === "h") press(".dp-hint:not(:disabled)");
    else if (event.key === "n") press(".dp-next:not(:disabled)");
    else if (event.key === "p" && !timed) go(model.get("at") - 1);
    else if (event.key === "Enter" && !event.repeat && !event.target.matches("button, summary"))
      (root.querySelector("form .dl-primary:not(:disabled)") ?? root.querySelector(".dp-next:not(:disabled)"))?.click();
    else return;
    event.preventDefault();
  });

  const redraw = () => { draw(root.contains(document.activeElement)); if (!model.get("report")) announce(); };
  for (const trait of ["replies", "report", "deck"]) model.on(`change:${trait}`, redraw);
  model.on("change:at", () => draw(true));
  draw();
  el.append(root);
  return () => {
    clearInterval(ticking);
    for (const trait of ["replies", "report", "deck"]) model.off(`change:${trait}`, redraw);
  };
}

export default { render };
