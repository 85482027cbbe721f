"""What reading lines of a log keeps, and the names that lines have for what they say."""

import cython

from dissectors.kafka.logged.body_texts import Texts
from dissectors.kafka.logged.json_cells import *
from dissectors.kafka.logged.json_places import Names, Places, i64
from dissectors.kafka.logged.log_cells import *
from dissectors.kafka.logged.log_out import LogOut
from dissectors.kafka.logged.object_values import BodyValues

BEGIN = b"Completed request:"
TIMES = (
    b"totalTimeMs",
    b"requestQueueTimeMs",
    b"localTimeMs",
    b"remoteTimeMs",
    b"throttleTimeMs",
    b"responseQueueTimeMs",
    b"sendTimeMs",
)
LINE_NAMES = Names(
    (
        b"isForwarded",
        b"requestHeader",
        b"request",
        b"response",
        b"connection",
        *TIMES,
        b"securityProtocol",
        b"principal",
        b"listener",
        b"clientInformation",
        b"logged_at",
    )
)
HEADER_NAMES = Names((b"requestApiKey", b"requestApiVersion", b"correlationId", b"clientId"))
SOFTWARE_NAMES = Names((b"softwareName", b"softwareVersion"))
_ERROR_NAMES = Names((b"errorCode",))


@cython.cclass
class LogState:
    """What is known between lines. `out` has the rows; `asked` and `told` are the bodies of the last line."""

    texts = cython.declare(Texts, visibility="readonly")
    out = cython.declare(LogOut, visibility="readonly")
    asked = cython.declare(BodyValues, visibility="readonly")
    told = cython.declare(BodyValues, visibility="readonly")
    why = cython.declare(cython.int, visibility="readonly")
    line_end = cython.declare(cython.Py_ssize_t, visibility="readonly")  # of a line that is left to the caller
    facts: i64[::1]
    fact_rows: cython.Py_ssize_t
    log = cython.declare(i64, visibility="public")
    line = cython.declare(i64, visibility="public")  # lines before the next
    requests = cython.declare(i64, visibility="public")
    unread = cython.declare(i64, visibility="public")  # bodies
    first_ns = cython.declare(i64, visibility="public")
    last_ns = cython.declare(i64, visibility="public")
    places: Places
    found: cython.int[::1]
    times: i64[::1]
    plan_of = cython.declare(object, visibility="readonly")
    plans: list
    with_facts: cython.char[::1]
    has_come: cython.char[::1]  # APIs
    apis: i64[::1]  # numbers of their names
    connections: Texts
    slots: cython.int[::1]  # of connections, by their numbers
    next_begin: cython.Py_ssize_t
    line_names: Names
    header_names: Names
    software_names: Names
    error_names: Names

    def __init__(self, out, plan_of, with_facts):
        """`plan_of` gives the plan of an API, a version and a direction; `with_facts` are APIs."""
        self.out = out
        self.texts, self.connections, self.places = out.texts, Texts(), Places()
        self.asked, self.told = BodyValues(out.texts), BodyValues(out.texts)
        self.plan_of = plan_of
        self.plans = [None] * (2 * KNOWN_KEYS * KNOWN_VERSIONS)
        self.with_facts = memoryview(bytearray(KNOWN_KEYS)).cast("b")
        for key in with_facts:
            self.with_facts[key] = 1
        self.has_come = memoryview(bytearray(KNOWN_KEYS)).cast("b")
        self.apis = memoryview(bytearray(8 * KNOWN_KEYS)).cast("q")
        self.found = memoryview(bytearray(4 * MEMBERS)).cast("i")
        self.times = memoryview(bytearray(8 * 7)).cast("q")
        self.facts = memoryview(bytearray(8 * FACT_ROWS * FACT_CELLS)).cast("q")
        self.slots = memoryview(bytearray(4 * 64)).cast("i")
        self.fact_rows = self.log = self.line = self.requests = self.unread = 0
        self.line_names, self.header_names = LINE_NAMES, HEADER_NAMES
        self.software_names, self.error_names = SOFTWARE_NAMES, _ERROR_NAMES
