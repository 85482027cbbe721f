// What happened when: rows over one time axis, each with its own scale, all with one cursor.

function drawTimeline() {
  const place = section('time', 'Over time', { about: `Each point is ${duration(SLOT)}. Drag across a chart to limit everything below to that time.`, commands: ['time', 'errors', 'throttle', 'groups', 'brokers'] });
  const chart = element('div', { class: 'timeline' });
  place.append(chart);
  findingsRow(chart);
  requestRows(chart);
  latencyRows(chart);
  troubleRows(chart);
  rebalanceRow(chart);
  brokerRows(chart);
  // On paper rows are in two columns, each with its axis.
  for (const kind of ['', 'paper']) {
    const labels = element('div', { class: 'axis' });
    chart.append(element('div', { class: `row last ${kind}` }, labels));
    axisLabels(labels);
  }
}

function findingsRow(place) {
  if (!DATA.findings.some((each) => each.first_time_ns != null)) return;
  const timed = DATA.findings.filter((each) => each.first_time_ns != null).slice(0, 40);
  laneRow(place, { title: 'Findings', className: 'stacked', fill: (lane) => {
    const ends = [];
    const bars = [];
    for (const finding of timed) {
      const [from, to] = [across(finding.first_time_ns), across(finding.last_time_ns)];
      if (to < 0 || from > 100) continue;
      let level = ends.findIndex((end) => end < from - 0.3);
      if (level < 0) level = ends.length;
      if (level >= 6) continue;
      ends[level] = Math.max(to, from + 1);
      const bar = laneBar(finding.first_time_ns, finding.last_time_ns, { class: `finding-bar ${finding.severity}`, title: finding.sentence, role: 'button', tabindex: 0, 'aria-label': finding.sentence });
      bar.style.top = `${2 + level * 11}px`;
      const go = () => { const card = byId(`finding-${finding.number}`); card.closest('details')?.setAttribute('open', ''); card.open(); card.scrollIntoView({ block: 'center' }); };
      bar.addEventListener('click', go);
      bar.addEventListener('keydown', (event) => { if (event.key === 'Enter') go(); });
      bars.push(bar);
    }
    lane.style.height = `${6 + 11 * Math.max(1, ends.length)}px`;
    return bars;
  } });
}

const one = (name, columns, keep) => series(name, () => '', columns, keep)[0]?.slots ?? Object.fromEntries(columns.map((column) => [column, new Float64Array(SLOTS)]));

function requestRows(place) {
  const clients = one('activity_by_api', ['requests', 'request_bytes', 'response_bytes', 'errors', 'throttled'], (row) => !row.between_brokers);
  const brokers = one('activity_by_api', ['requests', 'request_bytes', 'response_bytes'], (row) => row.between_brokers);
  const lines = [['of clients', ratesOf(clients.requests), '--line-1']];
  if (sumOf(brokers.requests, [0, SLOTS])) lines.push(['between brokers', ratesOf(brokers.requests), '--line-6']);
  timeChart(place, { title: 'Requests', about: DATA.means.activity_by_api, lines, write: perSecond(rate) });
  timeChart(place, { title: 'Bytes of clients', about: 'Whole messages of clients, as they were on the wire: requests go to brokers, replies to clients.', lines: [
    ['to brokers', ratesOf(clients.request_bytes), '--line-1'], ['to clients', ratesOf(clients.response_bytes), '--line-2']], write: sizeRate });
}

// APIs whose latency is the broker's and the network's, then those that wait by design, the most frequent first.
function apisByReach() {
  const found = { broker: [], mixed: [], wait: [] };
  for (const row of rowsOf('latency')) if (row.answered) (found[row.reach] ?? found.mixed).push(apiOf(row));
  return [['Answered at once', found.broker], ['May wait by design', found.mixed], ['Wait by design', found.wait]]
    .map(([words, names]) => [words, [...new Set(names)].map((name) => [name, name])]);
}

