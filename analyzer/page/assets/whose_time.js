// Where the time goes: of each API, client and broker, by the parts that analyzer/report/latency_components.py names.

const PARTS = ['send', 'queue', 'muted', 'proxy', 'broker', 'network', 'unknown', 'receive'];
const PART_COLUMNS = PARTS.map((name) => `parts_${name}_ns`);
const partWords = (name) => DATA.parts[name][0];

function drawWhoseTime() {
  if (!rowsOf('activity_by_api').some((row) => row.parts_known)) return;
  const place = section('profile', 'Where the time goes', { short: 'Whose time', commands: ['profile', 'latency'], asks: 'latency', means: DATA.means.activity_by_api,
    about: 'From the first byte of a request to the last of its reply, over all requests that do not wait by design and whose time is known part by part.' });
  const seen = PARTS.filter((name) => name !== 'proxy' || rowsOf('activity_by_api').some((row) => row.parts_proxy_ns > 0));
  place.append(legend(seen.map((name) => [`part-${name}`, partWords(name), DATA.parts[name][1]])));
  const bars = element('div', { class: 'shares' });
  const sources = { api: ['activity_by_api', apiOf], client: ['activity_by_client', clientOf], broker: ['activity_by_broker', brokerOf] };
  let now = 'api';
  const pick = choice('Group by', [['api', 'by API'], ['client', 'by client'], ['broker', 'by broker']], (value) => { now = value; draw(); });
  place.append(pick.made, bars);
  const draw = () => {
    const [name, key] = sources[now];
    const found = series(name, key, [...PART_COLUMNS, 'parts_known', 'requests'], (row) => !row.between_brokers && row.reach === 'broker');
    const rows = found.map((each) => ({ each, parts: PART_COLUMNS.map((column) => sumOf(each.slots[column])), known: sumOf(each.slots.parts_known), requests: sumOf(each.slots.requests) }))
      .map((row) => ({ ...row, whole: row.parts.reduce((a, b) => a + b, 0) })).filter((row) => row.whole > 0).sort((a, b) => b.whole - a.whole);
    const most = rows[0]?.whole ?? 1;
    bars.replaceChildren(...rows.slice(0, 14).map((row) => shareRow(row, most)));
    if (rows.length > 14) bars.append(element('p', { class: 'told' }, `and ${count(rows.length - 14)} more that took less`));
    if (!rows.length) bars.append(element('p', { class: 'empty' }, 'No request whose parts are known falls into the selected time.'));
  };
  pick.choose('api');
  onSelection(draw);
}

function shareRow(row, most) {
  const words = PARTS.map((name, at) => [name, row.parts[at]]).filter(([, ns]) => ns > 0).sort((a, b) => b[1] - a[1]);
  const told = words.map(([name, ns]) => `${partWords(name)} ${duration(ns)} (${share(ns / row.whole)})`).join(', ');
  const bar = element('div', { class: 'share-bar', role: 'img', 'aria-label': told, style: { width: `max(8px, ${(100 * row.whole) / most}%)` } },
    PARTS.map((name, at) => row.parts[at] > 0 ? element('span', { class: `part-${name}`, title: `${partWords(name)}: ${duration(row.parts[at])}, ${share(row.parts[at] / row.whole)}. ${DATA.parts[name][1]}`,
      style: { 'flex-grow': String(row.parts[at] / row.whole) } }) : null));
  const [first] = words;
  const unknown = row.known < row.requests ? `; parts are known of ${count(row.known)} of ${count(row.requests)} requests` : '';
  return element('div', { class: 'share-row' }, element('div', { class: 'share-name' }, named(row.each.key)), element('div', { class: 'share-track' }, bar),
    element('div', { class: 'share-told', title: told + unknown }, element('b', {}, duration(row.whole)), ` ${partWords(first[0])} ${share(first[1] / row.whole)}`));
}
