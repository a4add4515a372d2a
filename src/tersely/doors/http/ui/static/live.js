// Keeps a page as it is now: the relay sends it again whenever it is another, and the parts that changed are put in
// the place of those that stand here. Also writes times in the time zone of the reader. All text of agents is escaped
// by the relay; the document that is parsed here runs nothing.

const SAY_AFTER_MILLISECONDS = 3000;
const MAX_CONNECTIONS = 3; // that pages of one browser keep open: browsers have six for one host, and some to go on with
const ASK_AGAIN_MILLISECONDS = 5000; // a page without a connection
const RELABEL_MILLISECONDS = 20_000; // from one look at how long ago times are to the next

const main = document.getElementById("main");
const content = document.getElementById("content");
const live = document.getElementById("live");
const pause = document.getElementById("pause");
let sources = [...content.children].map(sourceOf);
let latest = null;
let changed = new Set();
let timer = 0;
let state = "";

// As in "2026-11-25 20:31:05", in the zone of the reader; and as in "3m ago".
const clock = new Intl.DateTimeFormat("sv-SE", { dateStyle: "short", timeStyle: "medium" });
const distance = new Intl.RelativeTimeFormat("en", { style: "narrow" });
const UNITS = [["day", 86400], ["hour", 3600], ["minute", 60]];

function relative(at) {
  const seconds = (at.getTime() - Date.now()) / 1000;
  const unit = UNITS.find(([, length]) => Math.abs(seconds) >= length);
  return unit ? distance.format(Math.trunc(seconds / unit[1]), unit[0]) : "just now";
}

function localize(root) {
  for (const time of root.querySelectorAll("time[datetime]")) {
    const at = new Date(time.dateTime);
    if (!Number.isNaN(at.getTime())) {
      time.textContent = relative(at);
      time.title = clock.format(at);
    }
  }
}

// What tells one control of a part from all others, so that the focus never comes to another one.
function key(control) {
  const target = control.href || control.form?.action || "";
  return [control.tagName, control.id, target, control.value ?? "", control.getAttribute("aria-label"), control.textContent].join("\n");
}

// What a part shows. Each page has a key for its forms, by which the relay takes each once.
function sourceOf(part) {
  const copy = part.cloneNode(true);
  copy.querySelectorAll("input[name=form_key]").forEach((one) => one.remove());
  return copy.outerHTML;
}

function holdsForm(part) {
  return part.querySelector("form") !== null;
}

// A part stays while somebody writes in it, or is about to press one of its buttons: they must not move away.
function isInUse(part) {
  const focus = document.activeElement;
  const writes = part.contains(focus) && focus.matches("textarea, input");
  const written = [...part.querySelectorAll("textarea")].some((one) => one.value !== one.defaultValue);
  return writes || written || (holdsForm(part) && part.matches(":hover"));
}

function put(part, fresh) {
  const focus = part.contains(document.activeElement) ? key(document.activeElement) : "";
  const open = new Set([...part.querySelectorAll("details[open] > summary")].map(key));
  const scrolled = [...part.querySelectorAll(".scrolls, .text")].map((one) => [one.scrollLeft, one.scrollTop]);
  fresh.querySelectorAll("summary").forEach((one) => (one.parentElement.open = open.has(key(one))));
  localize(fresh);
  part.replaceWith(fresh);
  [...fresh.querySelectorAll(".scrolls, .text")].forEach((one, at) => {
    [one.scrollLeft, one.scrollTop] = scrolled[at] ?? [0, 0];
  });
  if (focus) {
    const controls = [...fresh.querySelectorAll("a, button, summary, [tabindex]")];
    controls.find((one) => key(one) === focus)?.focus({ preventScroll: true });
  }
}