function percentiles(api) {
  const values = { p50: new Array(SLOTS).fill(null), p99: new Array(SLOTS).fill(null) };
  for (const row of rowsOf('latency_over_time')) {
    const slot = slotOf(row);
    if (slot < 0 || slot >= SLOTS || apiOf(row) !== api) continue;
    // A percentile of 0 ns has no place on a logarithmic scale.
    values.p50[slot] = row.p50_ns == null ? null : Math.max(1, Number(row.p50_ns));
    values.p99[slot] = row.p99_ns == null ? null : Math.max(1, Number(row.p99_ns));
  }
  return values;
}

function latencyRows(place) {
  const groups = apisByReach();
  const busiest = groups[0][1].slice(0, 4).map(([name]) => name);
  if (!groups.some(([, names]) => names.length)) return;
  if (busiest.length) {
    timeChart(place, { title: 'Latency, p99', about: `${DATA.means.latency} On a logarithmic scale; waits by design are left out.`, height: 110, logarithmic: true, write: duration,
      lines: busiest.map((api, at) => [api, percentiles(api).p99, LINE_COLORS[at]]) });
  }
  const first = busiest[0] ?? groups.flatMap(([, names]) => names)[0][0];
  const box = selectBox('API whose latency is drawn', groups, (api) => { const now = percentiles(api); drawn.set([now.p50, now.p99]); });
  box.value = worst(groups[0][1].map(([name]) => name)) ?? first;
  const values = percentiles(box.value);
  const drawn = timeChart(place, { title: 'One API', height: 90, logarithmic: true, write: duration, extra: box,
    lines: [['p50', values.p50, '--line-1'], ['p99', values.p99, '--line-3']] });
}

// The API that took most time beyond what it usually takes: where one looks first.
function worst(names) {
  const rows = rowsOf('latency').filter((row) => names.includes(apiOf(row)) && row.p99_ns != null);
  rows.sort((a, b) => b.p99_ns * Math.sqrt(b.count) - a.p99_ns * Math.sqrt(a.count));
  return rows.length ? apiOf(rows[0]) : null;
}

function troubleRows(place) {
  const errors = one('errors_over_time', ['unexpected', 'expected'], (row) => !row.between_brokers);
  const churn = one('connection_churn', ['opened', 'closed', 'reset', 'unanswered', 'refused']);
  const amount = (values) => Array.from(values, (value, slot) => CAPTURED_S[slot] == null ? null : value);
  if (sumOf(errors.unexpected, [0, SLOTS]) + sumOf(errors.expected, [0, SLOTS])) {
    timeChart(place, { title: 'Error codes', about: DATA.means.errors_over_time, write: count, lines: [
      ['not normal', amount(errors.unexpected), '--bad'], ['of normal operation', amount(errors.expected), '--line-6']] });
  }
  const throttle = new Array(SLOTS).fill(null).map((_, slot) => CAPTURED_S[slot] == null ? null : 0);
  for (const row of rowsOf('throttle_over_time')) { const slot = slotOf(row); if (slot >= 0 && slot < SLOTS) throttle[slot] = row.share ?? 0; }
  if (throttle.some((value) => value > 0)) {
    timeChart(place, { title: 'Throttled', about: DATA.means.throttle_over_time, write: share, lines: [['of the worst connection\'s time', throttle, '--warn']] });
  }
  if (sumOf(churn.opened, [0, SLOTS]) + sumOf(churn.reset, [0, SLOTS])) {
    timeChart(place, { title: 'Connections', about: DATA.means.connection_churn, write: count, lines: [
      ['opened', amount(churn.opened), '--line-1'], ['closed', amount(churn.closed), '--line-6'], ['reset or failed', amount(churn.reset.map((value, slot) => value + churn.unanswered[slot] + churn.refused[slot])), '--bad']] });
  }
  const lags = series('lag_over_time', (row) => row.group_id ?? clientOf(row), ['lag']);
  if (lags.length) lagRow(place);
}

