"use strict";

// Formulas: each step is [operation, …] on the results of earlier steps.

const OPERATIONS = {
  add: (a, b) => a + b,
  sub: (a, b) => a - b,
  mul: (a, b) => a * b,
  floordiv: (a, b) => (b ? Math.floor(a / b) : 0),
  ceildiv: (a, b) => (b ? Math.ceil(a / b) : 0),
  mod: (a, b) => (b ? a - b * Math.floor(a / b) : 0),
  truncdiv: (a, b) => (b ? Math.trunc(a / b) : 0),
  truncmod: (a, b) => a - b * (b ? Math.trunc(a / b) : 0),
  max: Math.max,
  min: Math.min,
  broadcast: (a, b) => (a === 1 ? b : a),
  align: (a, b) => Math.ceil(a / b) * b,
  choose: (c, a, b) => (c ? a : b),
  eq: (a, b) => +(a === b),
  ne: (a, b) => +(a !== b),
  lt: (a, b) => +(a < b),
  le: (a, b) => +(a <= b),
  gt: (a, b) => +(a > b),
  ge: (a, b) => +(a >= b),
};

function evaluate(formulas, variables) {
  const values = [];
  for (const [op, ...args] of formulas) {
    if (op === "const") values.push(args[0]);
    else if (op === "var") values.push(variables[args[0]]);
    else values.push(OPERATIONS[op](...args.map((arg) => values[arg])));
  }
  return values;
}

// The plan for values of the dims: where everything is.

function plan(data, variables) {
  const values = evaluate(data.formulas, variables);
  const bases = [];
  let top = 0;
  for (const [, size] of data.storages) {
    bases.push(top);
    top += values[size];
  }
  const live = data.live.map((load) => values[load]);
  const planned = Math.max(0, ...data.held.map((load) => values[load]));
  const bound = Math.max(0, ...live);
  const peak = Math.max(0, live.indexOf(bound));
  const alive = new Set();
  for (const [start, stop, row] of data.spans) if (start <= peak && peak < stop) alive.add(row);
  return {
    values,
    bases,
    live,
    planned,
    bound,
    peak,
    alive,
    top: Math.max(planned, bound, top),
    ceiling: Math.max(planned, bound, top, 1),
    sum: data.sum.reduce((total, size) => total + values[size], 0),
    boxes: data.boxes.map(([row, storage, offset, size]) => ({
      row,
      storage,
      offset: values[offset],
      low: bases[storage] + values[offset],
      size: values[size],
    })),
  };
}

// The offsets that are marked: multiples of a power of two, as `Panel.levels`.

const LEVELS = 5;

function levels(top) {
  let step = 1;
  while (step * LEVELS < top) step *= 2;
  const found = [];
  for (let level = 0; level <= top; level += step) found.push(level);
  return found;
}

function human(size) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
  let unit = 0;
  let scaled = size;
  while (scaled >= 1023.95 && unit + 1 < units.length) {
    unit += 1;
    scaled /= 1024;
  }
  return unit ? `${scaled.toFixed(1)} ${units[unit]}` : `${size} B`;
}

const grouped = (number) => number.toLocaleString("en-US");

// The page: nothing is drawn here, what is drawn is moved.

function set(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
}