function update() {
  if (!latest || isPaused()) {
    return;
  }
  const fresh = [...latest.children];
  const parts = [...content.children];
  if (fresh.map((one) => one.id).join() !== parts.map((one) => one.id).join()) {
    if (parts.some(isInUse)) {
      return;
    }
    changed.add("the page");
    sources = fresh.map(sourceOf);
    const copies = fresh.map((one) => one.cloneNode(true));
    copies.forEach(localize);
    content.replaceChildren(...copies);
  } else {
    fresh.forEach((one, at) => {
      const source = sourceOf(one);
      if (source === sources[at] || isInUse(parts[at])) {
        return;
      }
      changed.add(one.querySelector("h2")?.textContent ?? "figures");
      sources[at] = source;
      put(parts[at], one.cloneNode(true));
    });
  }
  if (changed.size) {
    timer ||= setTimeout(say, SAY_AFTER_MILLISECONDS);
  }
}

// Says it once for all that came close together, so that a reader of the screen is not talked over.
function say() {
  timer = 0;
  live.textContent = `Live. Changed: ${[...changed].join(", ")}`;
  changed = new Set();
}

function isPaused() {
  return pause.getAttribute("aria-pressed") === "true";
}

function show(text) {
  latest = new DOMParser().parseFromString(text, "text/html").getElementById("content");
  update();
}

function sayState(text, isOn) {
  if (text === state) {
    return;
  }
  state = text;
  live.textContent = isOn && isPaused() ? "Paused" : text;
  live.classList.toggle("on", isOn);
  pause.hidden &&= !isOn;
}

// The way to give a connection back, null where none is left. A page that is closed gives its own back.
async function takeConnection() {
  for (let number = 0; number < MAX_CONNECTIONS; number += 1) {
    const giveBack = await new Promise((resolve) => {
      navigator.locks.request(`live-${number}`, { ifAvailable: true }, (lock) => {
        return lock ? new Promise((ended) => resolve(ended)) : resolve(null);
      });
    });
    if (giveBack) {
      return giveBack;
    }
  }
  return null;
}

function listen(giveBack, signal) {
  const source = new EventSource(location.href);
  const end = () => {
    source.close();
    giveBack();
  };
  source.addEventListener("open", () => sayState("Live", true));
  source.addEventListener("error", () => {
    if (source.readyState === EventSource.CLOSED) {
      giveBack();
      sayState("Not live any more: reload the page", false);
    } else {
      sayState("Trying to be live again …", false);
    }
  });
  source.addEventListener("message", (message) => show(JSON.parse(message.data)));
  signal.addEventListener("abort", end);
  if (signal.aborted) {
    end();
  }
}

async function ask() {
  try {
    const response = await fetch(location.href);
    if (response.ok) {
      show(await response.text());
    }
    sayState(response.ok ? "Live, every few seconds" : "Not live any more: reload the page", response.ok);
  } catch {
    sayState("Trying to be live again …", false);
  }
}

// Follows the page until the signal is given: by a connection where there is one, else by asking again and again.
async function follow(signal) {
  while (!signal.aborted) {
    const giveBack = await takeConnection();
    if (giveBack) {
      listen(giveBack, signal);
      return;
    }
    await ask();
    await new Promise((resolve) => setTimeout(resolve, ASK_AGAIN_MILLISECONDS));
  }
}

localize(document);
setInterval(() => localize(document), RELABEL_MILLISECONDS);
document.getElementById("zone").textContent = `${Intl.DateTimeFormat().resolvedOptions().timeZone}, yours`;

if (main.hasAttribute("data-live")) {
  let looking = new AbortController();
  if (!document.hidden) {
    follow(looking.signal);
  }
  pause.addEventListener("click", () => {
    pause.setAttribute("aria-pressed", String(!isPaused()));
    pause.textContent = isPaused() ? "Go on" : "Pause";
    live.textContent = isPaused() ? "Paused" : "Live";
    update();
  });
  // What was held back is put in its place as soon as nobody is at it any more.
  content.addEventListener("focusout", () => setTimeout(update));
  content.addEventListener("mouseout", () => setTimeout(update));
  // Nobody looks at a page that is hidden: nothing is made for it.
  document.addEventListener("visibilitychange", () => {
    looking.abort();
    if (!document.hidden) {
      looking = new AbortController();
      follow(looking.signal);
    }
  });
}
