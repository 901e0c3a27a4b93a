// Long tables can be sorted: a click or Enter on a heading, a second one reverses the order. Rows without a value stay last.
"use strict";
document.querySelectorAll(".md-typeset table:not([class])").forEach((table) => {
  const body = table.tBodies[0];
  if (body.rows.length < 8) return;
  const read = (row, column) => row.cells[column].textContent.trim().replace("−", "-");
  table.querySelectorAll("thead th").forEach((heading, column) => {
    const button = document.createElement("button");
    button.append(...heading.childNodes);
    heading.append(button);
    button.addEventListener("click", () => {
      const down = heading.getAttribute("aria-sort") === "ascending";
      const numeric = [...body.rows].every((row) => !read(row, column) || !isNaN(parseFloat(read(row, column))));
      const compare = (a, b) => {
        const [x, y] = [read(a, column), read(b, column)];
        if (!x || !y) return Number(!x) - Number(!y);
        return (numeric ? parseFloat(x) - parseFloat(y) : x.localeCompare(y, "en", { numeric: true })) * (down ? -1 : 1);
      };
      table.querySelectorAll("th[aria-sort]").forEach((other) => other.removeAttribute("aria-sort"));
      heading.setAttribute("aria-sort", down ? "descending" : "ascending");
      [...body.rows].sort(compare).forEach((row) => body.append(row));
    });
  });
});