// What each group is behind, as last told: a value holds until the next one.
function lagLines(most) {
  const found = new Map();
  for (const row of rowsOf('lag_over_time')) {
    const slot = slotOf(row);
    if (slot < 0 || slot >= SLOTS) continue;
    const name = row.group_id ?? clientOf(row);
    if (!found.has(name)) found.set(name, new Array(SLOTS).fill(null));
    found.get(name)[slot] = row.lag;
  }
  for (const values of found.values()) for (let slot = 1; slot < SLOTS; slot += 1) values[slot] ??= values[slot - 1];
  return [...found].map(([name, values]) => [name, values, Math.max(...values.map((value) => value ?? 0))])
    .sort((a, b) => b[2] - a[2]).slice(0, most);
}

function lagRow(place) {
  const lines = lagLines(4);
  if (!lines.some(([, , most]) => most > 0)) return;
  timeChart(place, { title: 'Lag, records', about: DATA.means.lag_over_time, height: 90, write: count, lines: lines.map(([name, values], at) => [name, values, LINE_COLORS[at]]) });
}

const CAUSES = { joined: 'a member joined', left: 'a member left', rejoined: 'a member joined again', silent: 'a member fell silent', connection_lost: 'a member lost its connection', unknown: 'cause not seen' };
const causeOf = (row) => `${CAUSES[row.cause] ?? row.cause ?? CAUSES.unknown}${row.client_id ? ` (${row.client_id})` : ''}${row.reason ? `: ${row.reason}` : ''}`;

function rebalanceRow(place) {
  const rows = rowsOf('rebalances');
  if (!rows.length) return;
  laneRow(place, { title: 'Rebalances', about: DATA.means.rebalances, fill: () => rows.slice(0, 600).map((row) => laneBar(row.begin_ns, row.end_ns, {
    class: `rebalance ${row.cause ?? 'unknown'}`, title: `${row.group_id}: ${causeOf(row)}, ${duration(row.duration_ns)}${row.complete === false ? ', its end is not in the capture' : ''}` })) });
}

// A lane for each broker: how busy it is, where nothing came from it, and connections that were reset or refused.
function brokerRows(place) {
  const found = series('activity_by_broker', brokerOf, ['requests', 'answered'], (row) => !row.is_rest);
  if (!found.length) return;
  found.sort((a, b) => a.key.localeCompare(b.key, undefined, { numeric: true }));
  const churn = series('connection_churn', brokerOf, ['reset', 'refused', 'unanswered']);
  for (const broker of found.slice(0, 12)) {
    const most = Math.max(...broker.slots.requests);
    const trouble = churn.find((each) => each.key === broker.key)?.slots;
    laneRow(place, { title: `Broker ${broker.key}`, className: 'density', about: 'The darker, the more requests; red marks are connections that were reset, refused or not answered.', fill: () => {
      const bars = [];
      const [from, to] = selectedSlots();
      for (let slot = from; slot < to; slot += 1) {
        const [begin, end] = [FIRST_SLOT + slot * SLOT, FIRST_SLOT + (slot + 1) * SLOT];
        if (broker.slots.requests[slot]) {
          const bar = laneBar(Math.max(begin, FIRST), Math.min(end, LAST), { class: 'density-bar', title: `${moment(begin)}: ${count(broker.slots.requests[slot])} requests, ${count(broker.slots.answered[slot])} answered` });
          if (bar) { bar.style.opacity = 0.18 + 0.82 * Math.sqrt(broker.slots.requests[slot] / most); bars.push(bar); }
        }
        const bad = trouble ? trouble.reset[slot] + trouble.refused[slot] + trouble.unanswered[slot] : 0;
        if (bad) bars.push(laneBar((begin + end) / 2, null, { class: 'trouble', title: `${moment(begin)}: ${count(trouble.reset[slot])} reset, ${count(trouble.refused[slot])} refused, ${count(trouble.unanswered[slot])} not answered` }));
      }
      return bars;
    } });
  }
}