function move(section, data, variables) {
  const found = plan(data, variables);
  const { left, step, base, plot, strip, stripHeight } = data.frame;
  const svg = section.querySelector("svg");
  const y = (offset) => base - (offset * plot) / found.ceiling;
  const showIf = (shown) => (shown ? "visible" : "hidden");
  svg.querySelectorAll(".box").forEach((element, i) => {
    const { row, storage, offset, low, size } = found.boxes[i];
    const upper = y(low + size);
    const tall = y(low) - upper;
    element.querySelectorAll("rect").forEach((rect) => set(rect, { y: upper, height: tall }));
    element
      .querySelectorAll("text")
      .forEach((label) => set(label, { y: upper + tall / 2 + 4, visibility: showIf(tall >= 13) }));
    element.classList.toggle("alive", found.alive.has(row));
    const title = element.querySelector("title");
    const lines = title.textContent.split("\n");
    lines[1] = `${grouped(size)} bytes (${human(size)}) at ${grouped(offset)} of ${data.storages[storage][0]}`;
    title.textContent = lines.join("\n");
  });
  const shelves = svg.querySelectorAll(".shelf");
  svg.querySelectorAll(".shelf-text").forEach((label, i) => {
    const size = found.values[data.storages[i][1]];
    const upper = y(found.bases[i] + size);
    const tall = (size * plot) / found.ceiling;
    set(shelves[i], { y1: upper, y2: upper });
    const middle = upper + tall / 2 + 4;
    const levels = [y(found.planned) - 5, y(found.bound) + 14];
    const isFree = levels.every((other) => Math.abs(middle - other) >= 13);
    set(label, { y: middle, visibility: showIf(isFree && tall >= 14) });
  });
  const level = (kind, size, text, shift) => {
    set(svg.querySelector(`line.${kind}`), { y1: y(size), y2: y(size) });
    const label = svg.querySelector(`.${kind}-text`);
    set(label, { y: y(size) + shift });
    label.textContent = `${text} ${human(size)}`;
  };
  level("height", found.planned, "planned", -5);
  level("bound", found.bound, "lower bound", 14);
  const marked = levels(found.top);
  const rules = svg.querySelectorAll(".level");
  svg.querySelectorAll(".tick").forEach((tick, i) => {
    const size = marked[i] ?? 0;
    const visibility = showIf(i < marked.length);
    set(tick, { y: y(size) + 4, visibility });
    set(rules[i], { y1: y(size), y2: y(size), visibility });
    tick.textContent = human(size);
  });
  const at = left + found.peak * step;
  svg.querySelector(".peak").setAttribute("x", at);
  const peak = svg.querySelector(".peak-text");
  const middle = at + Math.max(step, 2) / 2;
  const told = `peak: ${grouped(found.bound)} bytes alive at ${data.columns[found.peak]}`;
  const { width, character, room } = data.frame;
  peak.textContent = told.length > room ? `${told.slice(0, room - 1)}…` : told;
  peak.setAttribute("x", Math.max(left, Math.min(middle, width - told.length * character)));
  const most = Math.max(found.bound, 1);
  const outline = found.live.map(
    (load, i) => `V${strip - (load * stripHeight) / most}H${left + (i + 1) * step}`,
  );
  svg.querySelector(".load").setAttribute("d", `M${left} ${strip}${outline.join("")}V${strip}Z`);
  svg.querySelectorAll(".column title").forEach((title, i) => {
    title.textContent = `column ${i}: ${data.columns[i]}, ${grouped(found.live[i])} bytes alive`;
  });
  const ratio = found.bound ? `${(found.planned / found.bound).toFixed(3)} × the lower bound` : "";
  for (const [name, size] of [["planned", found.planned], ["bound", found.bound], ["sum", found.sum]]) {
    const figure = section.querySelector(`[data-figure=${name}]`);
    figure.querySelector("b").textContent = human(size);
    figure.querySelector(".exact").textContent = `${grouped(size)} bytes`;
    if (name === "planned") figure.querySelector(".note").textContent = ratio;
  }
  section.querySelectorAll("tr[data-row]").forEach((line) => {
    const row = Number(line.dataset.row);
    line.querySelector(".bytes").textContent = grouped(found.values[data.tensors[row]]);
    line.querySelector(".alive").textContent = found.alive.has(row) ? "yes" : "";
  });
}

function follow(section, data) {
  const variables = data.variables.slice();
  const dims = section.querySelector(".dims");
  dims.hidden = false;
  dims.addEventListener("input", (event) => {
    const dim = Number(event.target.dataset.dim);
    const size = Math.round(Number(event.target.value));
    if (event.target.value === "" || !(size >= 0 && size <= 1e6)) return;
    variables[data.sliders[dim]] = size;
    for (const input of dims.querySelectorAll(`[data-dim="${dim}"]`)) {
      if (input !== event.target) {
        if (input.type === "range") input.max = Math.max(Number(input.max), size);
        input.value = size;
      }
    }
    move(section, data, variables);
    show(section, section.querySelector(".chosen"));
  });
}

function show(section, box) {
  section.querySelector(".chosen")?.classList.remove("chosen");
  box?.classList.add("chosen");
  section.querySelector(".details").textContent = box?.querySelector("title").textContent ?? "";
}

function inspect(section) {
  const svg = section.querySelector("svg");
  svg.addEventListener("pointerover", (event) => {
    const box = event.target.closest(".box");
    if (box) show(section, box);
  });
  svg.addEventListener("keydown", (event) => {
    const by = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    const boxes = [...svg.querySelectorAll(".box")];
    if (!by || !boxes.length) return;
    event.preventDefault();
    const at = boxes.indexOf(svg.querySelector(".chosen"));
    const start = at < 0 ? (by > 0 ? -1 : 0) : at;
    show(section, boxes[(start + by + boxes.length) % boxes.length]);
  });
}

function switchTheme(button) {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  button.hidden = false;
  button.addEventListener("click", () => {
    const now = document.documentElement.dataset.theme ?? (dark.matches ? "dark" : "light");
    document.documentElement.dataset.theme = now === "dark" ? "light" : "dark";
  });
}

if (typeof module !== "undefined") {
  module.exports = { evaluate, plan, human, levels };
} else {
  switchTheme(document.getElementById("theme"));
  for (const data of JSON.parse(document.getElementById("data").textContent)) {
    const section = document.getElementById(data.key);
    inspect(section);
    if (data.moves) follow(section, data);
  }
}
