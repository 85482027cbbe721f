// Lines over time and over percentiles, drawn by uPlot; every chart of the time axis shares its cursor and its selection.

const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const LINE_COLORS = ['--line-1', '--line-2', '--line-3', '--line-4', '--line-5', '--line-6'];
const drawings = [];

// Calls `draw` now, when the place changes its size and when the colours of the page do.
function redrawn(place, draw) {
  drawings.push(draw);
  new ResizeObserver(() => draw()).observe(place);
  draw();
}

const SHORT = 68;
const CENTERS = Array.from({ length: SLOTS }, (_, slot) => Math.min(LAST, Math.max(FIRST, FIRST_SLOT + (slot + 0.5) * SLOT)));
const CENTER_PLACES = CENTERS.map(placeOf);
// Labels stand left of the drawing, so that the axes of all charts begin at one place.
const AXIS_WIDTH = 62;

// One row of the time axis. `lines`: [label, values by slot, color]; `write` makes text of a value.
function timeChart(place, { title, lines, write, height = SHORT, logarithmic = false, about = '', extra = null }) {
  const readouts = lines.map(([label, , shade]) => element('span', { class: 'readout' }, element('i', { class: 'dot', style: { background: `var(${shade})` } }), label, element('b', {}, '')));
  const drawing = element('div', { class: 'drawing', role: 'img', 'aria-label': `${title}. ${lines.map(([label, values]) => summary(label, values, write)).join('; ')}` });
  const head = element('div', { class: 'row-head' }, element('h3', { class: 'row-title' }, title, about ? help(about) : null), extra, element('div', { class: 'readouts' }, readouts));
  const row = element('div', { class: 'row chart' }, head, drawing);
  place.append(row);
  const chart = new uPlot({
    width: Math.max(200, drawing.clientWidth),
    height,
    padding: [8, 1, 4, 0],
    legend: { show: false },
    cursor: { sync: { key: 'time' }, y: false, drag: { x: true, y: false, setScale: false }, points: { size: 6 } },
    scales: {
      x: { time: false, range: () => visible().map(placeOf) },
      y: logarithmic ? { distr: 3, range: logRange } : { range: (_, low, high) => [Math.min(0, low ?? 0), high > 0 ? high * 1.08 : 1] },
    },
    axes: [
      { size: 0, ticks: { show: false }, values: (_, marks) => marks.map(() => ''), gap: 0,
        splits: () => timeMarks(...visible(), drawing.clientWidth < 500 ? 4 : 8).map(({ ns }) => placeOf(ns)),
        grid: { stroke: () => color('--grid'), width: 1 } },
      { size: AXIS_WIDTH, gap: 6, space: logarithmic ? 24 : 26, ...(logarithmic ? { splits: powers } : {}), stroke: () => color('--muted'), font: '11px system-ui, sans-serif',
        ticks: { show: false }, grid: { stroke: () => color('--grid'), width: 1 },
        values: (_, marks) => marks.map((mark) => mark == null ? '' : mark === 0 ? '0' : write(mark)) },
    ],
    series: [{}, ...lines.map(([label, , shade]) => ({
      label, stroke: () => color(shade), width: 1.5, spanGaps: false, points: { show: true, size: 4, fill: () => color(shade), filter: alone },
      ...(lines.length === 1 ? { fill: () => `color-mix(in srgb, ${color(shade)} 16%, transparent)` } : {}),
    }))],
    hooks: {
      drawClear: [(u) => shadeGaps(u)],
      setCursor: [(u) => readouts.forEach((readout, at) => {
        const value = u.cursor.idx == null ? null : lines[at][1][u.cursor.idx];
        readout.lastChild.textContent = u.cursor.idx == null ? '' : ` ${value == null ? NONE : write(value)}`;
      })],
      setSelect: [(u) => {
        if (u.select.width > 3) select([timeAt(u.posToVal(u.select.left, 'x')), timeAt(u.posToVal(u.select.left + u.select.width, 'x'))]);
        u.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
      }],
    },
  }, [CENTER_PLACES, ...lines.map(([, values]) => values)], drawing);
  row.chart = chart;
  redrawn(drawing, () => { chart.setSize({ width: Math.max(120, drawing.clientWidth), height }); chart.redraw(false, true); });
  onSelection(() => chart.setData(chart.data, true));
  const set = (now) => {
    now.forEach((values, at) => { lines[at][1] = values; });
    drawing.setAttribute('aria-label', `${title}. ${lines.map(([label, values]) => summary(label, values, write)).join('; ')}`);
    chart.setData([CENTER_PLACES, ...now], true);
  };
  return { row, chart, set };
}

function logRange(_, low, high) {
  if (low == null || !(high > 0)) return [1e6, 1e9];
  return [10 ** Math.floor(Math.log10(Math.max(low, 1e2))), 10 ** Math.ceil(Math.log10(Math.max(high, low * 1.01, 1e3)))];
}

// On a logarithmic scale the powers of ten alone.
function powers(_, __, low, high) {
  const found = [];
  for (let power = Math.ceil(Math.log10(low) - 1e-9); power <= Math.log10(high) + 1e-9; power += 1) found.push(10 ** power);
  return found;
}

// A value without neighbours is no line: it is drawn as a point.
function alone(u, series) {
  const values = u.data[series];
  const found = [];
  for (let at = 0; at < values.length; at += 1) if (values[at] != null && values[at - 1] == null && values[at + 1] == null) found.push(at);
  return found;
}

// What a chart says to who cannot see it.
function summary(label, values, write) {
  let most = null;
  values.forEach((value, slot) => { if (value != null && (most == null || value > values[most])) most = slot; });
  return most == null ? `${label}: nothing` : `${label}: at most ${write(values[most])} at ${moment(CENTERS[most])}`;
}

function shadeGaps(u) {
  const context = u.ctx;
  const { top, height } = u.bbox;
  context.save();
  context.fillStyle = color('--band');
  for (const [begin, end] of UNCAPTURED) {
    const left = Math.max(u.bbox.left, u.valToPos(placeOf(begin), 'x', true));
    const right = Math.min(u.bbox.left + u.bbox.width, u.valToPos(placeOf(end), 'x', true));
    if (right > left) context.fillRect(left, top, right - left, height);
  }
  context.restore();
}

// A row of the time axis that is no line: a title and a lane that `fill` draws anew for each selection.
function laneRow(place, { title, about = '', className = '', fill, extra = null }) {
  const lane = element('div', { class: `lane ${className}` });
  const row = element('div', { class: 'row' }, element('div', { class: 'row-head' }, element('h3', { class: 'row-title' }, title, about ? help(about) : null), extra), lane);
  place.append(row);
  onSelection(() => lane.replaceChildren(...laneGaps().filter(Boolean), ...fill(lane).filter(Boolean)));
  return lane;
}
