// Elements of the page. Text of a capture only ever becomes a text node or an attribute: nothing here parses HTML.

const SVG = 'http://www.w3.org/2000/svg';

function element(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

function drawn(tag, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), attributes, children);
}

function filled(made, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value == null || value === false) continue;
    if (name.startsWith('on')) made.addEventListener(name.slice(2), value);
    else if (name === 'style') for (const [key, each] of Object.entries(value)) made.style.setProperty(key, each);
    else made.setAttribute(name, value === true ? '' : value);
  }
  for (const child of children.flat()) if (child != null && child !== false) made.append(child);
  return made;
}

const byId = (id) => document.getElementById(id);

// A name that may be broken before a capital letter, and nowhere else within a word; several words are broken between them.
const humps = (text) => text.includes(' ') ? [text] : text.split(/(?<=[a-z])(?=[A-Z])/).flatMap((part, at) => at ? [document.createElement('wbr'), part] : [part]);

// A sentence in which no line ends between a number and its unit.
const worded = (text) => element('span', { class: 'worded' }, text.split(/(\d[\d,.]* (?:ns|µs|ms|s|min|h|d|%|[kMGT]?B|times)(?!\w))/)
  .map((part, at) => at % 2 ? element('span', { class: 'unbroken' }, part) : part));

// A captured name: whole when hovered or focused, copied when clicked; its direction of writing stays its own.
function named(text, more = '') {
  if (text == null || text === '') return element('span', { class: 'none' }, text == null ? NONE : '(empty)');
  const made = element('button', { class: 'name', type: 'button', title: `${text}${more}\n(click to copy)` }, element('bdi', {}, humps(text)));
  made.addEventListener('click', () => copied(text, made));
  return made;
}

// A command line with a button that copies it; `narrowed` to the selected time where the verb takes one.
function command(text, { narrow = false, label = 'Copy command' } = {}) {
  const code = element('code', { tabindex: 0 }, text);
  const made = element('div', { class: 'command' }, code);
  const button = element('button', { class: 'copy', type: 'button', 'aria-label': label, title: label }, 'Copy');
  button.addEventListener('click', () => copied(code.textContent, button));
  made.append(button);
  if (narrow) onSelection(() => { code.textContent = `${text}${selectionWords()}`; });
  return made;
}

async function copied(text, from) {
  let done = true;
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = element('textarea', { class: 'out-of-sight', 'aria-hidden': true }, text);
    document.body.append(area);
    area.select();
    done = document.execCommand('copy');
    area.remove();
    from.focus({ preventScroll: true });
  }
  announce(done ? 'Copied' : 'The browser does not allow copying');
  from.classList.add('copied');
  setTimeout(() => from.classList.remove('copied'), 900);
}

let announced;
function announce(text) {
  const place = byId('announcements');
  place.textContent = text;
  place.classList.add('seen');
  clearTimeout(announced);
  announced = setTimeout(() => place.classList.remove('seen'), 1400);
}

// A section of the page: title, what it says, its command. `body` is empty and in the page.
function section(id, title, { short = title, about = '', commands = [], narrow = true, asks = null, means = null } = {}) {
  const made = element('section', { id, 'data-short': short, 'aria-labelledby': `${id}-title` },
    element('h2', { id: `${id}-title` }, title, means ? help(means) : null),
    about ? element('p', { class: 'about' }, about) : null);
  const unread = asks && DATA.readable[asks] && DATA.readable[asks].verdict !== 'whole' ? DATA.readable[asks].sentence : '';
  if (unread && unread !== DATA.readable.everything.sentence) made.append(element('p', { class: 'unread' }, unread));
  const body = element('div', { class: 'body' });
  made.append(body);
  if (commands.length) {
    made.append(element('details', { class: 'sources' }, element('summary', {}, commands.length > 1 ? 'The commands behind this' : 'The command behind this'),
      ...commands.map((name) => command(DATA.commands[name], { narrow }))));
  }
  byId('sections').append(made);
  return body;
}

// A question mark that says what the numbers mean.
function help(text) {
  const made = element('button', { class: 'help', type: 'button', 'aria-label': `What these numbers mean: ${text}`, title: text }, '?');
  made.addEventListener('click', () => note(text, made));
  return made;
}

function note(text, beside) {
  const open = document.querySelector('.note');
  if (open) {
    const same = open.beside === beside;
    open.remove();
    if (same) return;
  }
  const made = element('p', { class: 'note', role: 'note' }, text);
  made.beside = beside;
  beside.closest('h2, h3, .row-title, th').insertAdjacentElement('afterend', made);
}

const swatch = (kind) => element('span', { class: `swatch ${kind}`, 'aria-hidden': true });

function legend(entries) {
  return element('ul', { class: 'legend' }, entries.map(([kind, words, title]) =>
    element('li', { title }, swatch(kind), words)));
}

// One of several ways to see the same: buttons, of which one is pressed.
function choice(label, options, pick) {
  const buttons = options.map(([value, words]) => {
    const button = element('button', { type: 'button', 'aria-pressed': 'false' }, words);
    button.addEventListener('click', () => choose(value));
    return [value, button];
  });
  const choose = (value) => {
    for (const [each, button] of buttons) button.setAttribute('aria-pressed', String(each === value));
    pick(value);
  };
  const made = element('div', { class: 'choice', role: 'group', 'aria-label': label }, buttons.map(([, button]) => button));
  return { made, choose };
}

function selectBox(label, groups, pick) {
  const box = element('select', { 'aria-label': label });
  for (const [words, options] of groups) {
    if (!options.length) continue;
    box.append(element('optgroup', { label: words }, options.map(([value, text]) => element('option', { value }, text))));
  }
  box.addEventListener('change', () => pick(box.value));
  return box;
}
