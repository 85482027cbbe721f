// What the tests ask about where things are on a page, as functions that they name.

function seen(each) {
  return each.getClientRects().length > 0;
}

function inside(inner, outer) {
  return inner.left >= outer.left - 0.6 && inner.right <= outer.right + 0.6;
}

function boxOf(each) {
  return each.getBoundingClientRect();
}

// Labels of axes that are not whole.
function cutLabels() {
  return [...document.querySelectorAll('.axis')].filter(seen).flatMap((axis) =>
    [...axis.children].filter((label) => !inside(boxOf(label), boxOf(axis))).map((label) => label.textContent));
}

// Whether a drawn label reaches an edge of its drawing: there it is cut.
function cutInks() {
  return [...document.querySelectorAll('#distribution .uplot canvas')].filter((canvas) => {
    const below = Math.round(canvas.height * 0.9);
    const inks = (x) => [...canvas.getContext('2d').getImageData(x, below, 1, canvas.height - below).data].some((each) => each);
    return inks(0) || inks(canvas.width - 1);
  }).length;
}

// Numbers that stand in another line than their unit.
function lonelyUnits() {
  return [...document.querySelectorAll('.worded .unbroken')].filter((each) => each.getClientRects().length > 1).map((each) => each.textContent);
}

function numberOfLabels() {
  return [...document.querySelectorAll('.axis span')].filter(seen).length;
}

// Swatches of a size that is not that of all others.
function oddSwatches() {
  return [...document.querySelectorAll('.swatch')].filter((each) => boxOf(each).width !== 11 || boxOf(each).height !== 11).map((each) => each.className);
}

// Parts of a time that reach out of their cell.
function cutParts() {
  return [...document.querySelectorAll('td .unbroken')].filter((each) => seen(each) && !inside(boxOf(each), boxOf(each.closest('td')))).map((each) => each.textContent);
}

// Tables: whether there is more at their right, and what the sign says; null where there is none.
function tableEdges() {
  return [...document.querySelectorAll('.table')].filter(seen).map((each) => {
    const sign = each.parentNode.nextElementSibling.querySelector('.beyond');
    return [each.getAttribute('aria-label'), each.scrollWidth - each.clientWidth - Math.round(each.scrollLeft) > 1, seen(sign) ? sign.textContent : null];
  });
}

// Drawings of flows: whether there is more at their right, and whether a sign says so.
function flowEdges() {
  return [...document.querySelectorAll('.flow-drawing')].filter(seen).map((each) =>
    [each.scrollWidth - each.clientWidth - each.scrollLeft > 1, seen(each.nextElementSibling.querySelector('.beyond'))]);
}

function scrollTables() {
  for (const each of document.querySelectorAll('.table')) each.scrollLeft = each.scrollWidth;
}

function rightOf(section, title) {
  return boxOf([...document.querySelectorAll(`#${section} th`)].find((each) => each.textContent === title)).right;
}

// What would need a scroll bar, and what a cell or a button cuts.
function scrolling() {
  return [...document.querySelectorAll('#sections *, #head *, #made *')].filter((each) => {
    const { overflowX, display } = getComputedStyle(each);
    return seen(each) && display !== 'inline' && !['visible', 'clip'].includes(overflowX) && each.scrollWidth > each.clientWidth + 1 && !each.closest('.lane, .out-of-sight, .figures dt');
  }).map((each) => `${each.tagName} ${each.className} ${each.textContent.slice(0, 40)}`);
}

// Titles of what is printed, in its order.
function printed() {
  return [...document.querySelectorAll('#title, #sections h2')].filter(seen).map((each) => each.firstChild.textContent);
}
