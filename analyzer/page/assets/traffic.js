// Tables of what is there: APIs, topics, clients, brokers, errors, throttling, connections, readiness.

// Over all of the time a table shows the rows of the verb; of a selection, sums over its slots where there are any.
const spanWords = () => selected ? `Sums of ${moment(slotSpan()[0])} to ${moment(slotSpan()[1])}.` : '';

function selectionNote(place, words) {
  const made = element('p', { class: 'scope', role: 'status' });
  place.append(made);
  onSelection(() => { made.textContent = selected ? words() : ''; made.hidden = !selected; });
}

function drawApis() {
  const rows = rowsOf('latency');
  if (!rows.length) return;
  const place = section('apis', 'Latency by API', { short: 'APIs', commands: ['latency'], asks: 'latency', means: DATA.means.latency, about: 'Percentiles of the time from the last byte of a request to the first of its reply. What waits by design comes last: its latency says nothing about a broker.' });
  selectionNote(place, () => `${spanWords()} Percentiles of a selection are within 4.5 %, of the whole capture within 0.55 %.`);
  const reach = { broker: 'at once', mixed: 'may wait by design', wait: 'waits by design' };
  const update = table(place, [
    made('api', 'API', apiOf), numeric('p50_ns', 'p50'), numeric('p90_ns', 'p90'), numeric('p99_ns', 'p99', { bar: true }), numeric('max_ns', 'max'), numeric('count', 'requests', { bar: true }), numeric('rate_per_s', 'rate/s', { text: rate }),
    numeric('errors', 'with errors'), numeric('throttled', 'throttled'), made('where', 'where the time goes', (row) => row.reach === 'broker' ? whereOf(row) : null, { cell: (row) => whereCell(row) }), made('reach', 'answered', (row) => reach[row.reach], { plain: true }),
  ], { label: 'Latency by API', total: totalOf('latency'), lines: 14 });
  const order = ['broker', 'mixed', 'wait'];
  onSelection(() => update((selected ? apisInSelection() : [...rows]).sort((a, b) => order.indexOf(a.reach) - order.indexOf(b.reach))));
}

// The largest parts of a row's time, as the verb writes them.
function sharesOf(row) {
  const times = PART_COLUMNS.map((column) => row[column]);
  if (!row.parts_known || row.parts_known * 2 < row.answered || times.some((ns) => ns == null)) return [];
  const whole = times.reduce((sum, ns) => sum + Number(ns), 0);
  return whole ? PARTS.map((name, at) => [name, times[at] / whole]).sort((a, b) => b[1] - a[1]) : [];
}
// Parts of a text, none of which is broken: a number stays with its unit.
const unbroken = (words) => element('span', {}, words.split(', ').flatMap((part, at, all) => [element('span', { class: 'unbroken' }, `${part}${at < all.length - 1 ? ',' : ''}`), ' ']));
const wholePercent = (part) => `${part < 1 ? Math.min(Math.floor(part * 100 + 0.5), 99) : 100} %`;
const whereOf = (row) => sharesOf(row).slice(0, 3).filter(([, part]) => part >= 0.01).map(([name, part]) => `${partWords(name)} ${wholePercent(part)}`).join(', ') || null;
function whereCell(row) {
  const words = row.reach === 'broker' ? whereOf(row) : null;
  if (!words) return element('span', { class: 'none' }, NONE);
  const bar = element('span', { class: 'mini-parts', 'aria-hidden': true }, sharesOf(row).map(([name, part]) => element('i', { class: `part-${name}`, style: { width: `${100 * part}%` } })));
  return element('span', { class: 'where', title: words }, bar, unbroken(words));
}

// Sums of the selection, with the rows that are of the whole capture: what is not known of it is not known of a part of it.
const knownSums = (columns, slots, like) => Object.fromEntries(columns.map((column) => [column, column in (like[0] ?? {}) && like.every((each) => each[column] == null) ? null : sumOf(slots[column])]));

