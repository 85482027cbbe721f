// Groups and transactions as lanes over the selected time.

const MOST_GROUPS = 8;
const MOST_MEMBERS = 12;
const LOST = ['silent', 'connection_lost'];

function drawGroups() {
  const groups = rowsOf('groups');
  if (!groups.length) return;
  const place = section('groups', 'Groups', { commands: ['groups', 'rebalances', 'members', 'lag'], asks: 'groups', means: DATA.means.groups,
    about: 'Each rebalance with its cause; below it the members from their first to their last step, and what the group is behind.' });
  place.append(legend(Object.entries(CAUSES).map(([cause, words]) => [`rebalance ${cause}`, words])));
  const withLanes = groups.filter((group) => group.members_seen || group.rebalances);
  const holder = element('div', { class: 'groups' });
  place.append(holder);
  withLanes.slice(0, MOST_GROUPS).forEach((group) => holder.append(groupLanes(group)));
  if (withLanes.length > MOST_GROUPS) {
    const more = element('button', { type: 'button', class: 'more' }, `Draw ${count(Math.min(withLanes.length - MOST_GROUPS, 40))} more groups`);
    more.addEventListener('click', () => { withLanes.slice(MOST_GROUPS, MOST_GROUPS + 40).forEach((group) => holder.append(groupLanes(group))); more.remove(); });
    place.append(more);
  }
  const update = table(place, [
    text('group_id', 'group'), text('group_type', 'type', { plain: true }), text('state', 'state', { plain: true }), numeric('members', 'members'), numeric('rebalances', 'rebalances', { bar: true }),
    numeric('longest_rebalance_ns', 'longest rebalance', { text: duration }), numeric('longest_pause_ns', 'longest pause'), numeric('commits', 'commits'), numeric('failed_commits', 'failed commits'),
    numeric('lag', 'lag, records', { bar: true }), numeric('committed_lag', 'commit lag'), made('last', 'last rebalance', (row) => row.last_cause ? causeOf({ cause: row.last_cause, client_id: row.last_client_id, reason: row.last_reason }) : null),
  ], { label: 'Groups', total: totalOf('groups'), empty: 'No group was seen in the selected time.' });
  onSelection(() => update(groups.filter((row) => touches(row.first_time_ns, row.last_time_ns))));
}

// Codes of normal operation, as metric groups has them: a member id first, a rebalance under way, a coordinator that moves.
const NORMAL_CODES = [0, 14, 15, 16, 27, 79];
const failed = (event) => event.error_code != null && !NORMAL_CODES.includes(event.error_code);
const same = (row, group) => row.group_id === group.group_id && row.cluster === group.cluster;

function groupLanes(group) {
  const rebalances = rowsOf('rebalances').filter((row) => same(row, group));
  const members = rowsOf('group_members').filter((row) => same(row, group));
  const events = rowsOf('group_timeline').filter((row) => same(row, group) && (failed(row) || row.event === 'leave'));
  const facts = [group.state ? `${group.group_type}, ${group.state}` : group.group_type, group.rebalances == null ? null : things(group.rebalances, 'rebalance'), group.lag == null ? null : `lag ${count(group.lag)}`].filter(Boolean).join(' · ');
  const made = element('article', { class: 'group' }, element('h3', {}, named(group.group_id), element('small', {}, facts)));
  laneRow(made, { title: 'rebalances', className: 'thin', fill: () => rebalances.map((row) => laneBar(row.begin_ns, row.end_ns, { class: `rebalance ${row.cause ?? 'unknown'}`,
    title: `${moment(row.begin_ns, 3)}, ${duration(row.duration_ns)}${row.pause_ns ? `, nobody consumed for ${duration(row.pause_ns)}` : ''}: ${causeOf(row)}` })) });
  const lag = lagLines(40).find(([name]) => name === group.group_id);
  if (lag && lag[2] > 0) lagLane(made, lag[1], lag[2]);
  for (const member of members.slice(0, MOST_MEMBERS)) {
    const lost = rebalances.find((row) => LOST.includes(row.cause) && row.member_id === member.member_id);
    const name = member.client_id || member.member_id || member.instance_id;
    const row = laneRow(made, { title: '', className: 'thin', fill: () => [
      member.gone || lost ? null : laneBar(member.last_time_ns, LAST, { class: 'member silent', title: 'no word that it left' }),
      lost ? laneBar(lost.begin_ns, null, { class: 'event failed', title: `${moment(lost.begin_ns, 3)}: ${causeOf(lost)}` }) : null,
      laneBar(member.first_time_ns, member.last_time_ns, { class: `member${member.gone ? ' gone' : ''}`,
        title: `${member.member_id ?? ''}\n${member.partitions == null ? 'its assignment was not seen' : `${things(member.partitions, 'partition')} of ${things(member.topics, 'topic')}`}${member.gone ? '; left' : ''}` },
        element('span', {}, member.partitions == null ? '' : things(member.partitions, 'partition'))),
      ...events.filter((event) => event.member_id === member.member_id).slice(0, 200).map((event) => laneBar(event.time_ns, null, { class: `event ${failed(event) ? 'failed' : 'left'}`, title: `${moment(event.time_ns, 3)}: ${event.event}${event.error_code ? `, error ${event.error_code}` : ''}${event.reason ? `, ${event.reason}` : ''}` })),
    ] });
    row.parentNode.querySelector('.row-title').append(named(name, member.member_id ? `\n${member.member_id}` : ''));
  }
  if (members.length > MOST_MEMBERS) made.append(element('p', { class: 'told' }, `and ${count(members.length - MOST_MEMBERS)} more members`));
  return made;
}

