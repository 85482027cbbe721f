// How latencies are distributed: a map of time and duration, and the curve of percentiles.

const PER_DOUBLING = 8;
const NO_TIME = -250;
const middleOf = (bucket) => bucket === NO_TIME ? 1 : 1e9 * 2 ** ((bucket - 0.5) / PER_DOUBLING);
// The buckets of the whole time are finer: 64 to a doubling (analyzer/base/latency_buckets.py).
const fineMiddleOf = (bucket) => bucket === -2000 ? 1 : 1e9 * 2 ** ((bucket - 0.5) / 64);

function drawDistribution() {
  const all = rowsOf('latency_heat').filter((row) => row.n);
  if (!all.length) return;
  const place = section('distribution', 'How latencies are distributed', { short: 'Distribution', commands: ['latency'], asks: 'latency', means: DATA.means.latency_heat,
    about: 'From the last byte of a request to the first of its reply. Left: the darker, the more requests. Right: how many were faster; the slowest are at the right.' });
  const apis = { broker: new Set(), mixed: new Set(), wait: new Set() };
  for (const row of all) if (!row.is_rest) apis[row.reach]?.add(apiOf(row));
  const frequent = (names) => { const order = rowsOf('latency').map(apiOf); return [...names].sort((a, b) => order.indexOf(a) - order.indexOf(b)).map((name) => [name, name]); };
  const EVERY = 'all that are answered at once';
  let wanted = EVERY;
  const box = selectBox('API', [['Together', apis.broker.size ? [[EVERY, EVERY]] : []], ['Answered at once', frequent(apis.broker)], ['May wait by design', frequent(apis.mixed)], ['Wait by design', frequent(apis.wait)]], (value) => { wanted = value; draw(); });
  wanted = box.value;
  const canvas = element('canvas', { role: 'img' });
  const tip = element('p', { class: 'told', role: 'status' });
  const left = element('div', { class: 'heat' }, canvas, element('div', { class: 'axis' }));
  const right = element('div', { class: 'curve' });
  const facts = element('dl', { class: 'figures small' });
  place.append(element('div', { class: 'tools' }, box, tip), element('div', { class: 'distribution' }, left, right), facts);
  axisLabels(left.lastChild, 6);
  const rows = () => all.filter((row) => wanted === EVERY ? row.reach === 'broker' : apiOf(row) === wanted);
  const curve = percentileCurve(right);
  const draw = () => {
    const chosen = rows();
    drawHeat(canvas, chosen);
    const [from, to] = selectedSlots();
    const inside = selected ? chosen.filter((row) => slotOf(row) >= from && slotOf(row) < to) : chosen;
    const fine = fineCounts(wanted, EVERY);
    curve(fine, selected ? counts(inside, middleOf) : null);
    const now = selected ? counts(inside, middleOf) : fine;
    const approximate = selected ? '≈ ' : '';
    facts.replaceChildren(...[['requests', count(now.reduce((sum, [, n]) => sum + n, 0))], ...[50, 90, 99, 99.9].map((q) => [`p${q}`, now.length ? `${approximate}${duration(Math.round(quantile(now, q)))}` : NONE])]
      .map(([title, told]) => element('div', {}, element('dt', {}, title), element('dd', {}, told))));
    canvas.setAttribute('aria-label', `Latencies of ${wanted} over time. Half of them are below ${duration(Math.round(quantile(now, 50)))}, 99 % below ${duration(Math.round(quantile(now, 99)))}.`);
  };
  hovered(canvas, rows, tip);
  redrawn(canvas, () => drawHeat(canvas, rows()));
  onSelection(draw);
}

function counts(rows, middle) {
  const found = new Map();
  for (const row of rows) found.set(row.bucket, (found.get(row.bucket) ?? 0) + Number(row.n));
  return [...found].sort((a, b) => a[0] - b[0]).map(([bucket, n]) => [middle(bucket), n]);
}

function fineCounts(wanted, every) {
  const reach = new Map(rowsOf('latency').map((row) => [apiOf(row), row.reach]));
  return counts(rowsOf('latency_histogram').filter((row) => row.bucket != null && (wanted === every ? reach.get(apiOf(row)) === 'broker' : apiOf(row) === wanted)), fineMiddleOf);
}

// The nearest rank, as metrics find it.
function quantile(found, q) {
  const whole = found.reduce((sum, [, n]) => sum + n, 0);
  let upto = 0;
  for (const [ns, n] of found) { upto += n; if (upto * 100 >= whole * q) return ns; }
  return found.at(-1)?.[0] ?? 0;
}

function heatBounds(rows) {
  const buckets = rows.map((row) => Math.max(row.bucket, -168));
  return [Math.min(...buckets) - 1, Math.max(...buckets) + 1];
}

