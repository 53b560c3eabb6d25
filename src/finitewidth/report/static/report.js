// Tables that sort, filter and search (DataTables); opening the target of a link; the search page.

const LISTS = ["paper", "verdict"];

function options(table) {
  const filtered = table.dataset.table === "filtered";
  const common = {
    paging: false, info: filtered, order: [], autoWidth: false,
    layout: {
      topStart: filtered ? "info" : null, topEnd: "search",
      bottomStart: null, bottomEnd: null,
    },
    language: {
      info: "Showing _TOTAL_ claims", infoFiltered: "of _MAX_", infoEmpty: "Showing no claims", search: "Search",
    },
  };
  if (!filtered) return common;
  const heads = [...table.querySelectorAll("thead th")];
  return {
    ...common,
    layout: { ...common.layout, top2Start: { buttons: [{ extend: "ccSearchClear", text: "Clear filters" }] } },
    columns: heads.map((head) => ({
      name: head.dataset.name,
      columnControl: "filter" in head.dataset
        ? ["order", { extend: "dropdown", icon: "search", text: `Filter by ${head.textContent}`, content: ["searchList"] }]
        : "order" in head.dataset ? ["order"] : [],
    })),
    ordering: { indicators: false, handler: false },
    ...asked(heads),
  };
}

// the filters in an address such as claims.html?paper=npf&verdict=contradicted
function asked(heads) {
  const query = new URLSearchParams(location.search);
  const lists = {};
  heads.forEach((head, column) => {
    const value = query.get(head.dataset.name);
    if (value && LISTS.includes(head.dataset.name)) lists[column] = { searchList: [value] };
  });
  if (!Object.keys(lists).length) return {};
  const state = { time: Date.now(), columns: heads.map(() => ({ visible: true })), columnControl: lists };
  return { stateSave: true, stateLoadCallback: () => state, stateSaveCallback: () => {} };
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

// the theme sets the attribute data-theme, DataTables reads the class dark
function followTheme() {
  const root = document.documentElement;
  const follow = () => root.classList.toggle("dark", root.dataset.theme === "dark");
  follow();
  new MutationObserver(follow).observe(root, { attributeFilter: ["data-theme"] });
}

// --- search: all words must occur; titles count more than text ---

function ranked(query) {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const found = [];
  for (const entry of words.length ? window.searchEntries : []) {
    const title = entry.title.toLowerCase(), text = entry.text.toLowerCase();
    let score = 0;
    for (const word of words) {
      const times = text.split(word).length - 1;
      if (!times && !title.includes(word)) { score = 0; break; }
      score += Math.log1p(times) + 5 * title.includes(word) + 20 * (entry.href.toLowerCase().endsWith(`#${word}`));
    }
    if (score) found.push({ entry, score });
  }
  return { words, found: found.sort((a, b) => b.score - a.score).map(({ entry }) => entry) };
}

// the text around the first of the words, with every word marked
function snippet(text, words) {
  const places = words.map((word) => text.toLowerCase().indexOf(word)).filter((place) => place >= 0);
  const first = places.length ? Math.min(...places) : 0;
  const from = Math.max(0, text.lastIndexOf(" ", Math.max(0, first - 80)));
  const cut = text.slice(from, from + 260);
  const line = document.createElement("p");
  if (from) line.append("… ");
  const escaped = words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  cut.split(new RegExp(`(${escaped.join("|")})`, "gi")).forEach((piece, place) => {
    if (place % 2) {
      const mark = document.createElement("mark");
      mark.textContent = piece;
      line.append(mark);
    } else line.append(piece);
  });
  if (from + 260 < text.length) line.append(" …");
  return line;
}

function search() {
  const query = new URLSearchParams(location.search).get("q") || "";
  const field = document.getElementById("fw-query");
  field.value = query;
  field.focus();
  if (!query.trim()) return;
  const { words, found } = ranked(query);
  const count = found.length;
  document.getElementById("fw-found").textContent =
    count ? `${count} place${count > 1 ? "s" : ""} found${count > 50 ? "; the best 50 are shown" : ""}` : "Nothing was found.";
  for (const entry of found.slice(0, 50)) {
    const item = document.createElement("li"), link = document.createElement("a");
    link.href = entry.href;
    link.textContent = entry.title;
    const page = document.createElement("span");
    page.className = "fw-muted";
    page.textContent = entry.page === entry.title ? "" : ` ${entry.page}`;
    item.append(link, page, snippet(entry.text, words));
    document.getElementById("fw-results").append(item);
  }
}

// a formula that is wider than its place scrolls, with the keyboard, too
function reachFormulas() {
  document.querySelectorAll(".fw-pair .fw-formula").forEach((box) => {
    if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
    else box.removeAttribute("tabindex");
  });
}

async function start() {
  reachFormulas();
  window.addEventListener("resize", reachFormulas);
  followTheme();
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
  if (document.getElementById("fw-query")) search();
  const tables = document.querySelectorAll("table[data-table]");
  if (!tables.length) return;
  const { default: DataTable } = await window.dataTables;
  tables.forEach((table) => new DataTable(table, options(table)));
  if (location.hash) openTarget();
  document.documentElement.dataset.tables = "ready";
}

document.addEventListener("DOMContentLoaded", start);
