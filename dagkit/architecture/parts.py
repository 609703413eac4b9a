"""The parts of an Airflow deployment and what passes between them, as data: for Airflow 3, and for 2 beside it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Component:
    """A part. does: a few words. job: what it does. needed: whether a deployment needs it, and when. why: why it
    exists. broken: what one sees when it is unhealthy. check: what to look at first. at: its place in the drawing.
    """

    name: str
    does: str
    job: str
    needed: str
    why: str
    broken: str
    check: str
    at: tuple[float, float]


@dataclass(frozen=True)
class Link:
    """What passes from one part to another. protocol, effect, and the consequence if it breaks; sides: how it is drawn
    (side it leaves, side it enters, how far it swings)."""

    start: str
    end: str
    protocol: str
    effect: str
    consequence: str
    sides: tuple[str, str, float] | None = None


HEALTH = "GET /api/v2/monitor/health"

BUNDLE = Component(
    "Dag bundle", "your files",
    "Holds the Dag files: a local folder by default; a GitDagBundle is versioned, so a run can keep its code.",
    "yes", "Processor and workers must read the same code, and a run should not change under way.",
    "Unversioned: a worker may run newer code than was planned. Out of step: import errors on some workers only.",
    "Which version do the Dag page and the worker's log name?", (0, 0))
PROCESSOR = Component(
    "Dag processor", "files to Dags",
    "For each file: import it in a child process, find its Dags, serialize them, record import errors.",
    "yes, a process of its own (optional since 2.3, required since 3.0)",
    "Author code can hang or crash. It must not do that inside the scheduler.",
    "Edits stay invisible, the list of import errors grows; what is known already goes on.",
    "When was the file last parsed? (Health: Dag processor; dag_processing.last_run.seconds_ago)", (1, 0))
TRIGGERER = Component(
    "triggerer", "watches for events",
    "One asyncio loop holds the waits of deferred tasks, 1,000 triggers at once by default.",
    "no, only for deferrable operators",
    "A wait needs no worker. A thousand of them fit into one process.",
    "Deferred tasks never wake.", "Its heartbeat (Health: Triggerer)", (2, 0))
DATABASE = Component(
    "metadata DB", "the only truth",
    "Every Dag, run and task instance is a row here. PostgreSQL; MySQL is less trodden; SQLite for a laptop.",
    "yes", "Schedulers have no leader and no memory of their own: they meet in its row locks.",
    "Down: everything stops. Slow: everything is slow, and there is no error anywhere.",
    "How long does a scheduler loop and its query take? Connections, lock waits, old rows", (2, 1))
SCHEDULER = Component(
    "scheduler", "decides what may run",
    "In a loop: are runs due, whose dependencies are met, who fits the limits, and what was lost?",
    "yes, one or more", "Somebody must turn a graph and a clock into rows that say queued. It never runs your code.",
    "Nothing new starts; scheduled piles up. What runs goes on and ends.",
    "Its heartbeat (airflow jobs check --job-type SchedulerJob)", (3, 1))
EXECUTOR = Component(
    "executor", "hands work over",
    "Lives inside the scheduler and gets queued task instances to where they run; it hears how they end.",
    "yes, one or several", "The border between decided and ran: the rest need not know where tasks run.",
    "Queued piles up, although workers or the cluster have room.",
    "Its log lines in the scheduler; with Kubernetes: pods that are pending", (4, 1))
BROKER = Component(
    "broker", "carries queued work",
    "Keeps messages until a worker takes one: RabbitMQ acknowledges; Redis copies late and can lose some.",
    "with Celery only", "The scheduler must not wait for a worker, nor know how many there are.",
    "Queued is not delivered. A lost message is found after 600 s, queued again twice, then failed.",
    "Messages that wait, messages delivered", (4, 2))
WORKER = Component(
    "worker", "runs the code",
    "Parses the Dag file to find the task, and runs it in a watched child process, one for each task instance.",
    "not for LocalExecutor", "Your code runs here and nowhere else: it needs code, packages, network.",
    "Tasks die or vanish: running without heartbeats for 300 s, then the retry rule.",
    "Heartbeats and slots of each worker, its queues, its log", (3, 2))
API_SERVER = Component(
    "API server", "pages and reports",
    "Serves people and tasks. Tasks report and ask through the Task Execution API with a short-lived token.",
    "yes (the webserver in 2.x)", "One door to the database: task code needs no credentials, and may run anywhere.",
    "No pages, no reports: a supervisor gives its task up after three failed heartbeats.",
    HEALTH, (1, 3))
YOU = Component("you", "people and scripts", "Look, trigger, clear, answer.", "yes",
                "Somebody wants the result.", "Nobody notices.", "Alerts, not the page", (0, 3))

THREE = (BUNDLE, PROCESSOR, TRIGGERER, DATABASE, SCHEDULER, EXECUTOR, BROKER, WORKER, API_SERVER, YOU)

_WORKER_TO_API = Link(
    "worker", "API server", "HTTP, a token for one task instance",
    "Start, heartbeats, states, XCom, connections: task code asks for what it may have, and never sees the database.",
    "After three failed heartbeats the supervisor stops the task; the scheduler finds the silence after 300 s.",
    ("bottom", "right", 90))
LINKS_THREE = (
    Link("Dag bundle", "Dag processor", "files", "The processor lists and imports them, again and again.",
         "New and changed files stay unseen."),
    Link("Dag processor", "metadata DB", "SQL: serialized Dags, versions, import errors",
         "Scheduler and pages read Dags from here; they import no author code.",
         "The last stored version lives on, then counts as stale.", ("bottom", "left", 60)),
    Link("triggerer", "metadata DB", "SQL: triggers and their events", "An event sets the task back to scheduled.",
         "Deferred tasks sleep on. Their timeouts are watched by the scheduler."),
    Link("scheduler", "metadata DB", "SQL with row locks", "Runs are made, states advance, queued is written first.",
         "No connection, no pass. Slow queries, slow passes."),
    Link("scheduler", "executor", "a call in the same process", "What is queued is handed over, highest priority first.",
         "Rows say queued, and nobody carries them on; they are found after 600 s."),
    Link("executor", "broker", "AMQP or Redis: a message per task instance", "The message names what to run, no more.",
         "Refused: the executor reports failed. Lost: reconciliation after 600 s, checked every 120 s."),
    Link("broker", "worker", "the worker pulls from its queues", "Whoever has a free slot takes the next message.",
         "Workers are idle while work is queued. A queue nobody listens to looks the same."),
    Link("Dag bundle", "worker", "the same files, parsed again at each start",
         "The worker needs the code itself, not the serialized form.",
         "Another version here than at the processor: import errors on some workers only.", ("bottom", "left", 190)),
    _WORKER_TO_API,
    Link("API server", "metadata DB", "SQL", "Reports become rows; pages are read from rows.",
         "Pages fail and reports with them.", ("top", "bottom", 60)),
    Link("you", "API server", "HTTP: pages and REST", "Trigger, clear, pause, answer.", "You are blind; tasks go on."),
)

WEBSERVER = Component(
    "webserver", "pages and REST", "Serves people only.", "yes", "Somebody wants to look.",
    "No pages. Tasks do not notice.", "Does the page load?", (1, 3))
FOLDER = Component(
    "Dag folder", "where files are", "A folder that every part mounts or copies. It has no versions.", "yes",
    "Scheduler, webserver (before 2.0) and workers read the same code.",
    "A running run follows whatever is in the folder now.", "Is the copy in step everywhere?", (0, 0))
OLD_PROCESSOR = Component(
    "Dag processor", "in the scheduler",
    "As in 3, but a child of the scheduler unless set up apart (since 2.3).", "optional as a process of its own",
    "Before: an endless import could stop scheduling.", "Edits stay invisible; or the scheduler hangs with it.",
    "The scheduler's log", (1, 0))
OLD_WORKER = Component(
    "worker", "knows the password",
    "As in 3, but with the password of the metadata database: task code can read and change every row.",
    "not for LocalExecutor", "It was the simplest way to report a state.",
    "As in 3; and one task can read every connection, or hold every database connection.",
    "Connections of the database", (3, 2))
TWO = (FOLDER, OLD_PROCESSOR, TRIGGERER, DATABASE, SCHEDULER, EXECUTOR, BROKER, OLD_WORKER, WEBSERVER, YOU)

_WORKER_TO_DB = Link(
    "worker", "metadata DB", "SQL, with the database's password",
    "Every task writes its own state and reads any connection it likes.",
    "The task cannot report and fails. And any task could have read every secret.", ("left", "bottom", 60))
_RENAMED = {"Dag bundle": "Dag folder", "API server": "webserver"}
LINKS_TWO = tuple(
    _WORKER_TO_DB if link is _WORKER_TO_API else
    Link(_RENAMED.get(link.start, link.start), _RENAMED.get(link.end, link.end), link.protocol, link.effect,
         link.consequence, link.sides) for link in LINKS_THREE)