function apisInSelection() {
  const columns = ['requests', 'answered', 'errors', 'throttled', 'parts_known', ...PART_COLUMNS];
  const [begin, end] = selectedSlots();
  const seconds = CAPTURED_S.slice(begin, end).reduce((sum, each) => sum + (each ?? 0), 0);
  const [buckets, longest] = [new Map(), new Map()];
  for (const row of rowsOf('activity_by_api')) {
    const slot = slotOf(row);
    if (slot < begin || slot >= end || row.between_brokers || row.max_ns == null) continue;
    const key = `${row.reach} ${apiOf(row)}`;
    longest.set(key, Math.max(longest.get(key) ?? 0, Number(row.max_ns)));
  }
  for (const row of rowsOf('latency_heat')) {
    const slot = slotOf(row);
    if (slot < begin || slot >= end) continue;
    const key = `${row.reach} ${apiOf(row)}`;
    if (!buckets.has(key)) buckets.set(key, []);
    buckets.get(key).push(row);
  }
  return series('activity_by_api', (row) => `${row.reach} ${apiOf(row)}`, columns, (row) => !row.between_brokers).map(({ key, row, slots }) => {
    const found = counts(buckets.get(key) ?? [], middleOf);
    const at = (q) => found.length ? Math.round(quantile(found, q)) : null;
    const like = rowsOf('latency').filter((each) => `${each.reach} ${apiOf(each)}` === key);
    const sums = knownSums(columns, slots, like);
    return { ...row, ...sums, count: sums.requests, rate_per_s: seconds ? sums.requests / seconds : null, p50_ns: at(50), p90_ns: at(90), p99_ns: at(99), max_ns: longest.get(key) ?? null };
  }).filter((row) => row.count > 0).sort((a, b) => b.count - a.count);
}

function drawTopics() {
  const rows = rowsOf('topics');
  if (!rows.length) return;
  const place = section('topics', 'Topics', { commands: ['topics', 'delivery', 'lag'], asks: 'topics', means: DATA.means.topics });
  selectionNote(place, () => `${spanWords()} Lag, partitions and clients are those of the whole capture.`);
  const update = table(place, [
    text('topic', 'topic'), numeric('partitions', 'partitions'), numeric('producers', 'producers'), numeric('consumers', 'consumers'), numeric('groups', 'groups'),
    numeric('written_bytes', 'written', { bar: true }), numeric('written_bytes_per_s', 'written/s'), numeric('read_bytes', 'read', { bar: true }), numeric('read_bytes_per_s', 'read/s'), numeric('lag', 'lag, records'),
  ], { label: 'Topics', total: totalOf('topics'), empty: 'No topic was written or read in the selected time.' });
  onSelection(() => {
    if (!selected) return update(rows);
    const sums = new Map();
    for (const pair of pairs()) { const old = sums.get(pair.topic) ?? { written_bytes: 0, read_bytes: 0 }; old.written_bytes += pair.written_bytes; old.read_bytes += pair.read_bytes; sums.set(pair.topic, old); }
    const [begin, end] = selectedSlots();
    const seconds = CAPTURED_S.slice(begin, end).reduce((sum, each) => sum + (each ?? 0), 0);
    update(rows.filter((row) => sums.has(row.topic)).map((row) => { const now = sums.get(row.topic); return { ...row, ...now, written_bytes_per_s: seconds ? now.written_bytes / seconds : null, read_bytes_per_s: seconds ? now.read_bytes / seconds : null }; }));
  });
}

function drawClients() {
  const rows = rowsOf('clients');
  if (!rows.length) return;
  const place = section('clients', 'Clients', { commands: ['clients'], asks: 'clients', means: DATA.means.clients });
  selectionNote(place, () => `${spanWords()} The libraries and connections are those of the whole capture; clients beyond the 60 busiest are not counted apart.`);
  const update = table(place, [
    clientColumn(), made('client_address', 'address', (row) => addressOf(row.client_address)), text('application', 'application'), made('software', 'library', softwareOf), text('principal', 'user'), numeric('connections', 'connections'), numeric('requests', 'requests', { bar: true }), numeric('rate_per_s', 'rate/s', { text: rate }),
    numeric('request_bytes', 'sent', { bar: true }), numeric('response_bytes', 'received', { bar: true }), numeric('errors', 'errors'), numeric('throttled', 'throttled'), numeric('unanswered', 'unanswered'), text('security', 'security', { plain: true }),
  ], { label: 'Clients', total: totalOf('clients'), empty: 'No client asked anything in the selected time.' });
  onSelection(() => {
    if (!selected) return update(rows);
    const columns = ['requests', 'request_bytes', 'response_bytes', 'errors', 'throttled'];
    const [begin, end] = selectedSlots();
    const seconds = CAPTURED_S.slice(begin, end).reduce((sum, each) => sum + (each ?? 0), 0);
    update(series('activity_by_client', (row) => JSON.stringify([row.client_id, row.client_address, row.is_rest]), columns, (row) => !row.between_brokers).map(({ row, slots }) => {
      const like = rows.filter((each) => each.client_id === row.client_id && each.client_address === row.client_address);
      const sums = knownSums(columns, slots, like);
      return { client_id: row.client_id, client_address: row.client_address, is_rest: row.is_rest, ...(like.length === 1 ? { software_name: like[0].software_name, software_version: like[0].software_version, principal: like[0].principal, connections: like[0].connections, security: like[0].security } : {}), ...sums, rate_per_s: seconds ? sums.requests / seconds : null };
    }).filter((row) => row.requests > 0).sort((a, b) => b.requests - a.requests));
  });
}

