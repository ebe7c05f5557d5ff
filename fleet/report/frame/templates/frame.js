"use strict";
document.documentElement.classList.add("js");

async function copy(button, text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = document.createElement("textarea");
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  const before = button.textContent;
  button.textContent = "copied";
  setTimeout(() => { button.textContent = before; }, 1500);
}

function copier(text, title) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = title;
  button.title = text;
  button.addEventListener("click", () => copy(button, text));
  return button;
}

/** The cell above each column and the words of all cells above it, merged cells counted. */
function columns(table) {
  const cells = [], words = [];
  for (const [y, row] of [...(table.tHead?.rows ?? [])].entries()) {
    let x = 0;
    for (const cell of row.cells) {
      while (cells[x]?.until > y) x++;
      const text = cell.innerText.replace(/-\n/g, "").replace(/\s+/g, " ").trim();
      for (let i = 0; i < cell.colSpan; i++, x++) {
        words[x] = [words[x], text].filter(Boolean).join(", ");
        cells[x] = { cell: cell.colSpan === 1 ? cell : null, until: y + cell.rowSpan };
      }
    }
  }
  return cells.map((c, x) => ({ cell: c.cell, word: words[x] }));
}

/** A row and those below it that go on about it. */
function groups(body) {
  const found = [];
  for (const row of [...body.rows]) {
    if (row.classList.contains("details") && found.length) found.at(-1).push(row);
    else found.push([row]);
  }
  return found;
}

const UNITS = { k: 1e3, M: 1e6, G: 1e9, "µs": 1e-6, ms: 1e-3, s: 1, min: 60 };

/** What a cell is sorted by: a number, a text, or null where there is nothing. */
function value(cell) {
  const text = (cell?.innerText ?? "").split("\n")[0].trim();
  if (!text || text === "–" || text === "-") return null;
  if (text === "exact" || text === "∞") return Infinity;
  const found = /^[x>+]? ?(-?[\d,]*\.?\d+(?:e[+-]?\d+)?) ?(µs|ms|s|min|k|M|G)?(?![\w])/.exec(text);
  if (!found || !cell.classList.contains("num")) return text;
  return Number(found[1].replaceAll(",", "")) * (UNITS[found[2]] ?? 1);
}

function order(table, column, down) {
  const sign = down ? -1 : 1;
  for (const body of table.tBodies) {
    const rows = groups(body).map((rows) => ({ rows, key: value(rows[0].cells[column]) }));
    rows.sort((a, b) => {
      if (a.key === null || b.key === null) return a.key === b.key ? 0 : a.key === null ? 1 : -1;
      if (typeof a.key === "number" && typeof b.key === "number") return sign * (a.key - b.key);
      return sign * String(a.key).localeCompare(String(b.key), "en", { numeric: true });
    });
    body.append(...rows.flatMap((r) => r.rows));
  }
}

for (const table of document.querySelectorAll("main .scroll table:not([data-own])")) {
  const known = columns(table);
  for (const body of table.tBodies) {
    for (const row of body.rows) {
      let x = 0;
      for (const cell of row.cells) {
        if (x && known[x]?.word && cell.colSpan === 1) cell.dataset.label = known[x].word;
        if (/^[–-]?$/.test(cell.textContent.trim()) && !cell.querySelector("svg, img, button")) cell.classList.add("nothing");
        x += cell.colSpan;
      }
    }
  }
  if (![...table.tBodies].some((body) => body.rows.length > 1)) continue;
  for (const [column, { cell, word }] of known.entries()) {
    if (!cell || !word) continue;
    cell.classList.add("sorts");
    cell.tabIndex = 0;
    const act = () => {
      const down = cell.ariaSort === "ascending" || (cell.ariaSort === null && cell.classList.contains("num"));
      for (const other of table.tHead.querySelectorAll("th")) other.removeAttribute("aria-sort");
      cell.setAttribute("aria-sort", down ? "descending" : "ascending");
      order(table, column, down);
    };
    cell.addEventListener("click", act);
    cell.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      act();
    });
  }
}

for (const pre of document.querySelectorAll("pre[data-copy]")) pre.after(copier(pre.textContent, "copy"));
for (const code of document.querySelectorAll("code[data-copy]")) code.after(" ", copier(code.textContent, "copy"));

for (const title of document.querySelectorAll("main h2, main h3")) {
  const id = title.id || (title.parentElement.firstElementChild === title && title.parentElement.id);
  if (!id) continue;
  const link = document.createElement("a");
  link.href = `#${id}`;
  link.className = "anchor";
  link.textContent = "#";
  link.setAttribute("aria-label", "Link to this part");
  title.insertBefore(link, title.querySelector(".doc"));
}

/** What a link leads to may be folded. */
function unfold() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  for (let at = target; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
  target?.scrollIntoView();
}
addEventListener("hashchange", unfold);
if (location.hash) unfold();
