// Make wide tables and drawings scrollable by keyboard, and label them for screen readers.
for (const table of document.querySelectorAll(".pst-scrollable-table-container")) {
  table.setAttribute("role", "region");
  table.setAttribute("aria-label", "Table");
}
for (const drawing of document.querySelectorAll(".wide-drawing")) {
  drawing.tabIndex = 0;
  drawing.setAttribute("role", "region");
  drawing.setAttribute("aria-label", "Drawing");
}
