// Keeps a page as it is now: the relay sends it again whenever it is another, and the parts that changed are put in
// the place of those that stand here. Also writes times in the time zone of the reader. All text of agents is escaped
// by the relay; the document that is parsed here runs nothing.

const SAY_AFTER_MILLISECONDS = 3000;

const main = document.getElementById("main");
const content = document.getElementById("content");
const live = document.getElementById("live");
const pause = document.getElementById("pause");
let sources = [...content.children].map((one) => one.outerHTML);
let latest = null;
let changed = new Set();
let timer = 0;

// As in "2026-11-25 20:31:05", in the zone of the reader.
const clock = new Intl.DateTimeFormat("sv-SE", { dateStyle: "short", timeStyle: "medium" });

function localize(root) {
  for (const time of root.querySelectorAll("time[datetime]")) {
    const at = new Date(time.dateTime);
    if (!Number.isNaN(at.getTime())) {
      time.textContent = clock.format(at);
    }
  }
}

// What tells one control of a part from all others, so that the focus never comes to another one.
function key(control) {
  const target = control.href || control.form?.action || "";
  return [control.tagName, control.id, target, control.value ?? "", control.getAttribute("aria-label"), control.textContent].join("\n");
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
  const open = [...part.querySelectorAll("details")].map((one) => one.open);
  const scrolled = [...part.querySelectorAll(".scrolls, .text")].map((one) => [one.scrollLeft, one.scrollTop]);
  [...fresh.querySelectorAll("details")].forEach((one, at) => (one.open = open[at] ?? false));
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
    sources = fresh.map((one) => one.outerHTML);
    const copies = fresh.map((one) => one.cloneNode(true));
    copies.forEach(localize);
    content.replaceChildren(...copies);
  } else {
    fresh.forEach((one, at) => {
      const source = one.outerHTML;
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

function follow() {
  const source = new EventSource(location.href);
  source.addEventListener("open", () => {
    live.textContent = isPaused() ? "Paused" : "Live";
    live.classList.add("on");
    pause.hidden = false;
  });
  source.addEventListener("error", () => {
    const isOver = source.readyState === EventSource.CLOSED;
    live.textContent = isOver ? "Not live any more: reload the page" : "Trying to be live again …";
    live.classList.remove("on");
  });
  source.addEventListener("message", (message) => {
    const page = new DOMParser().parseFromString(JSON.parse(message.data), "text/html");
    latest = page.getElementById("content");
    update();
  });
  return source;
}

localize(document);
document.getElementById("zone").textContent = `${Intl.DateTimeFormat().resolvedOptions().timeZone}, yours`;

if (main.hasAttribute("data-live")) {
  let source = follow();
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
    if (document.hidden) {
      source.close();
    } else if (source.readyState === EventSource.CLOSED) {
      source = follow();
    }
  });
}
