// The head of the page, the order of its sections, its colours and its glossary.

function drawHead() {
  const { coverage, time } = DATA;
  const names = DATA.files.map(fileOf);
  const title = names.length === 1 ? names[0] : `${names[0] ?? 'No file'} and ${count(DATA.number_of_files - 1)} more ${DATA.number_of_files === 2 ? 'file' : 'files'}`;
  document.title = `${title}: kanalyze`;
  byId('title').replaceChildren(named(title, `\n${DATA.files.join('\n')}`));
  const captured = time.captured_ns && time.captured_ns < (LAST - FIRST) * 0.98 ? `, ${duration(time.captured_ns)} captured` : '';
  byId('period').textContent = `${time.text}${captured}${DATA.filters ? `. Only ${DATA.filters}` : ''}`;
  verdict();
  figures();
  byId('made').replaceChildren(`Made by kanalyze ${DATA.version}. The same in a terminal: `, command(DATA.commands.overview, { narrow: true }));
}

function verdict() {
  const { verdict: word, sentence } = DATA.readable.everything;
  const { coverage } = DATA;
  const place = byId('verdict');
  place.className = `verdict-line ${word}`;
  const share = coverage.kafka_bytes ? percent(coverage.framed_bytes, coverage.kafka_bytes + coverage.gap_bytes) : null;
  place.replaceChildren(element('strong', {}, word === 'whole' ? 'Readable.' : word === 'partly' ? 'Readable in part.' : 'Not readable.'), ' ',
    sentence ? sentence.replace(/^Read in part: (.)/, (_, letter) => letter.toUpperCase()) : share ? `${share} of Kafka bytes read.` : 'Everything was read.',
    ...[DATA.beyond, ...DATA.between, ...DATA.warnings].filter(Boolean).slice(0, 5).map((line) => element('span', { class: 'warning' }, line)),
    ...Object.entries(DATA.not_shown).map(([name, reason]) => element('span', { class: 'warning' }, `Not shown: ${name.replaceAll('_', ' ')}: ${reason}`)));
}

// What the capture is about, in eight numbers.
function figures() {
  const { coverage } = DATA;
  const seconds = coverage.captured_ns / SECOND;
  const bad = rowsOf('errors').filter((row) => !row.between_brokers).reduce((sum, row) => sum + Number(row.unexpected), 0);
  const partly = DATA.readable.errors.verdict === 'partly';
  const cut = partly || totalOf('errors') > DATA.tables.errors.rows.length ? 'at least ' : '';
  const unread = (asks) => DATA.readable[asks].verdict === 'nothing';
  // What TLS hides is not known to be none.
  const hidden = unread('everything') && DATA.readable.everything.reasons.includes('tls');
  const counted = (number, more) => hidden ? ['not known', ''] : [number, more];
  const oneWay = DATA.readable.everything.reasons.includes('one_way');
  const bytesOf = (bytes) => oneWay && !bytes ? ['not known', ''] : counted(size(bytes), seconds ? sizeRate(bytes / seconds) : '');
  const high = DATA.findings.filter((each) => each.severity === 'high').length;
  const medium = DATA.findings.filter((each) => each.severity === 'medium').length;
  const lost = coverage.closed + coverage.abandoned;
  const entries = [
    ['needs attention', high + medium ? count(high + medium) : unread('findings') ? 'not known' : DATA.readable.findings.verdict === 'whole' ? 'nothing' : 'nothing seen', high + medium ? `${high} high, ${medium} medium` : '', '#findings', high ? 'bad' : medium ? 'warn' : ''],
    ['requests', ...counted(count(coverage.requests), seconds ? `${rate(coverage.requests / seconds)}/s` : ''), '#time'],
    ['to brokers', ...bytesOf(coverage.request_bytes), '#flows'],
    ['to clients', ...bytesOf(coverage.response_bytes), '#flows'],
    ['errors, not normal', unread('errors') ? 'not known' : partly && !bad ? 'none seen' : `${cut}${count(bad)}`, '', '#errors', bad && !unread('errors') ? 'warn' : ''],
    ['unanswered', ...(unread('unanswered') ? ['not known', ''] : [count(lost), 'connection ended']), '#unanswered', lost && !unread('unanswered') ? 'warn' : ''],
    ['clients', ...counted(count(coverage.clients), `${count(coverage.kafka_connections)} connections`), '#clients'],
    ['brokers', ...counted(count(coverage.brokers), 'endpoints'), '#brokers'],
  ];
  byId('figures').replaceChildren(...entries.map(([title, number, more, to, kind]) => element('div', { class: `figure ${kind ?? ''}`, 'data-figure': title },
    element('dt', {}, title), element('dd', {}, element('a', { href: to }, number), more ? element('small', {}, more) : null))));
}

