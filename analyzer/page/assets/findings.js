// What is wrong, the worst first: a sentence, when, what to do, where to look.

const SEVERITIES = ['high', 'medium', 'low', 'info'];

function drawFindings() {
  const place = section('findings', 'What needs attention', { short: 'Findings', commands: ['findings'], asks: 'findings' });
  const list = element('ol', { class: 'findings' });
  const { verdict } = DATA.readable.findings;
  const quiet = element('p', { class: verdict === 'whole' ? 'calm' : 'doubtful' }, verdict === 'whole' ? 'Nothing needs attention.' : 'Nothing found in what could be read.');
  place.append(quiet, list);
  if (DATA.not_shown.findings) return list.replaceWith(element('p', { class: 'unread' }, DATA.not_shown.findings));
  const cards = DATA.findings.map(card);
  const infos = cards.filter((each, at) => DATA.findings[at].severity === 'info');
  const others = cards.filter((each, at) => DATA.findings[at].severity !== 'info');
  list.append(...others);
  if (infos.length) {
    place.append(element('details', { class: 'infos', open: !others.length }, element('summary', {}, infos.length === 1 ? '1 more for information' : `${infos.length} more for information`),
      element('ol', { class: 'findings' }, infos)));
  }
  // Where nothing could be read the section begins with that sentence already.
  quiet.hidden = others.length > 0 || verdict === 'nothing';
  onSelection(() => cards.forEach((each, at) => each.classList.toggle('outside', !touches(DATA.findings[at].first_time_ns, DATA.findings[at].last_time_ns))));
}

function card(finding) {
  const body = element('div', { class: 'finding-body' });
  const opens = element('button', { type: 'button', class: 'finding-head', 'aria-expanded': 'false' },
    element('span', { class: `severity ${finding.severity}` }, finding.severity),
    element('span', { class: 'sentence' }, worded(finding.sentence)),
    element('span', { class: 'when' }, whenOf(finding), finding.mark ? element('em', { class: finding.running ? 'running' : '' }, finding.mark) : null));
  const made = element('li', { class: `finding ${finding.severity}`, id: `finding-${finding.number}` }, opens, stripOf(finding), body);
  opens.addEventListener('click', () => open(body.hidden));
  const open = (wanted) => {
    body.hidden = !wanted;
    opens.setAttribute('aria-expanded', String(wanted));
    if (wanted && !body.hasChildNodes()) fillCard(finding, body);
  };
  open(finding.number === 1 && finding.severity !== 'info');
  made.open = () => open(true);
  return made;
}

function whenOf(finding) {
  if (finding.first_time_ns == null) return '';
  const first = moment(finding.first_time_ns);
  const last = moment(finding.last_time_ns);
  return first === last ? first : `${first} to ${last}`;
}

// Where in the capture it was.
function stripOf(finding) {
  if (finding.first_time_ns == null) return null;
  const from = overAll(finding.first_time_ns);
  return element('span', { class: 'strip', 'aria-hidden': true }, element('i', { class: finding.severity,
    style: { left: `${from}%`, width: `max(3px, ${overAll(finding.last_time_ns) - from}%)` } }));
}

function fillCard(finding, body) {
  const rows = [];
  const line = (title, ...children) => rows.push(element('dt', {}, title), element('dd', {}, ...children));
  if (finding.do) line('What to do', worded(finding.do));
  if (finding.symptoms.length) {
    const counts = new Map();
    for (const each of finding.symptoms) counts.set(each.finding, (counts.get(each.finding) ?? 0) + 1);
    const firsts = finding.symptoms.filter((each, at) => finding.symptoms.findIndex((other) => other.finding === each.finding) === at);
    line('What follows from it', element('ul', { class: 'symptoms' }, firsts.map((each) => element('li', {},
      element('span', { class: `severity ${each.severity}` }, each.severity), worded(each.sentence), counts.get(each.finding) > 1 ? ` (and ${counts.get(each.finding) - 1} more)` : ''))));
  }
  if (finding.evidence.length) {
    line('Evidence', element('ul', { class: 'evidence' }, finding.evidence.map((each, at) => element('li', {},
      each.packet == null ? null : element('span', { class: 'packet' }, `packet ${count(each.packet)} of `, named(fileOf(each.path), `\n${each.path}`)),
      command(finding.shows[at], { label: 'Copy the command that shows this exchange' })))));
  }
  line('Look closer', command(finding.look), command(finding.extract));
  if (finding.first_time_ns != null && LAST > FIRST) {
    const button = element('button', { type: 'button', class: 'plain' }, 'Select this time');
    button.addEventListener('click', () => {
      const slack = Math.max((finding.last_time_ns - finding.first_time_ns) * 0.15, SLOT);
      select([finding.first_time_ns - slack, finding.last_time_ns + slack]);
      byId('time').scrollIntoView({ block: 'start' });
    });
    line('On the time axis', button);
    for (const each of rows.slice(-2)) each.classList.add('screen');
  }
  body.append(element('dl', {}, rows));
}

const fileOf = (path) => (path ?? NONE).split('/').at(-1);
