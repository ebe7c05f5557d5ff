const data = JSON.parse(document.getElementById("data").textContent);
const [KEY, KIND, OUTCOME, STATE, DEVICE, MEMORY, CYCLES, SECONDS, FILE, REPLAY] = Array(10).keys();
const NAMES = { [KIND]: "kind", [OUTCOME]: "outcome", [STATE]: "state", [DEVICE]: "device", [MEMORY]: "memory", [FILE]: "file" };
const word = (row, column) => column in NAMES ? data.words[NAMES[column]][row[column]] : row[column];
const STEP = 200;
let shown = STEP, sorted = { column: null, down: false };

function command(row) {
  if (row[REPLAY] === 0) return `fleet case run ${word(row, FILE)} --only ${row[KEY].replace(/^[^[]*\[/, "").replace(/\]$/, "")}`;
  return row[REPLAY] === 1 ? `python -m pytest '${row[KEY]}'` : row[REPLAY];
}

function chosen() {
  const words = document.getElementById("filter").value.toLowerCase().split(/\s+/).filter(Boolean);
  const outcome = document.getElementById("outcome").value, state = document.getElementById("state").value;
  const fits = (row) => {
    if (outcome && word(row, OUTCOME) !== outcome) return false;
    if (state && word(row, STATE) !== state) return false;
    const text = [KEY, KIND, OUTCOME, STATE, DEVICE, MEMORY].map((c) => word(row, c)).join(" ").toLowerCase();
    return words.every((w) => text.includes(w));
  };
  const rows = data.rows.filter(fits), name = (a, b) => a[KEY].localeCompare(b[KEY], "en", { numeric: true });
  if (sorted.column === null) return rows.sort((a, b) => weight(a) - weight(b) || name(a, b));
  const sign = sorted.down ? -1 : 1;
  return rows.sort((a, b) => {
    const x = word(a, sorted.column), y = word(b, sorted.column);
    if (x === null || y === null) return x === y ? 0 : x === null ? 1 : -1;
    return sign * (typeof x === "number" ? x - y : x.localeCompare(y, "en", { numeric: true }));
  });
}

/** What a reader looks for comes first: failed, not run, moved or flaky, the rest. */
function weight(row) {
  const outcome = word(row, OUTCOME);
  return outcome === "failed" ? 0 : outcome === "not run" ? 1 : word(row, STATE) ? 2 : 3;
}

function cell(row, text, kind) {
  const made = row.insertCell();
  made.textContent = text;
  if (kind) made.className = kind;
  return made;
}

function draw() {
  const rows = chosen(), body = document.querySelector("#runs tbody");
  body.replaceChildren();
  for (const row of rows.slice(0, shown)) {
    const made = body.insertRow(), outcome = word(row, OUTCOME);
    if (outcome === "failed" || outcome === "not run") made.className = "bad";
    cell(made, row[KEY], "run");
    cell(made, word(row, KIND));
    cell(made, outcome + (word(row, STATE) ? `, ${word(row, STATE)}` : ""), "nowrap");
    cell(made, word(row, DEVICE));
    cell(made, word(row, MEMORY));
    cell(made, row[CYCLES] === null ? "" : row[CYCLES].toLocaleString("en"), "num");
    cell(made, `${row[SECONDS].toLocaleString("en")} s`, "num");
    made.insertCell().append(copier(command(row), "replay"));
  }
  document.getElementById("count").textContent = `${Math.min(shown, rows.length).toLocaleString("en")} of ${rows.length.toLocaleString("en")} shown`;
  document.getElementById("more").hidden = rows.length <= shown;
}

function age() {
  const place = document.getElementById("age"), hours = (Date.now() - Date.parse(place.dataset.at)) / 3.6e6;
  const said = hours < 1 ? "less than an hour old" : hours < 48 ? `${Math.round(hours)} hours old` : `${Math.round(hours / 24)} days old`;
  place.textContent = `This page is ${said}.`;
  place.className = hours > 36 ? "banner note" : "soft";
}

for (const id of ["filter", "outcome", "state"]) {
  document.getElementById(id).addEventListener("input", () => { shown = STEP; draw(); });
}
document.getElementById("more").addEventListener("click", () => { shown += STEP; draw(); });
for (const button of document.querySelectorAll("#runs thead button")) {
  button.addEventListener("click", () => {
    const column = Number(button.dataset.column);
    sorted = { column, down: sorted.column === column && !sorted.down };
    for (const other of document.querySelectorAll("#runs thead th")) other.removeAttribute("aria-sort");
    button.parentElement.setAttribute("aria-sort", sorted.down ? "descending" : "ascending");
    draw();
  });
}
for (const [id, words] of [["outcome", data.words.outcome], ["state", data.words.state]]) {
  for (const w of words.filter(Boolean)) document.getElementById(id).add(new Option(w, w));
}
document.getElementById("tools").hidden = false;
for (const heat of document.querySelectorAll(".heat")) heat.scrollLeft = heat.scrollWidth; // the last nights
age();
draw();
