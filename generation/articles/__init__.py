"""Documents in: from Markdown, HTML, wikitext or plain text to the text of headed sections."""
