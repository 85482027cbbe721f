// Who writes what, who reads it: producers, topics and consumers, joined by ribbons as wide as their bytes.

const MOST_NODES = 12;
const LANE_HEIGHT = 26;

function drawFlows() {
  if (!rowsOf('topic_traffic').length) return;
  const place = section('flows', 'Who writes, who reads', { short: 'Flows', commands: ['flows', 'readers', 'topics'], asks: 'topics', means: DATA.means.topic_traffic,
    about: 'Bytes of records on the wire. Left: clients that write; right: clients that read. A topic that is read by several is read several times.' });
  const { picture, show } = framedDrawing(place);
  const update = table(place, [
    text('topic', 'topic'), clientColumn(), made('client_address', 'address', (row) => addressOf(row.client_address)),
    numeric('written_bytes', 'written', { bar: true }), numeric('read_bytes', 'read', { bar: true }),
    numeric('writes', 'writes', { help: 'partitions in Produce requests', text: count }), numeric('reads', 'reads', { help: 'partitions in Fetch requests', text: count }),
  ], { label: 'Topics and clients', sort: null, lines: 8, empty: 'No topic was written or read in the selected time.' });
  const picturing = (rows) => show((width) => flowPicture(rows, width));
  redrawn(picture, () => picturing(pairs()));
  onSelection(() => {
    const rows = pairs();
    update(rows);
    picturing(rows);
  });
}

// The frame of a drawing, which is as wide as the room inside it. On a phone it scrolls, as names of one letter would say nothing, and a
// sign says so: a click brings what is out of sight.
function framedDrawing(place) {
  const picture = element('div', { class: 'flow-drawing' });
  const sign = element('button', { type: 'button', class: 'beyond', hidden: true }, 'more at the right →');
  const look = () => { sign.hidden = picture.scrollWidth - picture.clientWidth - picture.scrollLeft < 2; };
  sign.addEventListener('click', () => picture.scrollBy({ left: picture.clientWidth * 0.7 }));
  picture.addEventListener('scroll', look, { passive: true });
  place.append(element('div', { class: 'flow-picture' }, picture, element('div', { class: 'table-foot' }, sign)));
  const show = (draw) => {
    picture.replaceChildren(...draw(Math.max(picture.clientWidth, 600)));
    look();
  };
  return { picture, show };
}

// Which bytes cross zones: over the whole time, as the verb prints it.
function drawZones() {
  const rows = rowsOf('zones').map((row) => ({ ...row, from_zone: row.from_zone ?? 'unknown', to_zone: row.to_zone ?? 'unknown' }));
  if (rows.every((row) => row.zone_way === 'unknown')) return;
  const place = section('zones', 'Bytes on the wire by zone', { short: 'Zones', commands: ['zones'], asks: 'zones', means: DATA.means.zones,
    about: 'Bytes of IP packets of Kafka connections, from the zone of who sends to the zone of who receives, over the whole time.' });
  const { picture, show } = framedDrawing(place);
  const links = rows.map((row) => ({ from: row.from_zone, to: row.to_zone, bytes: row.bytes, way: 'written' }));
  const told = `${count(rows.length)} flows between zones; the table below has them all`;
  redrawn(picture, () => show((width) => ribbonPicture(links, [], width, ['from zone', 'to zone'], told)));
  table(place, [
    text('from_zone', 'from zone'), text('to_zone', 'to zone'), text('zone_way', 'way', { plain: true }),
    made('who', 'who', (row) => `${row.between_brokers ? 'between brokers' : 'clients'}, ${row.way === 'to_broker' ? 'requests' : 'replies'}`, { plain: true }),
    numeric('connections', 'connections'), numeric('bytes', 'bytes', { bar: true }), numeric('share', 'share', { text: share }),
  ], { label: 'Flows between zones', sort: null, lines: 8 })(rows);
}

function pairs() {
  const columns = ['written_bytes', 'read_bytes', 'writes', 'reads'];
  return series('topic_traffic', (row) => JSON.stringify([row.cluster, row.topic, row.client_id, row.client_address]), columns)
    .map(({ row, slots }) => ({ topic: row.is_rest ? 'all others' : row.topic, client_id: row.client_id, client_address: row.client_address, is_rest: row.is_rest,
      ...Object.fromEntries(columns.map((column) => [column, sumOf(slots[column])])) }))
    .filter((row) => row.writes + row.reads > 0)
    .sort((a, b) => b.written_bytes + b.read_bytes - a.written_bytes - a.read_bytes);
}

// What is written and what is read are never added: one is not a part of the other.
const bytesWords = ({ written, read }) => written && read ? `in ${size(written)}, out ${size(read)}` : size(written || read);

