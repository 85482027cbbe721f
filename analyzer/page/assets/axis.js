// The time axis that all charts share, and the strip at the top that selects a part of it.

const STEPS_S = [1e-6, 2e-6, 5e-6, 1e-5, 2e-5, 5e-5, 1e-4, 2e-4, 5e-4, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30,
  60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800, 604800, 1209600, 2592000, 7776000, 31536000];

// Moments at which a person would put marks, with their words: none where nothing was captured, and none too close to another.
function timeMarks(begin, end, most) {
  const spans = (CAPTURED.length ? CAPTURED : [[FIRST, LAST]]).map(([from, to]) => [Math.max(from, begin), Math.min(to, end)]).filter(([from, to]) => to >= from);
  const known = spans.reduce((sum, [from, to]) => sum + to - from, 0) / SECOND;
  const step = STEPS_S.find((length) => known / length <= most) ?? STEPS_S.at(-1) * Math.ceil(known / STEPS_S.at(-1) / most);
  const least = (placeOf(end) - placeOf(begin)) / most / 1.7;
  const marks = [];
  for (const [from, to] of spans) {
    const inside = [];
    for (let at = Math.ceil(from / SECOND / step) * step; at * SECOND <= to; at += step) inside.push(at * SECOND);
    if (!inside.length && spans.length > 1) inside.push(from);
    for (const ns of inside) if (!marks.length || placeOf(ns) - placeOf(marks.at(-1).ns) >= least) marks.push({ ns, text: markText(ns / SECOND, inside.length > 1 || !(ns % (step * SECOND)) ? step : Math.min(step, 1)) });
  }
  return marks;
}

function markText(seconds, step) {
  if (step >= 86400) return date(seconds * SECOND).slice(5);
  const digits = step >= 1 ? 0 : Math.min(9, Math.ceil(-Math.log10(step)));
  const words = clock(Math.round(seconds * SECOND), digits);
  return step >= 60 ? words.slice(0, 5) : words;
}

// Where a moment stands on the visible axis, in percent; lanes are laid out with it.
const across = (ns) => {
  const [begin, end] = visible().map(placeOf);
  return (100 * (placeOf(ns) - begin)) / (end - begin);
};

// A bar on a lane from one moment to another, at least some pixels wide; null when it is out of sight.
function laneBar(first, last, attributes, ...children) {
  const [from, to] = [across(first), across(last ?? first)];
  if (to < 0 || from > 100) return null;
  const begin = Math.max(0, from);
  return element('div', { ...attributes, class: `lane-bar ${attributes.class ?? ''}`,
    style: { left: `${begin}%`, width: `max(4px, ${Math.min(100, to) - begin}%)` } }, ...children);
}

// Bands of a lane in which nothing was captured.
const laneGaps = () => UNCAPTURED.map(([begin, end]) => laneBar(begin, end, { class: 'gap', title: `not captured: ${duration(end - begin)}` }));

function axisLabels(place, most = 8) {
  onSelection(() => {
    const [begin, end] = visible();
    labelled(place, timeMarks(begin, end, place.clientWidth < 500 ? 4 : most), across);
  });
}

// Words below an axis, each in the middle of its mark; those at its ends are moved inwards until they are whole.
function labelled(place, marks, at) {
  place.replaceChildren(...marks.map(({ ns, text: words }) => element('span', {}, words)));
  const put = () => {
    const half = [...place.children].map((label) => label.offsetWidth / 2);
    marks.forEach(({ ns }, each) => {
      const [label, middle] = [place.children[each], (place.clientWidth * at(ns)) / 100];
      label?.style.setProperty('left', `${Math.max(half[each], Math.min(place.clientWidth - half[each], middle))}px`);
    });
  };
  const known = place.put;
  place.put = put;
  if (known) put();
  else redrawn(place, () => place.put());
}