const HEAT_LEFT = 56;
const curveHeight = () => document.documentElement.classList.contains('on-paper') ? 170 : 240;
function drawHeat(canvas, rows) {
  const [width, height] = [canvas.clientWidth, canvas.clientHeight];
  if (!width || !rows.length) return;
  const ratio = window.devicePixelRatio || 1;
  canvas.width = width * ratio;
  canvas.height = height * ratio;
  const context = canvas.getContext('2d');
  context.scale(ratio, ratio);
  const [low, high] = heatBounds(rows);
  const [begin, end] = visible();
  const x = (ns) => HEAT_LEFT + ((width - HEAT_LEFT) * across(ns)) / 100;
  const y = (bucket) => height - (height * (bucket - low)) / (high - low);
  context.font = '11px system-ui, sans-serif';
  context.textAlign = 'right';
  context.textBaseline = 'middle';
  for (let power = 3; power <= 12; power += 1) {
    const at = y(PER_DOUBLING * Math.log2(10 ** power / 1e9) + 0.5);
    if (at < 4 || at > height - 4) continue;
    context.fillStyle = color('--muted');
    context.fillText(duration(10 ** power), HEAT_LEFT - 6, at);
    context.fillStyle = color('--grid');
    context.fillRect(HEAT_LEFT, at, width - HEAT_LEFT, 1);
  }
  context.fillStyle = color('--band');
  for (const [from, to] of UNCAPTURED) {
    const [left, right] = [Math.max(HEAT_LEFT, x(from)), Math.min(width, x(to))];
    if (right > left) context.fillRect(left, 0, right - left, height);
  }
  const most = Math.max(...rows.map((row) => Number(row.n)));
  context.fillStyle = color('--heat');
  context.save();
  context.beginPath();
  context.rect(HEAT_LEFT, 0, width - HEAT_LEFT, height);
  context.clip();
  for (const row of rows) {
    const from = FIRST_SLOT + slotOf(row) * SLOT;
    if (from + SLOT < begin || from > end) continue;
    const bucket = Math.max(row.bucket, -168);
    context.globalAlpha = 0.16 + 0.84 * Math.sqrt(Math.log1p(Number(row.n)) / Math.log1p(most));
    const left = x(from);
    context.fillRect(left, y(bucket), Math.max(2, x(from + SLOT) - left - (x(from + SLOT) - left > 5 ? 1 : 0)), Math.max(2, y(bucket - 1) - y(bucket) - 0.5));
  }
  context.restore();
}

function hovered(canvas, rows, tip) {
  canvas.addEventListener('pointermove', (event) => {
    const box = canvas.getBoundingClientRect();
    const all = rows();
    if (!all.length) return;
    const [low, high] = heatBounds(all);
    const [begin, end] = visible().map(placeOf);
    const ns = timeAt(begin + ((end - begin) * (event.clientX - box.left - HEAT_LEFT)) / (box.width - HEAT_LEFT));
    const slot = Math.floor((ns - FIRST_SLOT) / SLOT);
    const bucket = Math.ceil(low + ((high - low) * (box.bottom - event.clientY)) / box.height);
    const n = all.filter((row) => slotOf(row) === slot && row.bucket === bucket).reduce((sum, row) => sum + Number(row.n), 0);
    tip.textContent = n ? `${moment(FIRST_SLOT + slot * SLOT)}: ${count(n)} requests of ${duration(Math.round(middleOf(bucket - 0.5)))} to ${duration(Math.round(middleOf(bucket + 0.5)))}` : '';
  });
  canvas.addEventListener('pointerleave', () => { tip.textContent = ''; });
  dragSelects(canvas, HEAT_LEFT);
}

// Dragging over a drawing selects the time that it passes over, as it does over charts.
function dragSelects(place, offset) {
  place.addEventListener('pointerdown', (event) => {
    if (event.button) return;
    const box = place.getBoundingClientRect();
    const [begin, end] = visible().map(placeOf);
    const at = (x) => timeAt(begin + (end - begin) * Math.min(1, Math.max(0, (x - box.left - offset) / (box.width - offset))));
    const began = event.clientX;
    place.addEventListener('pointerup', (now) => { if (Math.abs(now.clientX - began) > 4) select([at(began), at(now.clientX)]); }, { once: true });
  });
}

// x is how rare: each step to the right is ten times rarer.
function percentileCurve(place) {
  const GRID = Array.from({ length: 121 }, (_, at) => (4 * at) / 120);
  const drawing = element('div', { class: 'drawing', role: 'img' });
  place.append(drawing);
  const valuesOf = (found) => {
    const whole = found.reduce((sum, [, n]) => sum + n, 0);
    return GRID.map((rare) => whole && 10 ** rare <= whole * 2 ? quantile(found, 100 * (1 - 10 ** -rare)) : null);
  };
  const chart = new uPlot({
    width: 300, height: 240, padding: [8, 22, 0, 0], legend: { show: false }, cursor: { y: false, drag: { x: false, y: false } },
    scales: { x: { time: false, range: () => [0, 4] }, y: { distr: 3, range: logRange } },
    axes: [
      { size: 26, splits: () => [0, 1, 2, 3, 4], values: () => ['p0', 'p90', 'p99', 'p99.9', 'p99.99'], stroke: () => color('--muted'), font: '11px system-ui, sans-serif', ticks: { show: false }, grid: { stroke: () => color('--grid'), width: 1 } },
      { size: 56, gap: 6, space: 28, splits: powers, values: (_, marks) => marks.map((mark) => mark == null ? '' : duration(mark)), stroke: () => color('--muted'), font: '11px system-ui, sans-serif', ticks: { show: false }, grid: { stroke: () => color('--grid'), width: 1 } },
    ],
    series: [{}, { label: 'whole time', stroke: () => color(selected ? '--line-6' : '--line-1'), width: 2, points: { show: false } }, { label: 'selected', stroke: () => color('--line-1'), width: 2, points: { show: false } }],
  }, [GRID, GRID.map(() => null), GRID.map(() => null)], drawing);
  redrawn(drawing, () => { chart.setSize({ width: Math.max(160, drawing.clientWidth), height: curveHeight() }); chart.redraw(false, true); });
  return (whole, inside) => {
    chart.setData([GRID, valuesOf(whole), inside ? valuesOf(inside) : GRID.map(() => null)], true);
    drawing.setAttribute('aria-label', `Percentiles: ${[50, 90, 99].map((q) => `p${q} ${duration(Math.round(quantile(whole, q)))}`).join(', ')}`);
  };
}