// The greatest of a side by name; what is left stands together below them.
function nodesOf(links, side) {
  const sums = new Map();
  for (const link of links) { const old = sums.get(link[side]) ?? { written: 0, read: 0 }; old[link.way] += link.bytes; sums.set(link[side], old); }
  const wide = ({ written, read }) => Math.max(written, read);
  const ordered = [...sums].sort((a, b) => wide(b[1]) - wide(a[1]));
  const kept = ordered.length > MOST_NODES ? ordered.slice(0, MOST_NODES - 1) : ordered;
  const rest = ordered.slice(kept.length);
  const places = new Map(kept.map(([name, bytes], at) => [name, { name, ...bytes, bytes: wide(bytes), at }]));
  if (rest.length) {
    const [written, read] = ['written', 'read'].map((way) => rest.reduce((sum, [, bytes]) => sum + bytes[way], 0));
    const last = { name: `${count(rest.length)} others`, written, read, bytes: wide({ written, read }), at: kept.length, others: true };
    rest.forEach(([name]) => places.set(name, last));
  }
  return places;
}

function flowPicture(rows, width) {
  const writes = rows.filter((row) => row.written_bytes > 0).map((row) => ({ from: clientOf(row), to: row.topic, bytes: row.written_bytes, way: 'written' }));
  const reads = rows.filter((row) => row.read_bytes > 0).map((row) => ({ from: row.topic, to: clientOf(row), bytes: row.read_bytes, way: 'read' }));
  const told = `${count(writes.length)} pairs of a client and the topic that it writes, ${count(reads.length)} of a topic and a client that reads it; the table below has them all`;
  return ribbonPicture(writes, reads, width, ['written by', 'topic', 'read by'], told);
}

function ribbonPicture(writes, reads, width, heads, told) {
  if (!width || writes.length + reads.length === 0) return [];
  const topics = nodesOf([...writes.map((each) => ({ ...each, topic: each.to })), ...reads.map((each) => ({ ...each, topic: each.from }))], 'topic');
  const [producers, consumers] = [nodesOf(writes, 'from'), nodesOf(reads, 'to')];
  const tall = Math.max(...[producers, topics, consumers].map((side) => new Set(side.values()).size), 1);
  const height = tall * LANE_HEIGHT + 8;
  const label = Math.min(230, width * 0.24);
  const topicWidth = Math.min(300, width * 0.32);
  const [a, b, c, d] = [label, (width - topicWidth) / 2, (width + topicWidth) / 2, width - label];
  const most = Math.max(...[producers, topics, consumers].flatMap((side) => [...side.values()].map((node) => node.bytes)), 1);
  const thick = (bytes) => Math.max(1.2, (bytes / most) * (LANE_HEIGHT - 8));
  const middle = (node, side) => 4 + LANE_HEIGHT * (node.at + 0.5) + ((tall - new Set(side.values()).size) * LANE_HEIGHT) / 2;
  const joined = (links, from, to) => { const found = new Map(); for (const link of links) { const key = JSON.stringify([from.get(link.from).at, to.get(link.to).at]); const old = found.get(key) ?? { from: from.get(link.from), to: to.get(link.to), bytes: 0 }; old.bytes += link.bytes; found.set(key, old); } return [...found.values()].sort((p, q) => q.bytes - p.bytes); };
  const ribbon = (x1, y1, x2, y2, link, kind) => drawn('path', { class: `ribbon ${kind}`, 'stroke-width': thick(link.bytes), d: `M${x1},${y1}C${(x1 + x2) / 2},${y1} ${(x1 + x2) / 2},${y2} ${x2},${y2}` },
    drawn('title', {}, `${link.from.name} → ${link.to.name}: ${size(link.bytes)}`));
  const ribbons = [
    ...joined(writes, producers, topics).map((link) => ribbon(a, middle(link.from, producers), b, middle(link.to, topics), link, 'write')),
    ...joined(reads, topics, consumers).map((link) => ribbon(c, middle(link.from, topics), d, middle(link.to, consumers), link, 'read')),
  ];
  const picture = drawn('svg', { width, height, viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': told }, ribbons);
  const column = (side, left, wide, align) => [...new Set(side.values())].map((node) => element('div', { class: `flow-node ${align}`, style: { left: `${left}px`, width: `${wide}px`, top: `${middle(node, side) - LANE_HEIGHT / 2 + 1}px` } },
    node.others ? element('span', { class: 'none' }, node.name) : named(node.name, `\n${bytesWords(node)}`), element('small', {}, bytesWords(node))));
  const frame = element('div', { class: 'flow-frame', style: { height: `${height}px` } }, picture, ...column(producers, 0, label - 4, 'right'), ...column(topics, b, c - b, 'middle'), ...column(consumers, d + 4, label - 4, 'left'));
  const titles = element('div', { class: 'flow-titles' }, ...heads.map((head) => element('span', {}, head)));
  return [titles, frame];
}
