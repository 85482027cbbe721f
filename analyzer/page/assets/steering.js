// The time axis by words and by keys, and a link that holds what is selected and filtered.

const DAY = 86400 * SECOND;
const SPANS = { ms: 1e6, s: SECOND, m: 60 * SECOND, min: 60 * SECOND, h: 3600 * SECOND, d: DAY };

// A moment as it is printed, or as --from takes it (analyzer/base/moments.py): ns from the page's origin, null for other words.
function typed(words) {
  const apart = /^([+-])(\d+(?:\.\d+)?)\s*(ms|s|min|m|h|d)$/.exec(words);
  if (apart) return apart[1] === '+' ? FIRST + apart[2] * SPANS[apart[3]] : LAST - apart[2] * SPANS[apart[3]];
  const found = /^(?:(\d{4}-\d{2}-\d{2})[T ])?(\d{1,2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?$/.exec(words);
  if (!found) return null;
  const [, day, hours, minutes, seconds = 0, fraction = ''] = found;
  const ns = (hours * 3600 + minutes * 60 + Number(seconds)) * SECOND + Number(fraction.padEnd(9, '0'));
  if (day) return (Date.parse(`${day}T00:00:00Z`) - DATA.origin_ms) * 1e6 + ns;
  const days = Array.from({ length: Math.floor(LAST / DAY) + 1 }, (_, at) => at * DAY + ns).filter((each) => each >= FIRST && each <= LAST);
  if (days.length > 1) throw new RangeError(`${words} is a moment of ${count(days.length)} days; give the date too`);
  return days[0] ?? ns;
}

const writtenMoment = (ns) => MANY_DAYS() ? typedMoment(ns) : clock(ns, 9).replace(/\.?0+$/, '');

// What happened at a time, as [words, first, last]: what the box searches.
function happenings() {
  const found = DATA.findings.map((each) => [each.sentence, each.first_time_ns, each.last_time_ns]);
  for (const row of rowsOf('rebalances')) found.push([`rebalance of ${row.group_id}: ${causeOf(row)}`, row.begin_ns, row.end_ns]);
  for (const row of rowsOf('errors')) found.push([['error', row.code, row.name, row.api_name, row.topic, row.client_id].filter((each) => each != null).join(' '), row.first_time_ns, row.last_time_ns]);
  return found.filter(([, first]) => first != null);
}

// Selects the time that words name: a moment, two of them, or the next thing that happened and has all words.
function goTo(words, turn) {
  const ends = words.split(/\s+to\s+|\.\./).map((each) => typed(each.trim()));
  if (ends.length === 2 && ends.every((each) => each != null)) return select(ends) ?? '';
  const slack = Math.max(5 * SLOT, (LAST - FIRST) / 50);
  if (ends.length === 1 && ends[0] != null) {
    if (ends[0] < FIRST || ends[0] > LAST) return `${words} is not in this capture`;
    return select([ends[0] - slack, ends[0] + slack]) ?? '';
  }
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  const all = happenings().filter(([text]) => wanted.every((word) => text.toLowerCase().includes(word)));
  if (!wanted.length || !all.length) return 'Nothing on the time axis has these words';
  const [text, first, last] = all[turn % all.length];
  select([first - slack, (last ?? first) + slack]);
  return `${turn % all.length + 1} of ${all.length}: ${text}`;
}

function searchBox() {
  const box = element('input', { type: 'search', class: 'go', placeholder: 'Go to a time or a word', 'aria-label': 'Go to a time, two times with "to" between them, or what has these words; Enter again for the next' });
  let [last, turn] = ['', 0];
  box.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter') return;
    event.preventDefault();
    turn = box.value === last ? turn + 1 : 0;
    last = box.value;
    try {
      announce(goTo(last.trim(), turn) || selectionText());
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      announce(error.message);
    }
  });
  return box;
}

// `factor` of the selected time around its middle, moved by a share of it; drawn places, so that what was not captured is narrow.
function zoomed(factor, move = 0) {
  const [begin, end] = visible().map(placeOf);
  const wide = Math.min(FULL_WIDTH, Math.max(SLOT, (end - begin) * factor));
  const from = Math.min(FULL_WIDTH - wide, Math.max(0, (begin + end - wide) / 2 + move * wide));
  select([timeAt(from), timeAt(from + wide)]);
}

// Keys of the axis, where it or something in it has the focus.
function steer(place, box) {
  const keys = { '+': () => zoomed(0.5), '=': () => zoomed(0.5), '-': () => zoomed(2), ArrowLeft: () => zoomed(1, -0.25), ArrowRight: () => zoomed(1, 0.25),
    0: () => select(null), Escape: () => select(null), '/': () => box.focus() };
  place.addEventListener('keydown', (event) => {
    if (event.defaultPrevented || event.target === box || event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
  });
}

// Label of a table -> a function that filters it, and the words by which it is filtered.
const filters = new Map();

// What is selected and filtered, as it is behind # in the address.
function stateWords() {
  const held = new URLSearchParams(selected ? { from: writtenMoment(selected[0]), to: writtenMoment(selected[1]) } : {});
  for (const [label, { words }] of filters) if (words()) held.set(label, words());
  return String(held).replaceAll('%3A', ':');
}

let writing = 0;
function keepState() {
  clearTimeout(writing);
  writing = setTimeout(() => {
    const words = stateWords();
    // An address that leads to a section stays as it is, until something is selected.
    if (words || location.hash.includes('=')) history.replaceState(null, '', words ? `#${words}` : location.href.split('#')[0]);
  }, 200);
}

function readState() {
  if (!location.hash.includes('=')) return;
  const held = new URLSearchParams(location.hash.slice(1));
  for (const [label, { set }] of filters) set(held.get(label) ?? '');
  try {
    const [from, to] = ['from', 'to'].map((name) => held.has(name) ? typed(held.get(name)) : undefined);
    if (from === null || to === null) announce('The time of this link is not one that the page knows');
    else select(from === undefined && to === undefined ? null : [from ?? FIRST, to ?? LAST]);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    announce(error.message);
  }
}

function linkButton() {
  const button = element('button', { type: 'button', class: 'plain screen' }, 'Copy link');
  button.title = 'A link to this page that holds the selected time and the filters of tables';
  button.addEventListener('click', () => { const words = stateWords(); copied(`${location.href.split('#')[0]}${words ? `#${words}` : ''}`, button); });
  return button;
}
