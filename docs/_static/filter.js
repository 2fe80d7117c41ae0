// Fields of class table-filter show the rows of their table that contain all typed words.
for (const field of document.querySelectorAll(".table-filter")) {
  const rows = [...document.getElementById(field.dataset.table).tBodies[0].rows];
  const count = field.parentElement.querySelector(".table-count");
  field.addEventListener("input", () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = !words.every((word) => text.includes(word));
      shown += !row.hidden;
    }
    count.textContent = `${shown} of ${rows.length} variables`;
  });
}
