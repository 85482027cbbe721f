"""Bodies as brokers before 2.8 log them, `{acks=1,topic_data=[{topic=orders}]}`, as JSON.

Nothing in this text is quoted, so a value may look like a part of it. What does not come out as one object is not read.
"""

from __future__ import annotations

import re

_ODD = re.compile(r'["\\\x00-\x1f]')
# What Java prints of bytes, which are not there, and of records, whose size is.
_BYTES = re.compile(r"java\.nio\.\w+\[[^\[\]]*\]")
_RECORDS = re.compile(r"=\w+Records\(size=(\d{1,10})[^()]*\)")
# A whole number, or a word for one value; then all others. Names are sought where a word begins: else a long word would be read
# again from each of its letters on.
_BARE = re.compile(r"\b(\w+)=(-?(?:0|[1-9]\d{0,18})|null|true|false)(?=[,}\]])")
_QUOTED = re.compile(r"\b(\w+)=(?![\[{])([^{}\[\],]*)")
_NAMED = re.compile(r"\b(\w+)=(?=[\[{])")
# Words in a list of texts.
_LISTED = re.compile(r"(?<=[\[,])([^\s\"{}\[\],:0-9-][^\"{}\[\],:]*)(?=[,\]])")


def body(text: bytes) -> bytes:
    """The object that a text describes, if it describes one."""
    found = _ODD.sub("?", text.decode("utf-8", "replace"))
    found = _RECORDS.sub(r"=\1", _BYTES.sub("null", found))
    found = _BARE.sub(r'"\1":\2', found)
    found = _QUOTED.sub(r'"\1":"\2"', found)
    found = _NAMED.sub(r'"\1":', found)
    return _LISTED.sub(r'"\1"', found).encode()
