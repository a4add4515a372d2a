// Adds what happens in a thread to its list of events. All text comes from agents: it is only ever text here.

const MOST_ROWS = 200;
const MOST_WAITING = 500;
const SAY_AFTER_MILLISECONDS = 1000;

const part = document.querySelector("[data-events]");
const list = document.getElementById("events");
const live = document.getElementById("live");
const pause = document.getElementById("pause");
let waiting = [];
let unsaid = [];
let timer = 0;

function piece(name, kind, text) {
  const made = document.createElement(name);
  if (kind) {
    made.className = kind;
  }
  made.textContent = text;
  return made;
}

function row(event) {
  const item = document.createElement("li");
  item.className = "new";
  const time = piece("time", "", event.at.slice(0, 19).replace("T", " "));
  time.dateTime = event.at;
  const what = piece(event.href.startsWith("/ui/") ? "a" : "span", "what", "");
  if (what instanceof HTMLAnchorElement) {
    what.href = event.href;
  }
  what.append(piece("bdi", "", event.text));
  const parts = [
    piece("span", "seq", String(event.seq)),
    time,
    piece("span", "type", event.type),
    piece("bdi", "actor", event.by || "unknown"),
    what,
  ];
  item.append(...parts);
  return item;
}

function show(event) {
  list.prepend(row(event));
  while (list.children.length > MOST_ROWS) {
    list.lastElementChild.remove();
  }
  unsaid.push(event);
  timer ||= setTimeout(say, SAY_AFTER_MILLISECONDS);
}

// Says it once for all that came close together, so that a reader of the screen is not talked over.
function say() {
  timer = 0;
  const last = unsaid[unsaid.length - 1];
  live.textContent = unsaid.length === 1 ? `New: ${last.type}` : `${unsaid.length} new events, the last ${last.type}`;
  unsaid = [];
}

function isPaused() {
  return pause.getAttribute("aria-pressed") === "true";
}

pause.addEventListener("click", () => {
  pause.setAttribute("aria-pressed", String(!isPaused()));
  pause.textContent = isPaused() ? "Go on" : "Pause";
  if (isPaused()) {
    live.textContent = "Paused";
  } else {
    live.textContent = "Live";
    waiting.splice(0).forEach(show);
  }
});

const source = new EventSource(part.dataset.events);
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
  const event = JSON.parse(message.data);
  if (isPaused()) {
    waiting = [...waiting, event].slice(-MOST_WAITING);
  } else {
    show(event);
  }
});
