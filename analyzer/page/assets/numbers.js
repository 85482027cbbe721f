// Numbers as text, each with its unit: the rules of analyzer/report/format.py, which a test holds these against.

const SECOND = 1e9;
const NONE = '-';
const SIZES = ['B', 'kB', 'MB', 'GB', 'TB', 'PB', 'EB'];
const DURATIONS = [
  [1e3, 1, 0, 'ns'], [9950, 1e3, 1, 'µs'], [99500, 1e3, 0, 'µs'], [995000, 1e6, 2, 'ms'], [9950000, 1e6, 1, 'ms'],
  [999500000, 1e6, 0, 'ms'], [59950000000, SECOND, 1, 's'],
];

// To the nearest whole number, halves up.
const nearest = (number, unit) => Math.floor((2 * number + unit) / (2 * unit));
const grouped = (number) => String(number).replace(/\B(?=(\d{3})+(?!\d))/g, ',');

function scaled(number, unit, decimals) {
  if (!decimals) return grouped(nearest(number, unit));
  const scale = 10 ** decimals;
  const all = nearest(number * scale, unit);
  return `${grouped(Math.floor(all / scale))}.${String(all % scale).padStart(decimals, '0')}`;
}

function count(number) {
  return number == null ? NONE : typeof number === 'string' ? number.replace(/\B(?=(\d{3})+(?!\d))/g, ',') : grouped(number);
}

const things = (number, one) => `${count(number)} ${Number(number) === 1 ? one : `${one}s`}`;

function size(number) {
  if (number == null) return NONE;
  const bytes = Number(number);
  let power = 0;
  while (power < SIZES.length - 1 && bytes * 2 >= 1999 * 1000 ** power) power += 1;
  if (!power) return `${bytes} B`;
  const unit = 1000 ** power;
  return `${scaled(bytes, unit, bytes * 100 < 995 * unit ? 1 : 0)} ${SIZES[power]}`;
}

function duration(given) {
  if (given == null) return NONE;
  const ns = Number(given);
  if (ns <= 0) return ns ? `-${duration(-ns)}` : '0 ns';
  for (const [limit, unit, decimals, name] of DURATIONS) if (ns < limit) return `${scaled(ns, unit, decimals)} ${name}`;
  const seconds = nearest(ns, SECOND);
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  const minutes = nearest(seconds, 60);
  if (minutes < 24 * 60) return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
  const hours = nearest(minutes, 60);
  return `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

const milliseconds = (ms) => duration(ms == null ? null : Number(ms) * 1e6);

function rate(perSecond) {
  if (perSecond == null) return NONE;
  if (perSecond >= 9.95) return grouped(evenly(perSecond, 0));
  return perSecond >= 0.995 ? evenly(perSecond, 1) : perSecond >= 0.01 ? evenly(perSecond, 2) : '<0.01';
}

// Halves of the decimal expansion go to the even digit, as Python writes them.
function evenly(number, decimals) {
  const scale = 10 ** decimals;
  const whole = Math.floor(number * scale);
  if (number * scale - whole !== 0.5 || (whole + 0.5) / scale !== number) return number.toFixed(decimals);
  return ((whole % 2 ? whole + 1 : whole) / scale).toFixed(decimals);
}

function share(part) {
  if (part == null) return NONE;
  if (part >= 0.0995) return `${Math.min(Math.floor(part * 100 + 0.5), 100)} %`;
  return part >= 0.001 ? `${evenly(part * 100, 1)} %` : part > 0 ? '<0.1 %' : '0 %';
}

// Cut, never rounded up: 100 % is all.
function percent(part, whole) {
  if (!(whole > 0)) return NONE;
  if (part === 0 || part === whole) return part ? '100 %' : '0 %';
  const hundredths = Math.floor((part * 10000) / whole);
  if (!hundredths) return '<0.01 %';
  return hundredths % 100 ? `${Math.floor(hundredths / 100)}.${String(hundredths % 100).padStart(2, '0')} %` : `${hundredths / 100} %`;
}

const perSecond = (write) => (number) => number == null ? NONE : `${write(number)}/s`;
const sizeRate = (number) => number == null ? NONE : `${size(Math.floor(number))}/s`;

// Moments of a page count ns from its origin, a midnight; `digits` of the second, cut.
function clock(ns, digits = 0) {
  if (ns == null) return NONE;
  const seconds = Math.floor(Number(ns) / SECOND);
  const rest = Number(ns) - seconds * SECOND;
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  const two = (number) => String(((number % 60) + 60) % 60).padStart(2, '0');
  const text = `${String(((hours % 24) + 24) % 24).padStart(2, '0')}:${two(minutes)}:${two(seconds)}`;
  return digits ? `${text}.${String(Math.floor(rest)).padStart(9, '0').slice(0, digits)}` : text;
}

function date(ns) {
  return new Date(DATA.origin_ms + Math.floor(Number(ns) / 1e6)).toISOString().slice(0, 10);
}

const MANY_DAYS = () => DATA.time.last_ns >= 86400 * SECOND;
const moment = (ns, digits = 0) => ns == null ? NONE : `${MANY_DAYS() ? `${date(ns)} ` : ''}${clock(ns, digits)}`;
// As --from and --to take it.
const typedMoment = (ns) => `${date(ns)}T${clock(ns, 9).replace(/\.?0+$/, '')}`;

// The end of a column's name -> how its values are written.
const FORMS = [
  ['send_ns', duration], ['_time_ns', (ns) => moment(ns, 3)], ['begin_ns', (ns) => moment(ns, 3)], ['end_ns', (ns) => moment(ns, 3)],
  ['_rebalance_ns_at', (ns) => moment(ns, 3)], ['_ns', duration], ['_ms', milliseconds], ['share', share],
  ['bytes_per_s', sizeRate], ['rate_per_s', rate], ['_per_s', rate], ['bytes', size],
];
function formOf(column) {
  const found = FORMS.find(([end]) => column.endsWith(end));
  return found ? found[1] : (value) => typeof value === 'number' && !Number.isInteger(value) ? rate(value) : count(value);
}
