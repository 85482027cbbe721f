// What the tests ask a page, as functions that they name.

// Each canvas with its label and how many colours it shows: one alone is nothing drawn.
function marks() {
  return [...document.querySelectorAll('canvas')].map((canvas) => {
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    const seen = new Set();
    for (let at = 0; at < data.length; at += 4) if (data[at + 3]) seen.add((data[at] << 16) | (data[at + 1] << 8) | data[at + 2]);
    return [canvas.closest('[aria-label]')?.getAttribute('aria-label')?.slice(0, 40) ?? canvas.className, seen.size];
  });
}

// The lines of a section's first table, all of them: column -> text.
function lines(section) {
  const more = document.querySelector(`#${section} .more`);
  if (more && more.textContent.startsWith('Show all')) more.click();
  return [...document.querySelector(`#${section} tbody`).rows].map((row) =>
    Object.fromEntries([...row.cells].map((cell) => [cell.dataset.column, cell.textContent])));
}

function heading(section, title) {
  return [...document.querySelectorAll(`#${section} th`)].find((each) => each.textContent === title);
}

function filter(section, text) {
  const box = document.querySelector(`#${section} input[type=search]`);
  box.value = text;
  box.dispatchEvent(new Event('input'));
}

function figures() {
  return Object.fromEntries([...document.querySelectorAll('[data-figure]')].map((each) => [each.dataset.figure, each.querySelector('a').textContent]));
}

function tableOf(name) {
  return JSON.parse(document.getElementById('data').textContent).tables[name];
}

// Ratios of contrast as WCAG defines them, of the colours that stand upon each other.
function contrast() {
  const canvas = document.createElement('canvas').getContext('2d');
  const style = getComputedStyle(document.documentElement);
  const luminance = (name) => {
    canvas.fillStyle = style.getPropertyValue(name).trim();
    canvas.fillRect(0, 0, 1, 1);
    const [red, green, blue] = [...canvas.getImageData(0, 0, 1, 1).data].map((each) => {
      const part = each / 255;
      return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const pairs = ['ink card', 'ink paper', 'muted card', 'muted paper', 'faint card', 'faint paper', 'bad bad-soft', 'warn warn-soft', 'low low-soft',
    'fine fine-soft', 'accent accent-soft', 'bad card', 'warn card'];
  return pairs.map((pair) => {
    const [less, more] = pair.split(' ').map((name) => luminance(`--${name}`)).sort((a, b) => a - b);
    return [pair, (more + 0.05) / (less + 0.05)];
  });
}
