// Tables: sorted by any column, filtered by words, some lines first and all on request.

const PAGE = 10;
const MOST_DRAWN = 1000;

// `columns`: { title, value(row), text(value, row), number, bar, help, screen, cell(row) }. Returns a function that takes new rows.
function table(place, columns, { label, sort = null, total = null, lines = PAGE, empty = 'Nothing to show.', open = null } = {}) {
  const state = { sort, words: '', all: false, rows: [] };
  const head = element('tr', {}, columns.map((column, at) => headOf(column, () => {
    const descends = state.sort && state.sort[0] === at ? !state.sort[1] : Boolean(column.number);
    state.sort = [at, descends];
    draw();
  })));
  const body = element('tbody');
  const made = element('table', {}, element('caption', { class: 'out-of-sight' }, label), element('thead', {}, head), body);
  const box = element('input', { type: 'search', placeholder: 'Filter', 'aria-label': `Filter: ${label}` });
  const told = element('span', { class: 'told', role: 'status' });
  const more = element('button', { type: 'button', class: 'more' });
  const tools = element('div', { class: 'tools' }, box, told);
  const set = (words) => { box.value = words; state.words = words.toLowerCase(); draw(); };
  filters.set(label, { set, words: () => box.value });
  box.addEventListener('input', () => { set(box.value); keepState(); });
  more.addEventListener('click', () => { state.all = !state.all; draw(); });
  const { frame, sign } = framed(made, label);
  place.append(tools, frame, element('div', { class: 'table-foot' }, more, sign));

  function draw() {
    const words = state.words.split(/\s+/).filter(Boolean);
    const texts = (row) => columns.map((column) => plain(column, row)).join(' ').toLowerCase();
    let rows = words.length ? state.rows.filter((row) => { const all = texts(row); return words.every((word) => all.includes(word)); }) : [...state.rows];
    if (state.sort) rows = sorted(rows, columns[state.sort[0]], state.sort[1]);
    head.childNodes.forEach((cell, at) => cell.setAttribute('aria-sort',
      state.sort && state.sort[0] === at ? (state.sort[1] ? 'descending' : 'ascending') : 'none'));
    const shown = rows.slice(0, state.all ? MOST_DRAWN : lines);
    const greatest = columns.map((column) => column.bar ? Math.max(...rows.map((row) => Number(column.value(row) ?? 0)), 0) : 0);
    body.replaceChildren(...shown.flatMap((row) => lineOf(columns, row, greatest, open)));
    if (!rows.length) body.append(element('tr', {}, element('td', { colspan: columns.length, class: 'empty' }, state.rows.length ? 'No line has these words.' : empty)));
    tools.hidden = state.rows.length <= 6 && !words.length;
    const cut = total != null && total > state.rows.length && !selected ? `; the page holds the first ${count(state.rows.length)} of ${count(total)}` : '';
    told.textContent = `${count(shown.length)} of ${count(rows.length)}${cut}`;
    more.hidden = rows.length <= lines;
    more.textContent = state.all ? 'Show fewer' : `Show all ${count(Math.min(rows.length, MOST_DRAWN))}`;
  }
  return (rows) => { state.rows = rows; draw(); };
}

// A frame that scrolls sideways, and a sign with the number of columns that are out of sight at its right: a click brings them.
function framed(made, label) {
  const scrolled = element('div', { class: 'table', tabindex: 0, role: 'region', 'aria-label': label }, made);
  const frame = element('div', { class: 'table-frame' }, scrolled);
  const sign = element('button', { type: 'button', class: 'beyond', hidden: true });
  const look = () => {
    // What opens below a line is as wide as the frame, not as the table.
    scrolled.style.setProperty('--frame', `${scrolled.clientWidth}px`);
    const edge = scrolled.scrollLeft + scrolled.clientWidth + 1;
    const beyond = [...made.tHead.rows[0].cells].filter((cell) => cell.offsetLeft + cell.offsetWidth > edge).map((cell) => cell.textContent);
    frame.classList.toggle('cut', beyond.length > 0);
    sign.hidden = !beyond.length;
    sign.textContent = `${count(beyond.length)} more ${beyond.length === 1 ? 'column' : 'columns'} →`;
    sign.title = beyond.join(', ');
  };
  sign.addEventListener('click', () => scrolled.scrollBy({ left: scrolled.clientWidth * 0.7 }));
  scrolled.addEventListener('scroll', look, { passive: true });
  const watch = new ResizeObserver(look);
  for (const each of [scrolled, made]) watch.observe(each);
  return { frame, sign };
}

function headOf(column, pick) {
  const button = element('button', { type: 'button', title: column.help }, column.title);
  button.addEventListener('click', pick);
  return element('th', { scope: 'col', class: classOf(column), 'aria-sort': 'none' }, button);
}

// A column for the `screen` alone is one that paper has no room for: what it says is to be pasted, or is nearly that of another one.
const classOf = (column) => [column.number && 'number', column.screen && 'screen'].filter(Boolean).join(' ') || null;

const plain = (column, row) => column.text ? column.text(column.value(row), row) : String(column.value(row) ?? NONE);

function sorted(rows, column, descends) {
  const known = rows.filter((row) => column.value(row) != null);
  const order = column.number ? (a, b) => Number(column.value(a)) - Number(column.value(b))
    : (a, b) => String(column.value(a)).localeCompare(String(column.value(b)));
  known.sort((a, b) => descends ? order(b, a) : order(a, b));
  // What is not known is neither more nor less: it stands last.
  return [...known, ...rows.filter((row) => column.value(row) == null)];
}

function lineOf(columns, row, greatest, open) {
  const cells = columns.map((column, at) => {
    const value = column.value(row);
    const cell = element('td', { class: classOf(column), 'data-column': column.key });
    if (column.cell) cell.append(column.cell(row));
    else if (column.number || column.plain) cell.append(plain(column, row));
    else cell.append(named(value == null ? null : plain(column, row)));
    if (column.bar && greatest[at] > 0 && value != null) {
      cell.classList.add('bar');
      cell.style.setProperty('--part', `${(100 * Number(value)) / greatest[at]}%`);
    }
    return cell;
  });
  const line = element('tr', {}, cells);
  if (!open) return [line];
  const below = element('tr', { class: 'below', hidden: true }, element('td', { colspan: columns.length }));
  const button = element('button', { type: 'button', class: 'open', 'aria-expanded': 'false', 'aria-label': 'Open' }, '▸');
  button.addEventListener('click', () => {
    below.hidden = !below.hidden;
    button.setAttribute('aria-expanded', String(!below.hidden));
    if (!below.hidden && !below.firstChild.hasChildNodes()) below.firstChild.append(open(row));
  });
  cells[0].prepend(button);
  return [line, below];
}

// Columns by their names in the metric, with the form that the name asks for.
const numeric = (key, title, more = {}) => ({ key, title, number: true, value: (row) => row[key], text: formOf(key), ...more });
const text = (key, title, more = {}) => ({ key, title, value: (row) => row[key], text: (value) => value == null ? NONE : String(value), ...more });
const made = (key, title, value, more = {}) => ({ key, title, value, text: (found) => found == null ? NONE : String(found), ...more });
const when = (key, title, more = {}) => ({ key, title, number: true, value: (row) => row[key], text: (ns) => moment(ns, 3), ...more });
const clientColumn = () => made('client', 'client', clientOf);
