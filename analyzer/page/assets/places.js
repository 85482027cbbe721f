// From time to places: where less than most of the time was captured, what lies between files takes a narrow band, however long it was.

const CAPTURED = DATA.captured.map(([begin, end]) => [Math.max(begin, FIRST), Math.min(end, LAST)]).filter(([begin, end]) => end >= begin);
const UNCAPTURED = CAPTURED.slice(1).map(([begin], at) => [CAPTURED[at][1], begin]).filter(([begin, end]) => end > begin);
const { times: KNOT_TIMES, places: KNOT_PLACES } = knots();
const FULL_WIDTH = KNOT_PLACES.at(-1);

// Knots of a line from time (ns) to place (the same unit, from 0) that is straight between them.
function knots() {
  const missing = UNCAPTURED.reduce((sum, [begin, end]) => sum + end - begin, 0);
  const narrow = missing > (LAST - FIRST) * 0.3 ? Math.max(1, ((LAST - FIRST - missing) * 0.25) / Math.max(12, UNCAPTURED.length)) : Infinity;
  const [times, places] = [[FIRST], [0]];
  const go = (ns, most) => { if (ns > times.at(-1)) { places.push(places.at(-1) + Math.min(most, ns - times.at(-1))); times.push(ns); } };
  for (const [begin, end] of UNCAPTURED) { go(begin, Infinity); go(end, narrow); }
  go(LAST, Infinity);
  if (times.length === 1) { times.push(FIRST + 1); places.push(1); }
  return { times, places };
}

function between(value, from, to) {
  let at = 1;
  while (at < from.length - 1 && from[at] < value) at += 1;
  return to[at - 1] + ((value - from[at - 1]) * (to[at] - to[at - 1])) / (from[at] - from[at - 1]);
}
const placeOf = (ns) => between(Number(ns), KNOT_TIMES, KNOT_PLACES);
const timeAt = (place) => between(place, KNOT_PLACES, KNOT_TIMES);
const overAll = (ns) => (100 * placeOf(ns)) / FULL_WIDTH;
