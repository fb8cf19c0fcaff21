// Two answers and the keys that vote on them. The next pair is shown at once; votes go to the server one event at a
// time, each with all that it has not heard of yet, so that none is lost however fast they come. Votes that it has not
// heard of when the page is left or loaded anew wait in the browser's tab until this vote is open again.
const RETRY = 10_000; // milliseconds until an event is sent again that nobody has answered
const PLACE = "lr-ballot "; // of what a tab keeps, before the name of the vote

function keyButton(className, parent, key, run) {
  const made = makeButton(className, parent, undefined, run);
  makeElement("kbd", "", made, key);
  makeElement("span", "", made);
  return made;
}

class Ballot {
  constructor(host) {
    this.host = host;
    this.pending = [];
    this.seq = this.sent = this.sentAt = 0;
    host.replaceChildren();
    const head = makeElement("div", "head", host);
    this.progress = makeElement("progress", "", head);
    this.count = makeElement("span", "count", head);
    this.criteria = makeElement("span", "criteria", head);
    this.question = makeElement("div", "question", host);
    this.question.dir = "auto";
    this.asks = makeElement("div", "asks", host);
    const votes = makeElement("div", "votes", host);
    this.buttons = [
      keyButton("vote", votes, "1", () => this.vote(1)),
      keyButton("vote", votes, "0", () => this.vote(0)),
      keyButton("vote", votes, "2", () => this.vote(2)),
    ];
    this.undoing = keyButton("undo", votes, "U", () => this.undo());
    this.failed = makeElement("div", "failed", host);
    this.failed.setAttribute("role", "alert");
    const answers = makeElement("div", "answers", host);
    this.answers = [0, 1].map(() => {
      const section = makeElement("section", "", answers);
      return { section, title: makeElement("h4", "", section), text: makeElement("div", "text", section) };
    });
    this.said = makeElement("div", "lr-unseen", host);
    this.said.setAttribute("role", "status");
    const pressed = (event) =>
      host.isConnected ? this.pressed(event) : document.removeEventListener("keydown", pressed);
    document.addEventListener("keydown", pressed);
  }

  // What the server says: what it has heard of is done, the rest is sent again.
  take(data, trigger) {
    if (!this.data || this.data.voting !== data.voting) {
      this.seq = this.sent = data.seq;
      this.pending = this.unsent(data);
      this.said.textContent = "";
      // A name that was entered is no longer written in: the next key is a vote.
      const field = document.activeElement;
      const isVoter = field instanceof HTMLInputElement && field.closest('[class*="st-key-lr_voter"]');
      if (isVoter && (this.data || (data.voter && field.value.trim() === data.voter))) field.blur();
    }
    this.data = data;
    this.trigger = trigger;
    this.pending = data.failed ? [] : this.pending.filter((action) => action.seq > data.seq);
    this.draw();
    this.post();
  }

  // Votes of before that the server has not heard of; they are of the next open pairs.
  unsent({ voting, steps }) {
    const votes = [];
    for (const kept of JSON.parse(sessionStorage.getItem(PLACE + voting) ?? "[]")) {
      const open = steps[votes.length];
      const isOpen = ["place", "criterion", "question"].every((name) => open?.[name] === kept[name]);
      if (isOpen) votes.push({ ...kept, seq: (this.seq += 1) });
    }
    return votes;
  }

  keep() {
    const votes = [];
    for (const action of this.pending) action.kind === "vote" ? votes.push(action) : votes.pop();
    if (votes.length) sessionStorage.setItem(PLACE + this.data.voting, JSON.stringify(votes));
    else sessionStorage.removeItem(PLACE + this.data.voting);
  }

  // What stands after the actions that the server has not heard of: the next verdicts to give, and those to go back to;
  // none where it alone knows what an undo brings back.
  get view() {
    const steps = [...this.data.steps];
    const given = [...this.data.given];
    for (const { kind } of this.pending) {
      if (kind === "vote") given.push(steps.shift());
      else if (given.length) steps.unshift(given.pop());
      else return { step: undefined, given };
    }
    return { step: steps[0], given };
  }

