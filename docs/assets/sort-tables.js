// Long tables can be sorted: a click or Enter on a heading, a second one reverses the order. Rows without a value stay
// last; in a column that has numbers in most of its rows, these are also the rows with words such as "not run".
"use strict";
document.querySelectorAll(".md-typeset table:not([class])").forEach((table) => {
  const body = table.tBodies[0];
  if (body.rows.length < 8) return;
  const read = (row, column) =>
    row.cells[column].textContent.trim().replace("−", "-").replace(/(\d)\s(?=\d{3}\b)/g, "$1"); // 23 703
  table.querySelectorAll("thead th").forEach((heading, column) => {
    const button = document.createElement("button");
    button.append(...heading.childNodes);
    heading.append(button);
    button.addEventListener("click", () => {
      const down = heading.getAttribute("aria-sort") === "ascending";
      const numbers = [...body.rows].filter((row) => !isNaN(parseFloat(read(row, column)))).length;
      const numeric = numbers > body.rows.length / 2;
      const value = (row) => (numeric ? parseFloat(read(row, column)) : read(row, column) || NaN);
      const compare = (a, b) => {
        const [x, y] = [value(a), value(b)];
        if (Number.isNaN(x) || Number.isNaN(y)) return Number(Number.isNaN(x)) - Number(Number.isNaN(y));
        return (numeric ? x - y : x.localeCompare(y, "en", { numeric: true })) * (down ? -1 : 1);
      };
      table.querySelectorAll("th[aria-sort]").forEach((other) => other.removeAttribute("aria-sort"));
      heading.setAttribute("aria-sort", down ? "descending" : "ascending");
      [...body.rows].sort(compare).forEach((row) => body.append(row));
    });
  });
});
