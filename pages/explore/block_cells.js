// Cells of an icicle's last column: names in rows, as wide as their text, and one hatched cell for the rest.
const CELL_FONT = `11.5px ${FONT}`,
  CELL_PAD = 9,
  REST_LEAST = 46,
  CELL_GAP = 2;

function widthOf(text, font) {
  pen.font = font;
  return pen.measureText(text).width;
}

function naturalWidth(cell, most) {
  const extra = cell.badge ? 22 : cell.value ? widthOf(cell.value, `10.5px ${FONT}`) + 8 : 0;
  return Math.min(most, Math.max(38, widthOf(cell.name, CELL_FONT) + 2 * CELL_PAD + extra));
}

// The rows that these cells and the rest fill; undefined where they take more than there are.
function rowsOf(cells, rest, width, nRows) {
  const rows = [[]];
  let used = 0;
  for (const cell of [...cells, ...(rest ? [{ rest }] : [])]) {
    const needed = cell.rest ? REST_LEAST : naturalWidth(cell, width);
    if (rows.at(-1).length && used + needed + CELL_GAP > width) {
      rows.push([]);
      used = 0;
    }
    rows.at(-1).push({ cell, width: needed });
    used += needed + CELL_GAP;
  }
  return rows.length <= nRows ? rows : undefined;
}

// As many cells as there is room for, in their order; those that must be there are there in any case.
function packed(cells, total, width, height, rowHeight) {
  const nRows = Math.max(1, Math.floor((height + 3) / rowHeight));
  const must = cells.filter((cell) => cell.must);
  for (let n = cells.length; n >= 0; n--) {
    const chosen = cells.filter((cell, place) => place < n || cell.must);
    const rows = chosen.length || total ? rowsOf(chosen, total - chosen.length, width, nRows) : [];
    if (rows) return rows;
  }
  // Too many for their natural widths: the rows are shared out evenly, and names are cut.
  const all = [...must, ...(total > must.length ? [{ rest: total - must.length }] : [])],
    inRow = Math.ceil(all.length / nRows);
  return Array.from({ length: Math.ceil(all.length / inRow) }, (_, row) =>
    all
      .slice(row * inRow, (row + 1) * inRow)
      .map((cell) => ({ cell: cell.rest ? { rest: cell.rest } : cell, width: width / inRow - CELL_GAP })),
  );
}

// Boxes of the cells in a block beside the last column: each row is filled to its end, the last one by the hatched
// cell. A block that passes the filters while nothing in it does has no cells.
function cellBoxes(block, data, x, y, width, height) {
  const cells = (block.cells ?? []).map((cell) => (cell.id === data.picked ? { ...cell, must: true } : cell));
  const rows = packed(cells, block.inner, width, height, 26),
    gap = 3,
    boxes = [];
  const rowHeight = (height - gap * (rows.length - 1)) / Math.max(1, rows.length);
  rows.forEach((row, place) => {
    const free = width - row.reduce((sum, each) => sum + each.width, 0) - CELL_GAP * (row.length - 1);
    const hasRest = row.at(-1)?.cell.rest;
    let left = x;
    row.forEach(({ cell, width: own }, at) => {
      const grown = Math.max(8, own + (hasRest ? (at === row.length - 1 ? free : 0) : free / row.length));
      boxes.push({ cell, x: left, y: y + place * (rowHeight + gap), width: grown, height: rowHeight });
      left += grown + CELL_GAP;
    });
  });
  return boxes;
}