  pressed(event) {
    const target = /** @type {HTMLElement} */ (event.target);
    const writes = target.isContentEditable || ["TEXTAREA", "SELECT", "INPUT"].includes(target.tagName);
    const elsewhere = document.querySelector('[role="dialog"]') || !this.host.offsetParent;
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || writes || elsewhere) return;
    const key = event.key.toLowerCase();
    const verdict = { 1: 1, 2: 2, 0: 0, t: 0 }[key];
    if (verdict === undefined && key !== "u") return;
    event.preventDefault();
    event.stopPropagation();
    if (verdict === undefined) this.undo();
    else this.vote(verdict);
  }

  vote(verdict) {
    const { step } = this.view;
    if (!step) return;
    const { place, criterion, question } = step;
    this.seq += 1;
    this.pending.push({ kind: "vote", seq: this.seq, place, criterion, question, verdict });
    this.draw();
    this.said.textContent = `${this.data.words.voted[verdict]} ${this.count.textContent}`;
    this.post();
  }

  undo() {
    if (!this.canUndo()) return;
    this.seq += 1;
    this.pending.push({ kind: "undo", seq: this.seq });
    this.said.textContent = this.data.words.undone;
    this.draw();
    this.post();
  }

  // Where only the server knows what came before, it is asked once.
  canUndo() {
    return this.view.given.length > 0 || (this.data.undo && !this.pending.length);
  }

  post() {
    clearTimeout(this.again);
    this.keep();
    if (!this.pending.length) return;
    if (this.sent > this.data.seq && performance.now() - this.sentAt < RETRY) {
      this.again = setTimeout(() => this.post(), RETRY);
      return;
    }
    this.sent = this.seq;
    this.sentAt = performance.now();
    this.trigger("event", { actions: this.pending });
    this.again = setTimeout(() => this.post(), RETRY);
  }

  draw() {
    const { data } = this;
    const { step } = this.view;
    const { words } = data;
    // A ballot is done with its last criterion: the ballots before that of the step.
    const done = step ? step.done : this.pending.length ? data.done : data.total;
    this.progress.max = Math.max(1, data.total);
    this.progress.value = done;
    this.progress.setAttribute("aria-label", words.progress);
    this.count.textContent = words.count.replace("{done}", done).replace("{total}", data.total);
    this.host.classList.toggle("over", !step && !this.pending.length);
    this.failed.textContent = data.failed;
    const names = [words.first, words.tie, words.second];
    this.buttons.forEach((each, place) => {
      each.lastElementChild.textContent = names[place];
      each.disabled = !step;
    });
    this.undoing.lastElementChild.textContent = words.undo;
    this.undoing.disabled = !this.canUndo();
    this.asks.textContent = step ? step.asks : this.pending.length ? words.wait : words.over;
    this.criteria.replaceChildren();
    if (data.criteria.length > 1 && step) {
      for (const [name, title] of data.criteria) {
        const chip = makeElement("span", name === step.criterion ? "now" : "", this.criteria, title);
        if (name === step.criterion) chip.setAttribute("aria-current", "step");
      }
    }
    if (!step || this.shown === step.place) return;
    this.shown = step.place;
    this.question.textContent = step.question;
    this.answers.forEach((each, side) => {
      each.title.textContent = words.answers[side];
      each.text.replaceChildren();
      for (const part of step.answers[side]) makeElement("p", "", each.text, part).dir = "auto";
      each.section.scrollTop = 0;
    });
  }
}

export default function (component) {
  const { data, parentElement, setTriggerValue } = component;
  const host = parentElement.querySelector(".lr-ballot");
  const ballot = (host.lrBallot ??= new Ballot(host));
  if (ballot.data && ballot.data.voting !== data.voting) ballot.shown = undefined;
  ballot.take(data, setTriggerValue);
}
