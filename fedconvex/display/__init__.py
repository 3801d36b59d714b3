"""Documents as data: blocks (`documents`), and a writer for each format: `text`, `markdown`, `html`, `latex`."""