function drawBrokers() {
  const rows = rowsOf('latency_by_broker');
  if (!rows.length) return;
  const place = section('brokers', 'Brokers side by side', { short: 'Brokers', commands: ['latency_by_broker', 'brokers'], asks: 'latency', means: DATA.means.latency_by_broker, about: 'Of the clients\' requests that are answered at once, those that wait by design left out.' });
  selectionNote(place, () => 'Of the whole capture: a selection changes the rows over time above.');
  const update = table(place, [
    made('broker', 'broker', brokerOf), numeric('p50_ns', 'p50'), numeric('p90_ns', 'p90'), numeric('p99_ns', 'p99', { bar: true }), numeric('max_ns', 'max'), numeric('count', 'requests', { bar: true }), numeric('rate_per_s', 'rate/s', { text: rate }), numeric('errors', 'with errors'), numeric('throttled', 'throttled'),
    made('where', 'where the time goes', (row) => whereOf(row), { cell: whereCell }),
  ], { label: 'Brokers', total: totalOf('latency_by_broker') });
  update(rows.filter((row) => row.reach === 'broker'));
}

// Only where the broker's own log of requests was read.
function drawBrokerLog() {
  if (!DATA.tables.broker_log) return;
  const rows = rowsOf('broker_log');
  if (!rows.length) return;
  const place = section('broker-log', 'Time in the broker by its own log', { short: 'Broker log', commands: ['latency'], means: DATA.means.broker_log, about: 'Request queue: until a handler thread is free. Local: work on this broker, its disk and locks too. Remote: waits for followers, for data or for members. Response queue: until a network thread is free. Sums over all requests that the log has.' });
  selectionNote(place, () => 'Of the whole capture.');
  table(place, [
    made('api', 'API', apiOf), made('broker', 'broker', brokerOf), numeric('requests', 'requests', { bar: true }), numeric('p50_ns', 'p50'), numeric('p99_ns', 'p99', { bar: true }), numeric('max_ns', 'max'), numeric('log_queue_ns', 'request queue', { bar: true }), numeric('log_local_ns', 'local', { bar: true }),
    numeric('log_remote_ns', 'remote', { bar: true }), numeric('log_response_queue_ns', 'response queue', { bar: true }), numeric('log_send_ns', 'send', { bar: true }),
  ], { label: 'Time in the broker by its own log', total: totalOf('broker_log') })(rows);
}

function drawErrors() {
  const rows = rowsOf('errors').filter((row) => !row.between_brokers);
  const throttle = rowsOf('throttle');
  const unanswered = rowsOf('unanswered').filter((row) => row.api_name != null);
  if (rows.length) {
    const place = section('errors', 'Errors', { commands: ['errors'], asks: 'errors', means: DATA.means.errors });
    const normal = element('label', { class: 'check' }, element('input', { type: 'checkbox' }), ' also those of normal operation');
    place.append(normal);
    const update = table(place, [
      made('error', 'error', (row) => [row.code, row.name].filter((each) => each != null).join(' ')), text('api_name', 'API', { plain: true }), text('topic', 'topic'), clientColumn(), numeric('count', 'codes', { bar: true }), numeric('unexpected', 'not normal', { bar: true }),
      numeric('burst', 'most in a second'), when('first_time_ns', 'first'), when('last_time_ns', 'last'), made('packet', 'example', (row) => row.example_packet == null ? null : `packet ${row.example_packet} of ${fileOf(row.example_path)}`),
      ...(rows.some((row) => row.error_message != null) ? [text('error_message', 'the broker says', { plain: true })] : []),
    ], { label: 'Errors', total: totalOf('errors'), empty: 'No error that is not part of normal operation.' });
    const draw = () => update(rows.filter((row) => (normal.firstChild.checked || row.unexpected > 0) && touches(row.first_time_ns, row.last_time_ns)));
    normal.firstChild.addEventListener('change', draw);
    onSelection(draw);
  }
  if (throttle.length) {
    const place = section('throttle', 'Throttling', { commands: ['throttle'], asks: 'throttle', means: DATA.means.throttle });
    selectionNote(place, () => 'Of the whole capture: a selection changes the row over time above.');
    table(place, [clientColumn(), made('client_address', 'address', (row) => addressOf(row.client_address)), text('api_name', 'API', { plain: true }), numeric('replies', 'replies'), numeric('throttled', 'throttled', { bar: true }), numeric('throttle_time_ms', 'throttle time', { bar: true }), numeric('throttled_ns', 'muted, worst connection', { bar: true }), numeric('share', 'of its life', { text: share }), numeric('sent_inside', 'sent while muted')],
      { label: 'Throttling', total: totalOf('throttle') })(throttle);
  }
  if (unanswered.length) {
    const place = section('unanswered', 'Without a reply', { commands: ['unanswered'], means: DATA.means.unanswered });
    selectionNote(place, () => 'Of the whole capture.');
    table(place, [text('api_name', 'API', { plain: true }), numeric('lost', 'unanswered when the connection ended', { bar: true }), numeric('longest_closed_ns', 'longest wait'), numeric('pending', 'pending at the end'), numeric('longest_pending_ns', 'longest pending'), numeric('reply_lost', 'reply not in the capture')],
      { label: 'Requests without a reply' })(unanswered);
  }
}

