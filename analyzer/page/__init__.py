"""The report as one HTML file: data from metrics and findings, a page that draws it, nothing that leaves the reader's machine.

- `page_data.py` asks metrics and findings, whole and in slots of time; `document.py` puts their rows into one file as
  JSON, and scripts draw them. So the page of a capture and that of its dataset are equal but for the trees of
  messages, which need the capture.
- What a selection of time shows is added up by the page: only sums are summed (`activity`, `topic_traffic`,
  `latency_heat`), and percentiles come of buckets. A table whose rows cannot be added says that they are of the whole
  capture.
- The long tail of keys is folded by the metric (`is_rest`), so a page has 150 captured slots, 60 clients and 100
  pairs of topic and client, however large the capture.
- Captured strings are data: JSON in which no tag can begin, put on the page as text nodes, controls escaped before.
  The policy in the head allows the file's own scripts and styles by hash, and no request at all.
- Lines are drawn by uPlot, whose minified file is in `assets/vendor` with its licence. Measured for twelve charts of
  two lines with 600 points: uPlot 51 kB and 50 to 100 ms; ECharts' smallest build 500 kB and 200 to 420 ms; Vega and
  Vega-Lite 772 kB and 370 ms or more; Plotly's smallest 1.2 MB and 300 to 620 ms. It shares a cursor and a selection
  over all charts. It has no lanes, no map of latencies and no ribbons: these are a few lines of canvas, SVG and
  elements each.
- Two captures side by side (`pair_page.py`, for `diff --format html`) are elements and SVG made here, without a script: what
  was compared is known, and nothing is selected.
- Time that was not captured is drawn as a narrow band (`places.js`), so that captures of an hour each day are
  legible.
"""
