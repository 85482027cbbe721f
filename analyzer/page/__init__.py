"""The report as one HTML file: data from metrics and findings, a page that draws it, nothing that leaves the reader's machine."""
