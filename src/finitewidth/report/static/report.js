// Sorting, searching and filtering of tables (DataTables), and opening the target of a link.

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
  target.scrollIntoView();
}

// the theme sets the attribute data-theme, DataTables reads the class dark
function followTheme() {
  const root = document.documentElement;
  const follow = () => root.classList.toggle("dark", root.dataset.theme === "dark");
  follow();
  new MutationObserver(follow).observe(root, { attributeFilter: ["data-theme"] });
}

async function start() {
  followTheme();
  openTarget();
  window.addEventListener("hashchange", openTarget);
  window.addEventListener("beforeprint", () => {
    document.querySelectorAll("details").forEach((box) => { box.open = true; });
  });
  const tables = document.querySelectorAll("table[data-table]");
  if (!tables.length) return;
  const { default: DataTable } = await window.dataTables;
  tables.forEach((table) => new DataTable(table, options(table)));
  if (location.hash) openTarget();
  document.documentElement.dataset.tables = "ready";
}

document.addEventListener("DOMContentLoaded", start);
