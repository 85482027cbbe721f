// Stories of partitions as lanes: when batches were written and delivered, and what was odd.

function drawPartitions() {
  const rows = rowsOf('partition_lanes');
  const lacking = DATA.partitions_left_out;
  if (!rows.length && !lacking.length) return;
  const place = section('partitions', 'Partitions', { means: DATA.means.partition_lanes,
    about: 'Of partitions that findings name, and of the busiest: the darker, the more batches. Red marks are requests that were refused and what is odd; grey marks say that the leader moved.' });
  place.append(legend([['density-bar', 'batches written and delivered'], ['trouble', 'odd or refused'], ['moved', 'a new leader or leader epoch']]));
  for (const each of DATA.partitions) {
    const mine = rows.filter((row) => row.topic === each.topic && row.partition === each.partition);
    for (const cluster of new Set(mine.map((row) => row.cluster))) partitionLane(place, each, mine.filter((row) => row.cluster === cluster));
  }
  if (lacking.length) place.append(element('p', { class: 'told' }, `Too long for the page: ${lacking.map((each) => `${each.topic}-${each.partition}`).join(', ')}.`));
  place.append(element('details', { class: 'sources' }, element('summary', {}, 'The commands that tell these stories'),
    ...[...DATA.partitions, ...lacking].map((each) => command(each.command, { narrow: true }))));
}

// A mark of a leader alone is news, and nothing wrong.
const MOVES = ['leader_moved', 'leader_epoch'];
const oddOf = (row) => [...new Set((row.marks ?? '').split(','))].filter((mark) => mark && !MOVES.includes(mark));

function partitionLane(place, { topic, partition }, rows) {
  const batches = (row) => Number(row.written ?? 0) + Number(row.delivered ?? 0);
  const most = Math.max(...rows.map(batches), 1);
  const lane = laneRow(place, { title: '', className: 'density', fill: () => [...rows.filter(batches).map((row) => {
    const bar = laneBar(Math.max(row.slot_ns, FIRST), Math.min(row.slot_ns + SLOT, LAST), { class: 'density-bar', title: toldOf(row) });
    bar?.style.setProperty('opacity', 0.18 + 0.82 * Math.sqrt(batches(row) / most));
    return bar;
  }), ...rows.filter((row) => row.refused || row.marks).map((row) => laneBar(row.slot_ns + SLOT / 2, null, {
    class: row.refused || oddOf(row).length ? 'trouble' : 'moved', title: toldOf(row) }))] });
  lane.parentNode.querySelector('.row-title').append(named(`${topic}-${partition}`, rows[0].cluster ? `\ncluster ${rows[0].cluster}` : ''));
}

function toldOf(row) {
  const marks = [...new Set((row.marks ?? '').split(','))].filter(Boolean).map((mark) => mark.replaceAll('_', ' '));
  const facts = [`${count(row.written ?? 0)} batches written`, `${count(row.delivered)} delivered`, row.refused ? `${things(row.refused, 'request')} refused` : null, ...marks].filter(Boolean).join(', ');
  return `${moment(row.slot_ns)}: ${facts}${row.exchange ? `\n${DATA.show} ${row.exchange}` : ''}`;
}
