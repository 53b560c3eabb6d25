// Tables that sort and filter; opening the target of a link.

// The text of a cell, or the number at full length that the page gives for it.
function content(row, column) {
  const cell = row.cells[column];
  return cell.dataset.order ?? cell.dataset.filter ?? cell.textContent.trim();
}

// A button in the head of each column sorts the rows; a second press turns the order around.
function sortable(table) {
  const heads = [...table.tHead.rows[0].cells], body = table.tBodies[0];
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const down = head.ariaSort === "ascending";
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const sign = down ? -1 : 1;
      const rows = [...body.rows].map((row) => [content(row, column), row]);
      const numbers = rows.every(([text]) => text === "" || !Number.isNaN(Number(text)));
      rows.sort(([a], [b]) => {
        if (a === "" || b === "") return (a === "") - (b === "");  // what has no value is last
        return sign * (numbers ? a - b : a.localeCompare(b, "en", { numeric: true }));
      });
      body.append(...rows.map(([, row]) => row));
    });
  });
}

// A text with the names of Greek letters in place of them: "σ_w" is "sigma_w". Indices of formulas
// follow their letter without a sign: "σw" is found by "sigma_w".
const GREEK = {
  α: "alpha", β: "beta", γ: "gamma", δ: "delta", ε: "epsilon", ϵ: "epsilon", η: "eta", θ: "theta", κ: "kappa",
  λ: "lambda", μ: "mu", ν: "nu", ρ: "rho", σ: "sigma", τ: "tau", φ: "phi", ϕ: "phi", χ: "chi", ω: "omega",
};
function spelled(text) {
  return text.normalize("NFKC").replace(/[α-ωϵϕ]/g, (letter) => GREEK[letter] ?? letter).replace(/[\s_^{}]+/g, (gap) =>
    (/\s/.test(gap) ? " " : ""));
}

// Above the table: a field for words, and a list of values for each column with data-filter. An
// address such as claims.html?paper=npf&verdict=contradicted chooses values.
function filterable(table) {
  const heads = [...table.tHead.rows[0].cells], rows = [...table.tBodies[0].rows];
  const asked = new URLSearchParams(location.search);
  const form = document.createElement("form"), count = document.createElement("output");
  form.className = "fw-filter fw-noprint";
  const add = (name, field) => {
    const label = document.createElement("label");
    label.append(`${name} `, field);
    form.append(label);
    return field;
  };
  // Greek letters are found by their names, too
  const searched = rows.map((row) => spelled(row.textContent.toLowerCase()));
  const lists = heads.flatMap((head, column) => {
    const name = head.dataset.filter;
    if (!name) return [];
    const list = add(name, document.createElement("select"));
    const values = [...new Set(rows.map((row) => content(row, column)))];
    list.append(new Option("all", ""), ...values.filter(Boolean).map((value) => new Option(value)));
    list.value = values.includes(asked.get(name)) ? asked.get(name) : "";
    return [[list, column]];
  });
  const words = add("words", document.createElement("input"));
  words.type = "search";
  words.value = asked.get("words") ?? "";
  const clear = document.createElement("button");
  clear.type = "reset";
  clear.className = "fw-button";
  clear.textContent = "Clear filters";
  form.append(clear, count);
  const apply = () => {
    const wanted = spelled(words.value.toLowerCase()).split(/\s+/);
    rows.forEach((row, index) => {
      const text = searched[index];
      row.hidden = !(lists.every(([list, column]) => !list.value || content(row, column) === list.value)
        && wanted.every((word) => text.includes(word)));
    });
    count.textContent = `${rows.filter((row) => !row.hidden).length} of ${rows.length}`;
  };
  // the address has the filters, so that it can be sent or kept
  const remember = () => {
    const filters = new URLSearchParams();
    lists.forEach(([list, column]) => { if (list.value) filters.set(heads[column].dataset.filter, list.value); });
    if (words.value.trim()) filters.set("words", words.value.trim());
    const query = filters.toString();
    history.replaceState(null, "", location.pathname + (query && `?${query}`) + location.hash);
  };
  form.addEventListener("input", () => { apply(); remember(); });
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => {
    lists.forEach(([list]) => list.options[0].defaultSelected = true);
    words.defaultValue = "";
    setTimeout(() => { apply(); remember(); });
  });
  table.parentElement.before(form);
  apply();
}

function openTarget() {
  const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!target) return;
  for (let box = target; box; box = box.parentElement) if (box.tagName === "DETAILS") box.open = true;
  // what the target itself folds: the details of a claim, or the list below a heading
  // (an anchor of a heading is an empty span in its section)
  const owner = target.matches("span") ? target.closest("section") || target : target;
  const folded = owner.querySelector(":scope > details");
  if (folded) folded.open = true;
  const caption = owner.querySelector(":scope > figure details.fw-caption");
  if (caption) caption.open = true;
  target.scrollIntoView();
}

// a formula that is wider than its place scrolls, with the keyboard, too
function reachFormulas() {
  document.querySelectorAll(".fw-pair .fw-formula").forEach((box) => {
    if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
    else box.removeAttribute("tabindex");
  });
}

// print has all captions
function printCaptions() {
  let closed = [];
  window.addEventListener("beforeprint", () => {
    closed = [...document.querySelectorAll("details.fw-caption:not([open]), details.fw-beside:not([open]), "
      + ".fw-claim > details:not([open])")];
    closed.forEach((box) => { box.open = true; });
  });
  window.addEventListener("afterprint", () => closed.forEach((box) => { box.open = false; }));
}

function start() {
  printCaptions();
  reachFormulas();
  window.addEventListener("resize", reachFormulas);
  document.querySelectorAll("table[data-table]").forEach(sortable);
  document.querySelectorAll("table[data-table='filtered']").forEach(filterable);
  openTarget();
  window.addEventListener("hashchange", openTarget);
  // a second click on a link opens its target again, although the address stays the same
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[href^='#']");
    if (link && link.hash === location.hash) openTarget();
  });
  document.querySelectorAll("button[data-open]").forEach((button) => button.addEventListener("click", () => {
    const boxes = [...document.getElementsByClassName(button.dataset.open)];
    const open = boxes.some((box) => !box.open);
    boxes.forEach((box) => { box.open = open; });
    button.textContent = button.textContent.replace(/^(Open|Close)/, open ? "Close" : "Open");
  }));
}

document.addEventListener("DOMContentLoaded", start);
