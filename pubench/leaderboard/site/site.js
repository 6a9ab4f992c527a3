// Sorts and filters the ranking, and shows tooltips of marks. Pages are readable without it.
"use strict";
document.documentElement.classList.add("scripted");
const NO_VALUE = "\u2013";

// Formats a number as Python does: exact halves are rounded to the even digit.
function fixed(value, digits) {
  const scaled = value * 10 ** digits, half = Number.isInteger(value * 2 ** (digits + 1)) && scaled % 1 === 0.5;
  return half ? (2 * Math.round(scaled / 2) / 10 ** digits).toFixed(digits) : value.toFixed(digits);
}

function seconds(value) {
  if (value < 0.95) return fixed(value, 2) + " s";
  if (value < 120) return fixed(value, 1) + " s";
  return value < 7200 ? fixed(value / 60, 1) + " min" : fixed(value / 3600, 1) + " h";
}

function valueText(key, value) {
  if (value === null) return NO_VALUE;
  if (key === "aul_pu" || key === "auc") return fixed(value, 4);
  if (key === "win_rate" || key === "failures") return fixed(100 * value, 0) + "%";
  return key.endsWith("seconds") ? seconds(value) : String(value);
}

function ranking(table, data) {
  const body = table.tBodies[0], rows = [...body.rows];
  const chosen = name => document.getElementById(name).value;
  const count = document.getElementById("count");
  let order = { key: "rank", up: true };

  function fill(row, values) {
    row.values = { label: row.cells[1].textContent };
    data.keys.forEach((key, i) => { row.values[key] = values[i]; });
    const { rank, low, high, imputed } = row.values;
    for (const cell of row.querySelectorAll("td[data-key]")) {
      if (cell.dataset.key !== "rank") { cell.textContent = valueText(cell.dataset.key, row.values[cell.dataset.key]); continue; }
      cell.querySelector(".value").textContent = rank === null ? NO_VALUE : fixed(rank, 2) + (imputed ? "\u2020" : "");
      cell.querySelector(".below").textContent = low === null ? "" : fixed(low, 2) + " to " + fixed(high, 2);
      const position = value => 3 + 94 * ((value === null ? 1 : value) - 1) / Math.max(data.field - 1, 1);
      const span = cell.querySelector(".span");
      span.setAttribute("x1", position(low === null ? rank : low));
      span.setAttribute("x2", position(high === null ? rank : high));
      cell.querySelector("circle").setAttribute("cx", position(rank));
    }
  }

  function compare(a, b) {
    const x = a.values[order.key], y = b.values[order.key];
    if (x === null || y === null) return (x === null) - (y === null); // unknown values go last in both directions
    const difference = typeof x === "string" ? x.localeCompare(y) : x - y;
    return (order.up ? difference : -difference) || a.values.rank - b.values.rank || a.values.entry - b.values.entry;
  }

  function update() {
    const index = data.views[chosen("dataset") + "," + chosen("theta")];
    const standings = new Map((index === undefined ? [] : data.tables[index]).map(values => [String(values[0]), values]));
    const part = chosen("find").trim().toLowerCase();
    const shown = rows.filter(row => {
      const matches = standings.has(row.dataset.entry) && ["tuned", "verified"].every(name => !chosen(name) || row.dataset[name] === chosen(name))
        && row.cells[1].textContent.toLowerCase().includes(part);
      row.hidden = !matches;
      if (matches) fill(row, standings.get(row.dataset.entry));
      return matches;
    });
    shown.sort(compare).forEach((row, i) => { row.cells[0].textContent = i + 1; body.append(row); });
    count.textContent = shown.length + " of " + rows.length + (rows.length === 1 ? " method" : " methods") + (shown.length ? "" : ": no run matches");
  }

  for (const button of table.tHead.querySelectorAll("button")) {
    button.addEventListener("click", () => {
      const key = button.dataset.key, natural = button.dataset.up === "1";
      order = { key, up: order.key === key ? !order.up : natural };
      for (const head of table.tHead.querySelectorAll("th[aria-sort]")) head.setAttribute("aria-sort", "none");
      button.closest("th").setAttribute("aria-sort", order.up ? "ascending" : "descending");
      update();
    });
  }
  for (const name of ["dataset", "theta", "tuned", "verified", "find"]) document.getElementById(name).addEventListener("input", update);
  update();
}

// Browsers show the <title> of a mark only for a mouse and with a delay; this shows it at once, also for touch and keyboard.
function showTooltips() {
  const tip = document.createElement("div");
  tip.className = "tip";
  tip.setAttribute("role", "tooltip");
  document.body.append(tip);
  const tooltipOf = target => {
    const mark = target.closest("svg a, svg circle, svg path, svg text, td[title]");
    if (!mark) return null;
    const title = mark.querySelector("title");
    return title ? title.textContent : mark.getAttribute("title");
  };
  const show = event => {
    const text = event.target.closest ? tooltipOf(event.target) : null;
    tip.textContent = text || "";
    if (!text) return;
    const box = event.target.getBoundingClientRect(), room = document.documentElement.clientWidth;
    tip.style.left = Math.max(8, Math.min(box.left, room - tip.offsetWidth - 8)) + scrollX + "px";
    tip.style.top = box.bottom + 8 + scrollY + "px";
  };
  for (const kind of ["pointerover", "focusin", "click"]) document.addEventListener(kind, show);
  document.addEventListener("focusout", () => { tip.textContent = ""; });
  document.addEventListener("keydown", event => { if (event.key === "Escape") tip.textContent = ""; });
}

const table = document.querySelector("table.ranking"), views = document.getElementById("views");
if (table && views) ranking(table, JSON.parse(views.textContent));
showTooltips();
