"""Makes a program that reads chosen fields of one version of a message: what to read, what to skip, and where to stop.

Fields are chosen by name, with those of structs and arrays of structs in parentheses: `"cluster_id brokers(node_id port)"`. In a
version without a field that is marked, `"topics(name topic_id!)"`, nothing of the structs that would hold it is read.
"""

from __future__ import annotations

from array import array

from dissectors.kafka.columns import field_operations as ops
from dissectors.kafka.schema.fields import Field

# Names of fields, each with what is wanted inside it.
Wanted = dict[str, "Wanted"]

# Type in a schema -> its number, and its size in bytes.
TYPES = {
    "bool": ops.BOOL,
    "int8": ops.INT8,
    "int16": ops.INT16,
    "uint16": ops.UINT16,
    "int32": ops.INT32,
    "uint32": ops.UINT32,
    "int64": ops.INT64,
    "uuid": ops.UUID,
}
WIDTHS = {"bool": 1, "int8": 1, "int16": 2, "uint16": 2, "int32": 4, "uint32": 4, "int64": 8, "float64": 8, "uuid": 16}
# Types with a length: the number without the form of the length.
SIZED_TYPES = {"string": ops.STRING, "bytes": ops.BYTES, "records": ops.RECORDS}


def wanted_fields(text: str) -> Wanted:
    """`"a b(c d)"` becomes {"a": {}, "b": {"c": {}, "d": {}}}."""
    top: Wanted = {}
    stack = [top]
    last = top
    for word in text.replace("(", " ( ").replace(")", " ) ").split():
        if word == "(":
            stack.append(last)
        elif word == ")":
            stack.pop()
        else:
            last = {}
            stack[-1][word] = last
    return top


class FieldProgram:
    """The operations that read the wanted fields of one version of a message: `code`, and `names` of fields.

    `message` writes them.
    """

    def __init__(self, version: int, flexible: bool) -> None:
        self.version = version
        self.flexible = flexible
        self.code = array("i")
        self.names: list[str] = []
        self.skipped = 0  # bytes to skip that are not written yet

    def message(self, fields: tuple[Field, ...], wanted: Wanted) -> FieldProgram:
        """Writes the operations for the fields of a message; returns the program."""
        self.struct(fields, self.available(fields, wanted) or {}, True)
        return self

    def available(self, fields: tuple[Field, ...], wanted: Wanted) -> Wanted | None:
        """What is wanted of the fields that this version has; None where one lacks that is marked."""
        here = {each.name: each for each in fields if self.version in each.versions}
        found: Wanted = {}
        for word, inside in wanted.items():
            name = word.removesuffix("!")
            known = self.available(here[name].fields, inside) if name in here else None
            if known is not None:
                found[name] = known
            elif name != word:
                return None
        return found

    def write(self, *words: int) -> int:
        """Writes an operation; returns its address."""
        if self.skipped:
            self.code.extend((ops.FIXED, self.skipped))
            self.skipped = 0
        self.code.extend(words)
        return len(self.code) - len(words)

    def name(self, text: str) -> int:
        if text not in self.names:
            self.names.append(text)
        return self.names.index(text)

    def form(self, kind: str) -> int:
        return ops.COMPACT_LENGTH if self.flexible else ops.INT16_LENGTH if kind == "string" else ops.INT32_LENGTH

    def struct(self, fields: tuple[Field, ...], wanted: Wanted, is_top: bool = False) -> None:
        """Writes the fields of a struct; of the message itself only up to the last one that is wanted."""
        here = [each for each in fields if self.version in each.versions]
        untagged = [each for each in here if each.tag is None]
        tagged = [each for each in here if each.tag is not None and each.name in wanted]
        if is_top and not tagged:
            while untagged and untagged[-1].name not in wanted:
                untagged.pop()
        for each in untagged:
            self.field(each, wanted.get(each.name))
        if self.flexible and (tagged or not is_top):
            self.tags(tagged, wanted)
        self.write(ops.END)

    def tags(self, known: list[Field], wanted: Wanted) -> None:
        words = [word for each in known for word in (each.tag or 0, 0)]
        address = self.write(ops.TAGS, 0, len(known), *words)
        for index, each in enumerate(known):
            self.code[address + 4 + 2 * index] = len(self.code)
            self.field(each, wanted[each.name])
            self.write(ops.END)
        self.code[address + 1] = len(self.code)

    def field(self, each: Field, wanted: Wanted | None) -> None:
        """Writes a field; `wanted` is None for one to skip, else what is wanted inside it."""
        name = -1 if wanted is None else self.name(each.name)
        if each.is_array:
            self.array(each, wanted, name)
        elif each.type == "struct":
            nullable = each.nullable is not None and self.version in each.nullable
            address = self.write(ops.STRUCT, int(nullable), name, 0)
            self.struct(each.fields, wanted or {})
            self.code[address + 3] = len(self.code)
        elif wanted is not None:
            self.write(ops.VALUE, self.type_of(each.type), name)
        elif each.type in WIDTHS:
            self.skipped += WIDTHS[each.type]
        else:
            self.write(ops.SIZED, self.form(each.type))

    def array(self, each: Field, wanted: Wanted | None, name: int) -> None:
        form = ops.COMPACT_LENGTH if self.flexible else ops.INT32_LENGTH
        if each.type == "struct":
            address = self.write(ops.ARRAY, form, name, 0)
            self.struct(each.fields, wanted or {})
            self.code[address + 3] = len(self.code)
        elif wanted is not None:
            self.write(ops.VALUES, form, self.type_of(each.type), name)
        elif each.type in WIDTHS:
            self.write(ops.ITEMS, form, WIDTHS[each.type])
        else:
            address = self.write(ops.ARRAY, form, -1, 0)
            self.write(ops.SIZED, self.form(each.type))
            self.write(ops.END)
            self.code[address + 3] = len(self.code)

    def type_of(self, name: str) -> int:
        """The number of a schema type of values."""
        return TYPES[name] if name in TYPES else SIZED_TYPES[name] + self.form(name)
