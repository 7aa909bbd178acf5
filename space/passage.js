// <craqan-passage> draws a line from each mention to its antecedent. The drawing lives in the shadow tree, so that
// re-rendering the passage never meets it, and follows every change of size: a phone turned, a fold opened.
class CraqanPassage extends HTMLElement {
  connectedCallback() {
    if (!this.shadowRoot) {
      this.attachShadow({ mode: "open" }).innerHTML =
        "<style>:host{display:block;position:relative}" +
        "svg{position:absolute;inset:0;width:100%;height:100%;overflow:visible;pointer-events:none}" +
        "path{fill:none;stroke:var(--line);stroke-width:2;stroke-linejoin:round}" +
        "polygon,circle{fill:var(--line)}</style><slot></slot><svg aria-hidden='true'></svg>";
    }
    this.resized = new ResizeObserver(() => this.draw());
    this.resized.observe(this);
    this.changed = new MutationObserver(() => this.draw());
    this.changed.observe(this, { subtree: true, childList: true, characterData: true, attributes: true });
  }

  disconnectedCallback() {
    this.resized.disconnect();
    this.changed.disconnect();
  }

  draw() {
    const numbers = [...this.querySelectorAll("[data-mention]")].flatMap((m) => m.dataset.mention.split(" "));
    const lines = [...new Set(numbers)].map((number, lane) => this.line(number, lane));
    this.shadowRoot.querySelector("svg").innerHTML = lines.join("");
  }

  rects(role, number) {
    return [...this.querySelectorAll(`[data-${role}~="${number}"]`)].flatMap((e) => [...e.getClientRects()]);
  }

  // The line leaves below the upper end, runs to its own lane beside the text, and comes back above the lower end:
  // through the gaps between lines of text, never across a word.
  line(number, lane) {
    const mention = this.rects("mention", number);
    const antecedent = this.rects("antecedent", number);
    const text = this.querySelector(".sentence p");
    if (!mention.length || !antecedent.length || !text) return "";
    const base = this.getBoundingClientRect();
    const isBelow = mention[0].top >= antecedent.at(-1).bottom;
    const [upper, lower] = isBelow ? [antecedent.at(-1), mention[0]] : [mention.at(-1), antecedent[0]];
    const inset = (rect) => rect.left - base.left + Math.min(9 + 5 * lane, rect.width / 2);
    const [x1, y1] = [inset(upper), upper.bottom - base.top];
    const [x2, y2] = [inset(lower), lower.top - base.top];
    const x = text.getBoundingClientRect().left - base.left - 9 - 7 * lane;
    const [gap, r] = [3 + 2 * (lane % 3), 4]; // lines that turn in the same gap stay apart
    const path =
      `M${x1} ${y1}v${gap - r / 2}q0 ${r / 2} ${-r / 2} ${r / 2}H${x + r}q${-r} 0 ${-r} ${r}` +
      `V${y2 - gap - r}q0 ${r} ${r} ${r}H${x2 - r / 2}q${r / 2} 0 ${r / 2} ${r / 2}V${y2}`;
    const [ax, ay, sign] = isBelow ? [x1, y1, 1] : [x2, y2, -1];
    const arrow = `${ax},${ay - sign} ${ax - 5},${ay + sign * 7} ${ax + 5},${ay + sign * 7}`;
    const [mx, my] = isBelow ? [x2, y2] : [x1, y1];
    return `<path d="${path}"/><polygon points="${arrow}"/><circle cx="${mx}" cy="${my}" r="3"/>`;
  }
}

if (!customElements.get("craqan-passage")) customElements.define("craqan-passage", CraqanPassage);