// A small area: what the group is behind, without a scale but its greatest value.
function lagLane(place, values, most) {
  laneRow(place, { title: `lag, up to ${count(most)}`, className: 'area', fill: () => {
    const points = [];
    values.forEach((value, slot) => { if (value != null) points.push([across(CENTERS[slot]), 100 - (96 * value) / most]); });
    if (points.length < 2) return [];
    const path = points.map(([x, y], at) => `${at ? 'L' : 'M'}${x},${y}`).join('');
    return [drawn('svg', { viewBox: '0 0 100 100', preserveAspectRatio: 'none', class: 'lag-area', role: 'img', 'aria-label': `Lag, at most ${count(most)} records` },
      drawn('path', { d: `${path}L${points.at(-1)[0]},100L${points[0][0]},100Z` }))];
  } });
}

function drawTransactions() {
  const list = rowsOf('transaction_list');
  const producers = rowsOf('producers');
  if (!list.length && !producers.length) return;
  const place = section('transactions', 'Producers and transactions', { short: 'Transactions', commands: ['transactions', 'transaction_list', 'producers'], asks: 'transactions', means: DATA.means.producers });
  if (list.length) {
    place.append(legend([['outcome committed', 'committed'], ['outcome aborted', 'aborted'], ['outcome taken_over', 'taken over by a new producer'], ['outcome open', 'open at the end']]));
    const byId = Map.groupBy ? Map.groupBy(list, (row) => row.transactional_id) : list.reduce((map, row) => map.set(row.transactional_id, [...(map.get(row.transactional_id) ?? []), row]), new Map());
    const lanes = element('div', { class: 'groups' });
    place.append(lanes);
    [...byId].sort((a, b) => b[1].length - a[1].length).slice(0, 14).forEach(([name, rows]) => {
      const lane = laneRow(lanes, { title: '', className: 'thin', fill: () => rows.map((row) => laneBar(row.begin_ns, row.end_ns ?? LAST, { class: `outcome ${row.outcome}`,
        title: `${moment(row.begin_ns, 3)}: ${row.outcome.replaceAll('_', ' ')}${row.length_ns == null ? '' : ` after ${duration(row.length_ns)}`}, ${count(row.records)} records` })) });
      lane.parentNode.querySelector('.row-title').append(named(name));
    });
  }
  if (rowsOf('transactions').length) {
    const update = table(place, [
      text('transactional_id', 'transactional id'), clientColumn(), numeric('begun', 'begun', { bar: true }), numeric('committed', 'committed'), numeric('aborted', 'aborted'), numeric('taken_over', 'taken over'), numeric('open_at_end', 'open at the end'),
      numeric('p50_length_ns', 'median length'), numeric('max_length_ns', 'longest'), numeric('fenced', 'fenced'), numeric('failures', 'failures'),
    ], { label: 'Transactional ids', total: totalOf('transactions'), empty: 'None in the selected time.' });
    onSelection(() => update(rowsOf('transactions').filter((row) => touches(row.first_time_ns, row.last_time_ns))));
  }
  if (producers.length) {
    place.append(element('h3', {}, 'Idempotent producers'));
    const update = table(place, [
      made('producer_id', 'producer id', (row) => row.producer_id), clientColumn(), text('transactional_id', 'transactional id'), numeric('partitions', 'partitions'), numeric('batches', 'batches', { bar: true }), numeric('bytes', 'bytes'),
      numeric('duplicates', 'sent again'), numeric('gaps', 'gaps', { help: 'batches that do not follow the one before; - where the capture lost bytes' }), numeric('fenced', 'fenced'), numeric('out_of_order', 'out of order'), numeric('last_epoch', 'epoch'),
    ], { label: 'Idempotent producers', total: totalOf('producers'), empty: 'None in the selected time.' });
    onSelection(() => update(producers.filter((row) => touches(row.first_time_ns, row.last_time_ns))));
  }
}
