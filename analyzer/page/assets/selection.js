// The selected time: null for all of it, else [begin, end] in ns from the page's origin. What is drawn below listens to it.

let selected = null;
const listeners = [];

function onSelection(listener) {
  listeners.push(listener);
  listener();
}

let pending = 0;
function select(span) {
  if (span) {
    const begin = Math.max(FIRST, Math.min(span[0], span[1]));
    const end = Math.min(LAST, Math.max(span[0], span[1]));
    span = end > begin && !(begin <= FIRST && end >= LAST) ? [begin, end] : null;
  }
  selected = span;
  cancelAnimationFrame(pending);
  pending = requestAnimationFrame(() => listeners.forEach((listener) => listener()));
}

const visible = () => selected ?? [FIRST, LAST];

// The slots that the selection touches, [first, behind the last): sums are over whole slots, and the page says so.
function selectedSlots() {
  if (!selected) return [0, SLOTS];
  const first = Math.max(0, Math.floor((selected[0] - FIRST_SLOT) / SLOT));
  return [first, Math.min(SLOTS, Math.max(first + 1, Math.ceil((selected[1] - FIRST_SLOT) / SLOT)))];
}

const touches = (first, last) => !selected || first == null || (Number(first) <= selected[1] && Number(last ?? first) >= selected[0]);

// What the selected slots cover, ns: the time that sums are about.
function slotSpan() {
  const [from, to] = selectedSlots();
  return [Math.max(FIRST, FIRST_SLOT + from * SLOT), Math.min(LAST, FIRST_SLOT + to * SLOT)];
}

const selectionWords = () => selected ? ` --from ${typedMoment(slotSpan()[0])} --to ${typedMoment(slotSpan()[1])}` : '';

function selectionText() {
  const [begin, end] = visible();
  const digits = end - begin < 10 * SECOND ? 3 : 0;
  return `${moment(begin, digits)} to ${moment(end, digits)} (${duration(end - begin)})`;
}
