// The slowest requests: where their time went, and their messages as trees with the place of every value.

function drawSlowest() {
  const behind = new Map(rowsOf('slowest').map((row) => [row.exchange, row]));
  const rows = rowsOf('slowest_thousand').map((row) => ({ ...behind.get(row.exchange), ...row }));
  if (!rows.length) return;
  const place = section('slowest', 'The slowest requests', { short: 'Slowest', commands: ['slowest', 'exchanges'], asks: 'latency', means: DATA.means.slowest, about: 'Waits by design left out. Open a line to see its parts one after the other and, of the first 20, both messages; packets are numbered as in Wireshark.' });
  selectionNote(place, () => `Those of the ${count(rows.length)} slowest that began in the selected time; the command lists all others.`);
  place.append(legend(PARTS.filter((name) => rows.some((row) => row[SLOW_PARTS[name]] > 0)).map((name) => [`part-${name}`, partWords(name), DATA.parts[name][1]])));
  const update = table(place, [
    when('request_time_ns', 'time (UTC)'), made('api', 'request', apiOf), clientColumn(), made('broker', 'broker', brokerOf), numeric('took_ns', 'time', { bar: true, value: tookOf, help: 'from the first byte of the request to the first byte of the reply' }), numeric('latency_ns', 'latency', { screen: true }), made('parts', 'parts', (row) => partsText(row), { cell: (row) => partsBar(row) }),
    made('behind', 'queued behind', (row) => row.behind_api_name ? apiOf({ api_name: row.behind_api_name, kind: row.behind_kind }) : null), made('packets', 'packets', (row) => `${row.request_packet ?? NONE} > ${row.response_packet ?? NONE}`, { plain: true, help: 'first packet of the request and of the reply' }), made('file', 'file', (row) => fileOf(row.request_path)),
  ], { label: 'The slowest requests', open: treeOf, empty: 'None of them began in the selected time.' });
  onSelection(() => update(rows.filter((row) => touches(row.request_time_ns, row.request_time_ns))));
}

const SLOW_PARTS = { send: 'send_ns', queue: 'queue_ns', muted: 'muted_ns', proxy: 'proxy_ns', broker: 'broker_ns', network: 'network_ns', unknown: 'unknown_ns', receive: 'receive_ns' };
const tookOf = (row) => Number(row.latency_ns) + Number(row.send_ns ?? 0);
const partsOf = (row) => PARTS.map((name) => [name, row[SLOW_PARTS[name]]]).filter(([, ns]) => ns > 0);
const partsText = (row) => partsOf(row).sort((a, b) => b[1] - a[1]).map(([name, ns]) => `${partWords(name)} ${duration(ns)}`).join(', ') || null;

function partsBar(row) {
  const parts = partsOf(row);
  if (!parts.length) return element('span', { class: 'none' }, NONE);
  const whole = parts.reduce((sum, [, ns]) => sum + Number(ns), 0);
  return element('span', { class: 'where', title: partsText(row) }, element('span', { class: 'mini-parts', 'aria-hidden': true }, parts.map(([name, ns]) => element('i', { class: `part-${name}`, style: { width: `${(100 * ns) / whole}%` } }))), unbroken(partsText(row)));
}

// The parts of a request one after the other, from its first byte on; what is the network's is of both ways, and drawn once.
function waterfall(row) {
  const parts = partsOf(row).map(([name, ns]) => [name, Number(ns)]);
  if (!parts.length) return [element('p', { class: 'told' }, 'What it waited for is not known.')];
  const whole = parts.reduce((sum, [, ns]) => sum + ns, 0);
  let before = 0;
  return [element('div', { class: 'waterfall' }, parts.map(([name, ns]) => {
    const bar = element('i', { class: `part-${name}`, style: { left: `${(100 * before) / whole}%`, width: `max(2px, ${(100 * ns) / whole}%)` } });
    before += ns;
    return element('div', { class: 'fall', title: DATA.parts[name][1] }, element('span', {}, partWords(name)), element('span', { class: 'fall-track', 'aria-hidden': true }, bar), element('b', {}, duration(ns)));
  }))];
}

function treeOf(row) {
  const lines = DATA.trees[row.exchange];
  const holder = element('div', { class: 'tree' }, ...waterfall(row), command(`${DATA.show} ${row.exchange}`));
  if (!lines) {
    holder.append(element('p', { class: 'told' }, 'The messages are not in this page. The command shows them.'));
    return holder;
  }
  holder.append(...nested(lines));
  return holder;
}

// Lines as `kanalyze show` prints them: those below "request:" and "response:" are a tree by their indentation behind the sizes.
function nested(lines) {
  const out = [];
  let open = null;
  for (const line of lines) {
    const message = /^(request|response|no request|no response)/.test(line);
    if (message) {
      open = element('details', { open: true }, element('summary', {}, line));
      out.push(open);
      open.levels = [[-1, open]];
      continue;
    }
    if (!open) { if (line) out.push(element('p', { class: 'fact' }, line)); continue; }
    if (!line.trim() || /^\s*offset\s+size/.test(line)) continue;
    const words = line.slice(18);
    const depth = words.length - words.trimStart().length;
    const entry = element('div', { class: 'leaf' }, element('span', { class: 'offset' }, line.slice(0, 8).trim()), element('span', { class: 'size' }, line.slice(8, 16).trim()), element('span', { class: 'field', style: { 'padding-left': `${depth * 0.6}em` } }, words.trim()));
    while (open.levels.at(-1)[0] >= depth) open.levels.pop();
    const [, above] = open.levels.at(-1);
    (above.inside ?? above).append(entry);
    open.levels.push([depth, entry]);
    folded(entry, above);
  }
  return out;
}

// A line with lines below it folds them: they stand in a block behind it.
function folded(entry, above) {
  if (above.tagName === 'DETAILS' || !above.classList.contains('leaf') || above.inside) return;
  const inside = element('div', { class: 'inside' });
  above.after(inside);
  const button = element('button', { type: 'button', class: 'open', 'aria-expanded': 'true', 'aria-label': 'Fold' }, '▾');
  button.addEventListener('click', () => { inside.hidden = !inside.hidden; button.setAttribute('aria-expanded', String(!inside.hidden)); button.textContent = inside.hidden ? '▸' : '▾'; });
  above.querySelector('.field').prepend(button);
  above.inside = inside;
  inside.append(entry);
}