// The strip: all of the time, the findings in it, and the selection with two handles that keys move.
function overview() {
  const whole = LAST - FIRST;
  const place = overAll;
  const canvas = element('canvas', { class: 'overview-drawing', 'aria-hidden': true });
  const band = element('div', { class: 'brush' });
  const handle = (which) => element('div', { class: `handle ${which}`, role: 'slider', tabindex: 0,
    'aria-label': which === 'begin' ? 'Begin of the selected time' : 'End of the selected time', 'aria-valuemin': 0, 'aria-valuemax': 100 });
  const handles = [handle('begin'), handle('end')];
  const marks = element('div', { class: 'overview-marks', 'aria-hidden': true });
  const labels = element('div', { class: 'axis' });
  const track = element('div', { class: 'track', role: 'group', tabindex: 0, 'aria-label': 'Time axis. Plus and minus zoom, arrows move the selected time, 0 selects all, / searches.' }, canvas, marks, band, ...handles);
  const told = element('p', { class: 'selection', role: 'status' });
  const reset = element('button', { type: 'button', class: 'reset' }, 'Whole capture');
  const box = searchBox();
  reset.addEventListener('click', () => select(null));
  byId('overview').append(element('div', { class: 'overview-head' }, told, box, linkButton(), reset), track, labels);
  steer(byId('overview'), box);

  for (const finding of DATA.findings) {
    if (finding.first_time_ns == null) continue;
    marks.append(element('span', { class: `mark ${finding.severity}`,
      style: { left: `${place(finding.first_time_ns)}%`, width: `max(3px, ${place(finding.last_time_ns ?? finding.first_time_ns) - place(finding.first_time_ns)}%)` } }));
  }
  labelled(labels, timeMarks(FIRST, LAST, innerWidth < 640 ? 4 : 8), place);

  onSelection(() => {
    const [begin, end] = visible();
    band.style.left = `${place(begin)}%`;
    band.style.width = `${place(end) - place(begin)}%`;
    band.classList.toggle('all', !selected);
    handles[0].style.left = `${place(begin)}%`;
    handles[1].style.left = `${place(end)}%`;
    handles.forEach((each, at) => {
      each.setAttribute('aria-valuenow', Math.round(place([begin, end][at])));
      each.setAttribute('aria-valuetext', moment([begin, end][at], 3));
    });
    told.textContent = selected ? `Selected: ${selectionText()}` : `All of it: ${selectionText()}. Drag, or press + on the axis, to narrow everything below.`;
    reset.hidden = !selected;
    keepState();
  });
  dragged(track, handles);
  handles.forEach((each, at) => each.addEventListener('keydown', (event) => {
    const steps = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10 }[event.key];
    const [begin, end] = visible();
    const ends = [begin, end];
    if (steps) ends[at] = Math.min(LAST, Math.max(FIRST, ends[at] + steps * Math.max(SLOT, whole / 200)));
    else if (event.key === 'Home') ends[at] = at ? begin + SLOT : FIRST;
    else if (event.key === 'End') ends[at] = at ? LAST : end - SLOT;
    else if (event.key === 'Escape') return select(null);
    else return;
    event.preventDefault();
    if (ends[0] < ends[1]) select(ends);
  }));
  drawOverview(canvas);
}

// A pointer on the track draws a new selection, on a handle moves it, on the band moves all of it.
function dragged(track, handles) {
  const at = (event) => {
    const box = track.getBoundingClientRect();
    return FULL_WIDTH * Math.min(1, Math.max(0, (event.clientX - box.left) / box.width));
  };
  track.addEventListener('pointerdown', (event) => {
    if (event.button) return;
    const began = at(event);
    const before = visible().map(placeOf);
    const chosen = (places) => select(places.map(timeAt));
    const side = handles.indexOf(event.target);
    const moves = event.target.classList.contains('brush') && selected;
    track.setPointerCapture(event.pointerId);
    const follow = (moved) => {
      const now = at(moved);
      if (side === 0) chosen([now, before[1]]);
      else if (side === 1) chosen([before[0], now]);
      else if (moves) {
        const by = Math.min(FULL_WIDTH - before[1], Math.max(-before[0], now - began));
        chosen([before[0] + by, before[1] + by]);
      } else if (Math.abs(now - began) > FULL_WIDTH / 300) chosen([began, now]);
    };
    const done = () => { track.removeEventListener('pointermove', follow); };
    track.addEventListener('pointermove', follow);
    track.addEventListener('pointerup', done, { once: true });
    track.addEventListener('pointercancel', done, { once: true });
  });
}

// Requests over all of the time, as an area without a scale: where something was going on.
function drawOverview(canvas) {
  const values = ratesOf(series('activity_by_api', () => '', ['requests'])[0]?.slots.requests ?? new Float64Array(SLOTS));
  const draw = () => {
    const [width, height] = [canvas.clientWidth, canvas.clientHeight];
    const ratio = window.devicePixelRatio || 1;
    canvas.width = width * ratio;
    canvas.height = height * ratio;
    const context = canvas.getContext('2d');
    context.scale(ratio, ratio);
    const most = Math.max(...values.map((value) => value ?? 0), 1e-12);
    const at = (ns) => (width * placeOf(ns)) / FULL_WIDTH;
    context.fillStyle = color('--band');
    for (const [begin, end] of UNCAPTURED) context.fillRect(at(begin), 0, at(end) - at(begin), height);
    context.fillStyle = color('--overview');
    values.forEach((value, slot) => {
      if (value == null) return;
      const begin = Math.max(0, at(FIRST_SLOT + slot * SLOT));
      const end = Math.min(width, at(FIRST_SLOT + (slot + 1) * SLOT));
      const tall = value > 0 ? Math.max(1, Math.sqrt(value / most) * (height - 6)) : 0;
      context.fillRect(begin, height - tall, Math.max(0.5, end - begin - (end - begin > 4 ? 1 : 0)), tall);
    });
  };
  redrawn(canvas, draw);
}
