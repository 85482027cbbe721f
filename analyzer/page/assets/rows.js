// The data of the page: tables of metrics as rows, and sums of them over the selected time.

const DATA = JSON.parse(byId('data').textContent);
const GLOSSARY = JSON.parse(byId('glossary-data').textContent);

const read = new Map();
// The rows of a table as objects; columns that it has not are null.
function rowsOf(name) {
  if (!read.has(name) && DATA.packed[name]) read.set(name, unpacked(DATA.packed[name]));
  if (!read.has(name)) {
    const { columns, rows } = DATA.tables[name];
    read.set(name, rows.map((cells) => Object.fromEntries(columns.map((column, place) => [column, cells[place]]))));
  }
  return read.get(name);
}
// Rows that the page holds by column, texts as places in a list of them.
function unpacked({ rows, columns }) {
  const values = Object.entries(columns).map(([name, held]) => [name, held.words ? held.at.map((at) => at == null ? null : held.words[at]) : held]);
  return Array.from({ length: rows }, (_, at) => Object.fromEntries(values.map(([name, each]) => [name, each[at]])));
}

const totalOf = (name) => DATA.tables[name].total;

const apiOf = (row) => {
  const words = row.kind == null ? '' : DATA.kinds[row.kind] ?? row.kind.replaceAll('_', ' ');
  const name = row.api_name ?? (row.is_rest ? 'all others' : NONE);
  return words ? `${name}, ${words}` : name;
};
// An address with the name that it has, where files with names were given.
const addressOf = (address) => DATA.names[address] ? `${address} (${DATA.names[address]})` : address;
const clientOf = (row) => row.client_id || addressOf(row.client_address) || (row.is_rest ? 'all others' : NONE);
const endpoint = (address, port) => {
  const host = address == null ? NONE : address.includes(':') ? `[${address}]` : address;
  const name = DATA.names[address] ? ` (${DATA.names[address]})` : '';
  return (port == null ? host : `${host}:${port}`) + name;
};
const brokerOf = (row) => row.is_rest ? 'all others' : row.broker_id == null
  ? endpoint(row.broker_address, row.broker_port) : `${row.broker_id} (${endpoint(row.broker_address, row.broker_port)})`;
const softwareOf = (row) => [row.software_name, row.software_version].filter(Boolean).join(' ')
  || (row.inferred_library ? `${row.inferred_library} (inferred)` : null);

const SLOT = DATA.time.every_ns;
const FIRST = DATA.time.first_ns;
const LAST = DATA.time.last_ns;
const FIRST_SLOT = Math.floor((FIRST + offsetOfSlots()) / SLOT) * SLOT - offsetOfSlots();
const SLOTS = Math.max(1, Math.floor((LAST - FIRST_SLOT) / SLOT) + 1);
const slotOf = (row) => Math.round((Number(row.slot_ns) - FIRST_SLOT) / SLOT);

// Slots begin at multiples of their length since 1970, the page counts from a midnight.
function offsetOfSlots() {
  return SLOT <= 86400e9 ? 0 : (DATA.origin_ms % (SLOT / 1e6)) * 1e6;
}

// How much of each slot lies in time that was captured, in seconds: null where nothing was, so that no rate is 0 that is unknown.
const CAPTURED_S = Array.from({ length: SLOTS }, (_, slot) => {
  const begin = Math.max(FIRST_SLOT + slot * SLOT, FIRST);
  const end = Math.min(FIRST_SLOT + (slot + 1) * SLOT, LAST);
  let covered = 0;
  for (const [from, to] of DATA.captured) covered += Math.max(0, Math.min(end, to) - Math.max(begin, from));
  return covered > 0 ? covered / SECOND : null;
});

// Rows of a table over time, summed by `key`: key -> { row, a sum of each column in each slot }.
function series(name, key, columns, keep = () => true) {
  const found = new Map();
  for (const row of rowsOf(name)) {
    const slot = slotOf(row);
    if (!(slot >= 0 && slot < SLOTS) || !keep(row)) continue;
    const word = key(row);
    let one = found.get(word);
    if (!one) {
      one = { key: word, row, slots: Object.fromEntries(columns.map((column) => [column, new Float64Array(SLOTS)])) };
      found.set(word, one);
    }
    for (const column of columns) one.slots[column][slot] += Number(row[column] ?? 0);
  }
  return [...found.values()];
}

const sumOf = (values, [from, to] = selectedSlots()) => {
  let all = 0;
  for (let slot = from; slot < to; slot += 1) all += values[slot];
  return all;
};

// Values of slots as rates per captured second; where nothing was captured there is no rate.
const ratesOf = (values) => Array.from(values, (value, slot) => CAPTURED_S[slot] == null ? null : value / CAPTURED_S[slot]);