function drawConnections() {
  const rows = rowsOf('connections');
  if (!rows.length) return;
  const place = section('connections', 'Connections', { commands: ['connections'], means: DATA.means.connections, about: 'Loss and distance: what was sent again, what the capture misses, and the round trip of the handshake.' });
  selectionNote(place, () => 'Connections that lived in the selected time; their numbers are those of their whole life.');
  const update = table(place, [
    clientColumn(), made('from', 'from', (row) => endpoint(row.client_address, row.client_port)), made('to', 'to', brokerOf), numeric('life_ns', 'life'), numeric('requests', 'requests', { bar: true }), numeric('client_bytes', 'sent'), numeric('broker_bytes', 'received'), numeric('rtt_ns', 'round trip', { bar: true }),
    numeric('retransmitted_share', 'sent again', { text: share, bar: true }), numeric('gap_bytes', 'missing'), numeric('in_flight', 'in flight', { help: 'most requests that waited at once' }), numeric('errors', 'errors'), text('close', 'end', { plain: true }), text('security', 'security', { plain: true }), text('connection', 'id', { screen: true }),
  ], { label: 'Connections', total: totalOf('connections') });
  onSelection(() => update(rows.filter((row) => touches(row.first_time_ns, row.last_time_ns))));
}

const VERDICTS = { already_failing: ['fails already', 'high'], breaks: ['breaks', 'high'], undetermined: ['cannot be told', 'medium'], unknown: ['release not known', 'low'], upgrade_note: ['mind when upgrading', 'low'], fine_as_far_as_seen: ['fine, as far as seen', 'fine'] };
function drawReadiness() {
  const rows = rowsOf('readiness');
  if (!rows.length) return;
  const release = rows[0].release;
  const place = section('readiness', `Ready for Kafka ${release}?`, { short: 'Readiness', commands: ['readiness'], asks: 'readiness', means: DATA.means.readiness });
  const tally = Object.keys(VERDICTS).map((verdict) => [verdict, new Set(rows.filter((row) => row.verdict === verdict).map((row) => JSON.stringify([row.client_id, row.client_address]))).size]).filter(([, clients]) => clients);
  place.append(element('p', { class: 'verdicts' }, tally.map(([verdict, clients]) => element('span', { class: `verdict ${VERDICTS[verdict][1]}` }, `${count(clients)} ${clients === 1 ? 'client' : 'clients'}: ${VERDICTS[verdict][0]}`))));
  const update = table(place, [
    made('verdict', 'verdict', (row) => VERDICTS[row.verdict]?.[0] ?? row.verdict, { cell: (row) => element('span', { class: `verdict ${VERDICTS[row.verdict]?.[1] ?? 'low'}` }, VERDICTS[row.verdict]?.[0] ?? row.verdict) }),
    clientColumn(), made('client_address', 'address', (row) => addressOf(row.client_address)), made('software', 'library', (row) => softwareOf(row) ?? row.library), made('api', 'API', (row) => `${row.api_name} v${row.api_version}`, { plain: true }), numeric('oldest', 'oldest accepted', { text: (value) => value == null ? NONE : `v${value}` }), numeric('requests', 'requests'), made('cure', 'cure', (row) => row.cure, { plain: true }), text('setting', 'setting'),
  ], { label: 'Readiness', total: totalOf('readiness'), lines: 8 });
  onSelection(() => update(rows.filter((row) => touches(row.first_time_ns, row.last_time_ns))));
}
