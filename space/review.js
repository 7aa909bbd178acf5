// The Review tab in the browser: keys and buttons become votes. `trigger` sends them to space/review.py, which decides.
// Unsent work is kept in this browser under the pair's ticket, so that a reload, or a server that died, loses nothing.
window.craqanReview = (element, trigger) => {
  const NAME = "craqan-review-name", DRAFT = "craqan-review-draft", PATIENCE = 8000;  // ms until sending may be tried again
  const all = (selector) => [...element.querySelectorAll(selector)];
  const one = (selector) => element.querySelector(selector);
  let ticket = null;

  const stored = (key) => { try { return localStorage.getItem(key); } catch { return null; } };
  const store = (key, value) => { try { localStorage.setItem(key, value); } catch { /* private mode: nothing is kept */ } };
  const facts = () => JSON.parse(one(".desk")?.dataset.facts || "{}");
  const pressed = () => one("[data-decision][aria-pressed=true]")?.dataset.decision;
  const isReject = () => pressed() === "reject";

  function decide(decision) {
    for (const button of all("[data-decision]")) button.setAttribute("aria-pressed", button.dataset.decision === decision);
    one(".reasons").hidden = decision !== "reject";
    keep();
  }

  function end(item, role) {
    const words = item.querySelector(`[name=${role}]`), index = item.querySelector(`[name=${role}-sentence]`).value.trim();
    const span = { sentence_index: /^\d+$/.test(index) ? Number(index) : null, text: words.value };
    const { text, sentence, start, end: last } = words.dataset;
    if (start && words.value === text && index === sentence) Object.assign(span, { start: Number(start), end: Number(last) });
    return span;
  }

  function correction() {
    if (!one(".correction")?.open) return null;
    return {
      question: one("[name=question]").value,
      answer: one("[name=answer]").value,
      required_sentence_indices: all("[name=required]:checked").map((box) => Number(box.value)),
      coreferences: all(".links li").map((item) => ({
        kind: item.querySelector("[name=kind]").value, mention: end(item, "mention"), antecedent: end(item, "antecedent"),
      })),
    };
  }

  const ballot = () => ({
    decision: pressed() || "",
    reasons: isReject() ? all("[name=reason]:checked").map((box) => box.value) : [],
    note: one("[name=note]").value,
    correction: correction(),
  });

  function keep() {
    if (ticket) store(DRAFT, JSON.stringify({ ticket, ...ballot() }));
  }

  function fill({ decision, reasons, note, correction: offered }) {
    for (const box of all("[name=reason]")) box.checked = reasons.includes(box.value);
    one("[name=note]").value = note;
    if (offered) {
      one(".correction").open = true;
      one("[name=question]").value = offered.question;
      one("[name=answer]").value = offered.answer;
      for (const box of all("[name=required]")) box.checked = offered.required_sentence_indices.includes(Number(box.value));
      one(".links ul").replaceChildren();
      for (const link of offered.coreferences) fillLink(addLink(), link);
    }
    if (decision) decide(decision);
  }

  // gradio changes the page in place: what was typed for one pair would stay for the next.
  function clear() {
    one(".ballot").reset();
    one(".correction").open = false;
    one("dialog").close();
    decide("");
  }

  function addLink() {
    one(".links ul").append(one(".links template").content.cloneNode(true));
    return all(".links li").at(-1);
  }

  function fillLink(item, link) {
    item.querySelector("[name=kind]").value = link.kind;
    for (const role of ["mention", "antecedent"]) {
      const { text, sentence_index: index, start, end: last } = link[role], words = item.querySelector(`[name=${role}]`);
      words.value = text;
      item.querySelector(`[name=${role}-sentence]`).value = index ?? "";
      if (start !== undefined) Object.assign(words.dataset, { text, sentence: index, start, end: last });
    }
  }

  function busy(is) {
    one(".desk, .door")?.setAttribute("aria-busy", is);
    for (const button of all(".strong-button")) button.disabled = is;
  }

  function act(action, more = {}) {
    if (one("[aria-busy=true]")) return;
    busy(true);
    setTimeout(() => busy(false), PATIENCE);  // the ticket makes a second sending harmless
    trigger("submit", { action, ...more });
  }

  const actions = {
    start() {
      const name = one("[name=name]")?.value ?? "";
      if (name) store(NAME, name);
      act("start", { name });
    },
    vote() { const { pair } = facts(); if (pair) act("vote", { pair, ticket, ...ballot() }); },
    back() { act("back", { before: facts().vote?.number ?? null }); },
    leave() { act("leave"); },
    guide() {
      const dialog = one("dialog");
      if (!dialog.open) return dialog.showModal();
      dialog.close();
      document.activeElement?.blur();  // or the next Enter presses the button that has just gone
    },
    "add-link"() { addLink().querySelector("input").focus(); keep(); },
    "drop-link"(button) { button.closest("li").remove(); keep(); one("[data-action=add-link]").focus(); },
  };

  element.addEventListener("click", (event) => {
    const button = event.target.closest("[data-decision], button[data-action]");
    if (button?.dataset.decision) decide(button.dataset.decision);
    else if (button) actions[button.dataset.action](button);
    else if (event.target.matches("dialog")) event.target.close();  // beside the guidelines
  });
  element.addEventListener("submit", (event) => {
    event.preventDefault();
    actions[event.target.dataset.action]();
  });
  element.addEventListener("input", keep);
  element.addEventListener("toggle", keep, true);

  const keys = {
    a: () => decide("accept"),
    r: () => decide("reject"),
    n: () => one("[name=note]").focus(),
    c: () => { one(".correction").open = true; one("[name=question]").focus(); },
    Enter: () => actions.vote(),
    u: () => actions.back(),
    "?": () => actions.guide(),
  };
  for (let i = 1; i <= 9; i += 1) {
    keys[i] = () => {
      const box = all("[name=reason]")[i - 1];
      box.checked = !box.checked;
      decide("reject");
    };
  }

  document.addEventListener("keydown", (event) => {
    if (!one(".desk")?.checkVisibility() || event.altKey || event.metaKey || event.defaultPrevented) return;
    const { target } = event, isTyping = target.matches("textarea, select, input:not([type=checkbox]), [contenteditable]");
    if (isTyping) {
      if (event.key === "Escape") target.blur();
      if (event.key === "Enter" && event.ctrlKey) { event.preventDefault(); actions.vote(); }
      return;
    }
    if (event.ctrlKey || event.repeat) return;
    const isOpen = one("dialog")?.open, isButton = target.matches("button, a, summary, [role=tab]");
    if (isOpen && event.key !== "?") return;
    if (event.key === "Enter" && isButton && !target.matches("[aria-pressed=true]")) return;  // presses that button
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    const isThere = one(".ballot") || key === "u";
    if (!keys[key] || !isThere) return;
    event.preventDefault();
    keys[key]();
  });

  // Another page of the tab has come: what was sent is kept by now, so its draft goes; a draft of this pair comes back.
  function arrived() {
    busy(false);
    const name = one("[name=name]");
    if (name && !name.value) name.value = stored(NAME) || "";
    const { ticket: now, vote } = facts();
    if (now === ticket) return;
    const isFirst = ticket === null;
    ticket = null;  // so that clearing the ballot is not taken for a draft
    if (!now) return;
    clear();
    ticket = now;
    const draft = JSON.parse(stored(DRAFT) || "{}");
    if (draft.ticket === ticket) fill(draft);
    else if (vote) fill({ ...vote, decision: vote.accept ? "accept" : "reject", correction: null });
    if (!isFirst || window.innerWidth < 760) one(".desk").scrollIntoView({ block: "start" });
  }
  const changes = { childList: true, subtree: true, attributeFilter: ["data-facts"] };
  new MutationObserver(arrived).observe(element, changes);
  const said = document.getElementById("review-message");
  new MutationObserver(() => {
    busy(false);
    said.querySelector("[role=alert]")?.scrollIntoView({ block: "nearest" });  // on a phone it stands below the buttons
  }).observe(said, { childList: true, subtree: true, attributes: true });
  arrived();
};
