// The sentences before a run: a field each, which can be changed, split, joined and left out. Nothing is sent until the
// run is started; then craqanEdits() tells what became of them, and space/editing.py decides what is taken.
window.craqanEdits = () => {
  const editor = document.querySelector(".editor");
  if (!editor) return "";
  const sections = {};
  for (const list of editor.querySelectorAll("ol")) {
    sections[list.dataset.section] = [...list.children]
      .filter((row) => row.querySelector("input").checked)
      .map((row) => [row.querySelector("textarea").value, "opens" in row.dataset]);
  }
  return JSON.stringify({ of: editor.dataset.of, sections });
};

window.craqanSentences = (root) => {
  const grows = CSS.supports("field-sizing", "content");
  const left = new Map();  // a section -> its rows as they were left, for as long as the text is the same
  let before = "";  // the sentences as they were split
  let field = null;  // the sentence that the tools act on
  let text = "", shown = "";  // the digest of the text, and which sections of it are shown

  function remember(list) {
    left.set(list.dataset.section, [...list.children].map((item) => ({
      words: area(item).value, used: item.querySelector("input").checked, opens: "opens" in item.dataset,
    })));
  }

  // What was done to a section's sentences stays while another section is looked at.
  function recall(list) {
    const rows = left.get(list.dataset.section);
    if (!rows) return;
    const model = list.firstElementChild;
    list.replaceChildren(...rows.map(({ words, used, opens }) => {
      const item = model.cloneNode(true);
      area(item).value = words;
      item.querySelector("input").checked = used;
      item.toggleAttribute("data-opens", opens);
      return item;
    }));
    renumber(list);
    list.querySelectorAll("textarea").forEach(fit);
  }

  const row = (area) => area.closest("li");
  const area = (item) => item.querySelector("textarea");
  const say = (words) => { root.querySelector(".editor [role=status]").textContent = words; };
  const number = (item) => area(item).getAttribute("aria-label").replace("Sentence ", "");

  function fit(text) {
    if (grows) return;
    text.style.height = "auto";
    text.style.height = `${text.scrollHeight}px`;
  }

  function renumber(list) {
    let next = 0;
    for (const item of list.children) {
      const used = item.querySelector("input").checked, words = used ? String(next++) : "left out";
      item.classList.toggle("out", !used);
      item.querySelector(".number").textContent = used ? words : "–";
      area(item).setAttribute("aria-label", `Sentence ${words}`);
    }
  }

  function tools() {
    const there = field && root.contains(field);
    for (const button of root.querySelectorAll("[data-do]")) {
      const has = { split: there, join: there && row(field).nextElementSibling, reset: true }[button.dataset.do];
      button.disabled = !has;
    }
  }

  function select(text, at) {
    field = text;
    text.focus();
    text.setSelectionRange(at, at);
    tools();
  }

  function split(text) {
    const at = text.selectionStart, rest = text.value.slice(text.selectionEnd).trim(), first = text.value.slice(0, at).trim();
    if (!first || !rest) return say("Put the cursor between two words to split the sentence there.");
    const item = row(text), next = item.cloneNode(true);
    delete next.dataset.opens;
    next.querySelector("input").checked = item.querySelector("input").checked;
    text.value = first;
    area(next).value = rest;
    item.after(next);
    renumber(item.parentElement);
    remember(item.parentElement);
    [text, area(next)].forEach(fit);
    select(area(next), 0);
    say(`Split: the rest is sentence ${number(next)}.`);
  }

  function join(text, other) {
    if (!other) return;
    const at = text.value.trimEnd().length;
    text.value = `${text.value.trim()} ${area(other).value.trim()}`.trim();
    other.remove();
    renumber(row(text).parentElement);
    remember(row(text).parentElement);
    fit(text);
    select(text, at);
    say(`Joined to sentence ${number(row(text))}.`);
  }

  function reset(editor) {
    editor.querySelector(".edited").innerHTML = before;
    for (const list of editor.querySelectorAll("ol")) left.delete(list.dataset.section);
    field = null;
    tools();
    say("The sentences are as they were split.");
  }

  // Sentences that arrive when a run is under way already stay closed, and take no more room than was kept for them.
  // gradio changes the fields in place, where what was typed would stay.
  new MutationObserver(() => {
    if (!document.querySelector("#text textarea").value) left.clear();
    const editor = root.querySelector(".editor"), lists = editor ? [...editor.querySelectorAll("ol")] : [];
    const now = editor ? [editor.dataset.of, ...lists.map((list) => list.dataset.section)].join() : "";
    if (now === shown) return;
    shown = now;
    field = null;
    if (!editor) return;
    if (editor.dataset.of !== text) left.clear();
    text = editor.dataset.of;
    if (!document.querySelector("#stop").disabled) editor.removeAttribute("open");
    editor.querySelectorAll("textarea").forEach((area) => { area.value = area.defaultValue; });
    editor.querySelectorAll("input").forEach((box) => { box.checked = box.defaultChecked; });
    before = editor.querySelector(".edited").innerHTML;
    lists.forEach(recall);
    if (left.size) tools();
  }).observe(root, { childList: true, subtree: true, attributeFilter: ["data-of", "data-section"] });

  root.addEventListener("focusin", ({ target }) => {
    const editor = target.closest(".editor");
    if (target.matches(".editor textarea")) field = target;
    if (editor) tools();
  });
  root.addEventListener("input", ({ target }) => {
    if (target.matches("textarea")) fit(target);
    else if (target.matches("input")) renumber(target.closest("ol"));
    remember(target.closest("ol"));
  });
  root.addEventListener("mousedown", (event) => {
    if (event.target.closest("[data-do]")) event.preventDefault();  // the cursor stays where it is to split
  });
  root.addEventListener("click", ({ target }) => {
    const button = target.closest("[data-do]");
    if (!button) return;
    if (button.dataset.do === "reset") reset(button.closest(".editor"));
    else if (button.dataset.do === "split") split(field);
    else join(field, row(field).nextElementSibling);
  });
  root.addEventListener("keydown", (event) => {
    const text = event.target;
    if (!text.matches(".editor textarea") || event.isComposing) return;
    const { selectionStart: from, selectionEnd: to } = text, item = row(text);
    if (event.key === "Enter") {
      event.preventDefault();
      split(text);
    } else if (event.key === "Backspace" && from === 0 && to === 0 && item.previousElementSibling) {
      event.preventDefault();
      join(area(item.previousElementSibling), item);
    } else if (event.key === "Delete" && from === text.value.length && item.nextElementSibling) {
      event.preventDefault();
      join(text, item.nextElementSibling);
    }
  });
};