function drawNoKafka() {
  const foreign = rowsOf('foreign_connections');
  if (!foreign.length) return;
  const place = section('foreign', 'What is there instead', { short: 'Other traffic', means: DATA.means.foreign_connections, narrow: false, about: 'Connections with payload in which no Kafka could be read.' });
  table(place, [made('client_address', 'from', (row) => addressOf(row.client_address)), made('to', 'to', (row) => endpoint(row.broker_address, row.broker_port)), text('protocol', 'looks like', { plain: true }), text('tls_handshake', 'TLS handshake', { plain: true }), made('client_begin', 'first bytes sent', firstBytes('client_begin')), made('broker_begin', 'first bytes received', firstBytes('broker_begin')), numeric('connections', 'connections', { bar: true }), numeric('client_bytes', 'sent'), numeric('broker_bytes', 'received')],
    { label: 'Other connections', total: totalOf('foreign_connections') })(foreign);
}

// As the terminal shows them: text where the first three bytes are text, else hex; of TLS none.
function firstBytes(column) {
  return (row) => (row.protocol === 'tls' || !row[column] ? null : shownBytes(row[column]));
}

function shownBytes(begin) {
  const pairs = begin.match(/../g);
  const isText = (pair) => /^([2-6]|7(?!f))/.test(pair);
  const escapes = { '09': '\\t', '0a': '\\n', '0d': '\\r' };
  if (!pairs.slice(0, 3).every((pair) => isText(pair) || pair in escapes)) return begin;
  return pairs.map((pair) => (isText(pair) ? String.fromCharCode(parseInt(pair, 16)) : escapes[pair] ?? `\\x${pair}`)).join('');
}

function drawNavigation() {
  const list = byId('navigation').querySelector('ul');
  for (const each of document.querySelectorAll('#sections > section')) {
    list.append(element('li', {}, element('a', { href: `#${each.id}` }, each.dataset.short)));
  }
  const links = new Map([...list.querySelectorAll('a')].map((link) => [link.hash.slice(1), link]));
  const seen = new IntersectionObserver((entries) => {
    for (const entry of entries) if (entry.isIntersecting) {
      for (const link of links.values()) link.removeAttribute('aria-current');
      links.get(entry.target.id)?.setAttribute('aria-current', 'true');
    }
  }, { rootMargin: '-20% 0px -70% 0px' });
  document.querySelectorAll('#sections > section').forEach((each) => seen.observe(each));
}

function drawGlossary() {
  const dialog = byId('glossary');
  const list = element('dl', {}, GLOSSARY.flatMap(([term, meaning]) => [element('dt', {}, term), element('dd', {}, meaning)]));
  const box = element('input', { type: 'search', placeholder: 'Find a term', 'aria-label': 'Find a term' });
  box.addEventListener('input', () => {
    const words = box.value.toLowerCase();
    [...list.children].forEach((each, at) => { const [term, meaning] = GLOSSARY[Math.floor(at / 2)]; each.hidden = !`${term} ${meaning}`.toLowerCase().includes(words); });
  });
  const close = element('button', { type: 'button', class: 'plain' }, 'Close');
  close.addEventListener('click', () => dialog.close());
  dialog.append(element('header', {}, element('h2', {}, 'Glossary'), box, close), list);
  byId('open-glossary').addEventListener('click', () => dialog.showModal());
  dialog.addEventListener('click', (event) => { if (event.target === dialog) dialog.close(); });
}

function colours() {
  const root = document.documentElement;
  const button = byId('theme');
  const dark = () => root.dataset.theme ? root.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
  const drawAgain = () => { button.textContent = dark() ? 'Light' : 'Dark'; button.setAttribute('aria-label', `${dark() ? 'Light' : 'Dark'} colours`); requestAnimationFrame(() => drawings.forEach((draw) => draw())); };
  button.addEventListener('click', () => { root.dataset.theme = dark() ? 'light' : 'dark'; drawAgain(); });
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', drawAgain);
  drawAgain();
  // Paper is light, and as wide as page.css says; findings are open, those for information as sentences.
  let before = null;
  window.addEventListener('beforeprint', () => {
    before ??= root.dataset.theme ?? '';
    root.dataset.theme = 'light';
    root.classList.add('on-paper');
    document.querySelectorAll('.findings > .finding:not(.info)').forEach((each) => each.open());
    document.querySelectorAll('.infos').forEach((each) => { each.open = true; });
    drawings.forEach((draw) => draw());
  });
  window.addEventListener('afterprint', () => {
    if (before) root.dataset.theme = before; else delete root.dataset.theme;
    before = null;
    root.classList.remove('on-paper');
    drawAgain();
  });
}

drawHead();
drawFindings();
if (DATA.coverage.kafka_connections || rowsOf('activity_by_api').length) {
  byId('sections').append(byId('overview'));
  overview();
  drawTimeline();
  drawWhoseTime();
  drawDistribution();
  drawApis();
  drawFlows();
  drawZones();
  drawTopics();
  drawClients();
  drawBrokers();
  drawBrokerLog();
  drawErrors();
  drawGroups();
  drawTransactions();
  drawPartitions();
  drawConnections();
  drawReadiness();
  drawSlowest();
} else {
  byId('overview').hidden = true;
}
drawNoKafka();
drawNavigation();
drawGlossary();
colours();
window.addEventListener('hashchange', readState);
readState();
document.documentElement.dataset.ready = 'true';
