"use strict";
// The table can be sorted by a click on a head; what is not known stays last.
for (const table of document.querySelectorAll("table.tasks")) {
  const heads = [...table.tHead.rows[0].cells];
  const body = table.tBodies[0];
  const sortBy = (column) => {
    const head = heads[column];
    const wasAscending = head.getAttribute("aria-sort") === "ascending";
    const wasDescending = head.getAttribute("aria-sort") === "descending";
    const value = (row) => row.cells[column].dataset.value;
    const isText = [...body.rows].some((row) => Number.isNaN(Number(value(row))));
    const isDescending = isText || column === 0 ? wasAscending : !wasDescending;
    const compare = (a, b) => (isText ? a.localeCompare(b) : Number(a) - Number(b));
    const rows = [...body.rows].sort((a, b) => {
      const [x, y] = [value(a), value(b)];
      if (x === "" || y === "") return (x === "") - (y === "");
      return isDescending ? compare(y, x) : compare(x, y);
    });
    for (const other of heads) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", isDescending ? "descending" : "ascending");
    body.append(...rows);
  };
  table.classList.add("sortable");
  heads.forEach((head, column) => {
    head.tabIndex = 0;
    head.addEventListener("click", () => sortBy(column));
    head.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      sortBy(column);
    });
  });
  heads[0].setAttribute("aria-sort", "ascending");
}

// A link to a task opens it.
const openTarget = () => {
  const target = location.hash.length > 1 ? document.getElementById(location.hash.slice(1)) : null;
  if (!(target instanceof HTMLDetailsElement)) return;
  target.open = true;
  target.scrollIntoView();
};
window.addEventListener("hashchange", openTarget);
openTarget();