// A file of the visitor's is read here and sent as text, so that the server never writes one.
window.craqanFile = (root, trigger) => {
  const input = root.querySelector("input");
  root.querySelector("button").addEventListener("click", () => input.click());
  input.addEventListener("change", () => {
    const [file] = input.files;
    if (!file) return;
    const send = (data) => trigger("upload", { name: file.name, size: file.size, data });
    if (file.size > Number(input.dataset.most)) send("");
    else {
      const reader = new FileReader();
      reader.onload = () => send(reader.result.split(",")[1] || "");
      reader.onerror = () => send(null);
      reader.readAsDataURL(file);
    }
    input.value = "";  // the same file can be chosen again
  });
};

// One run at a time, and when it is over: see space/turns.py. `ends` are those that gradio has yet to tell.
window.craqanRun = (() => {
  const PATIENCE = 600;  // looks at what is waited for, 50 ms apart: then Generate comes back all the same
  let ends = 0, isStopped = false;
  async function until(is) {
    for (let look = 0; look < PATIENCE && !is(); look++) await new Promise((go) => setTimeout(go, 50));
  }
  const isSent = () => !document.querySelector("#status .waiting b")?.textContent.endsWith("…");
  return {
    begin() { ends = 1; isStopped = false; },
    ended() {
      if (!ends) return false;
      ends -= 1;
      return !ends && !isStopped;
    },
    async stop() {
      await until(() => !ends || isSent());
      isStopped = ends > 0;
      if (isStopped) ends += 1;
      return [];
    },
    async stopped() {
      await until(() => !ends);
      ends = 0;
      return isStopped;
    },
  };
})();

// While a run waits, gradio tells the place in the queue as "queue: 2/5"; here it is told in words, and read aloud.
window.craqanPlace = (root) => {
  const block = root.closest("#status");
  new MutationObserver(() => {
    const told = block.querySelector("[data-testid=status-tracker]")?.textContent || "";
    const place = /queue: (\d+)\/(\d+)/.exec(told), waiting = root.querySelector(".waiting b");
    if (!place || !waiting) return;
    const words = `Waiting for a turn: place ${place[1]} of ${place[2]} in the queue.`;
    if (waiting.textContent !== words) waiting.textContent = words;
  }).observe(block, { childList: true, subtree: true, characterData: true });
};
