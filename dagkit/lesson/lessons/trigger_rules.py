"""Lesson 4: trigger rules."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ... import trigger_rules
from ...dag import Dag
from ...engine import simulate
from ...scenario import Scenario
from ...task import Task
from ..ask import Question
from ..book import Lesson
from ..maps import Edge, Map, Node
from ..truth import decided_at, early, freed_by, join, listed, verdicts

# ---- the situations of this lesson; the notebook writes the same ones out, a test compares them

JOINS: dict[str, dict[str, tuple[str, int]]] = {
    "all_success": {"fast": ("fail", 1), "slow": ("success", 4)},
    "all_failed": {"fast": ("fail", 1), "slow": ("success", 4)},
    "all_done": {"fast": ("fail", 1), "slow": ("success", 4)},
    "one_success": {"fast": ("success", 1), "slow": ("fail", 4)},
    "one_failed": {"fast": ("success", 1), "slow": ("success", 4)},
    "one_done": {"fast": ("skip", 1), "slow": ("success", 4)},
    "none_failed": {"fast": ("skip", 1), "slow": ("skip", 4)},
    "none_failed_min_one_success": {"fast": ("skip", 1), "slow": ("skip", 4)},
    "none_skipped": {"fast": ("fail", 1), "slow": ("fail", 4)},
    "all_skipped": {"fast": ("skip", 1), "slow": ("success", 4)},
    "all_done_min_one_success": {"fast": ("skip", 1), "slow": ("success", 4)},
    "always": {"fast": ("fail", 1), "slow": ("success", 4)},
}
"""What the upstreams of ``after`` do, for every rule but the teardown's."""


def played(rule: str) -> Any:
    """The trace a rule's question is about."""
    if rule == "all_done_setup_success":
        return simulate(lent(), outcomes={"work": ["fail"]})
    return join(rule, **JOINS[rule])


def branched(rule: str, follow: Any = ("left",)) -> Dag:
    """A branch, two ways, and a join with the rule to be looked at."""
    return Dag("branch", [Task("choose", branch=follow), Task("left", "choose"), Task("right", "choose"),
                          Task("join", ["left", "right"], trigger_rule=rule)])


DAYS: dict[str, bool] = {
    "one way is followed and succeeds": True,
    "one way is followed and fails": False,
    "both ways are followed and one fails": False,
    "no way is followed": False,
}
"""Four days of a branch with two ways, and whether a join should run on each."""


def joined(rule: str, day: str) -> str:
    """How the join ends on one of the DAYS. Raises DagkitError for an unknown rule."""
    follow = {"no": (), "both": ("left", "right"), "one": ("left",)}[day.split()[0]]
    outcomes = {"left": ["fail"]} if "fail" in day else {}
    found: str = simulate(branched(rule, follow), outcomes=outcomes).final_states["join"]
    return found


def lent(**teardown: Any) -> Dag:
    """Something is made, used and given back."""
    return Dag("lent", [Task("make", is_setup=True), Task("work", "make"),
                        Task("drop", ["make", "work"], is_teardown=True, **teardown)])


def six() -> dict[str, Scenario]:
    """Six Dags with a clean-up whose rule is all_done. In the first it is what people expect."""
    last: dict[str, Any] = {"trigger_rule": "all_done"}
    return {
        "its upstream fails": Scenario(Dag("plain", [Task("work"), Task("cleanup", "work", **last)]),
                                       outcomes={"work": ["fail"]}),
        "a branch does not follow it": Scenario(Dag("branch", [
            Task("choose", branch="work"), Task("work", "choose"), Task("cleanup", "choose", **last)])),
        "a hard short circuit above it": Scenario(Dag("short", [
            Task("check", short_circuit="hard"), Task("work", "check"), Task("cleanup", "work", **last)])),
        "the setup above it fails": Scenario(Dag("setup", [
            Task("make", is_setup=True), Task("work", "make"), Task("cleanup", "work", **last)]),
            outcomes={"make": ["fail"]}),
        "it is mapped, and its producer fails": Scenario(Dag("mapped", [
            Task("files", returns=3), Task("cleanup", expand={"path": "files"}, **last)]),
            outcomes={"files": ["fail"]}),
        "it is mapped, and its producer is skipped": Scenario(Dag("mapped", [
            Task("files", returns=3), Task("cleanup", expand={"path": "files"}, **last)]),
            outcomes={"files": ["skip"]}),
    }


def order(skip: int, fail: int) -> Any:
    """One upstream is skipped, the other fails; how long each takes decides who is first."""
    return join("all_success", optional=("skip", skip), needed=("fail", fail))


def watched(**outcomes: Any) -> Any:
    """Work, a clean-up that always runs, and a watcher below both."""
    dag = Dag("watched", [Task("work"), Task("cleanup", "work", trigger_rule="all_done"),
                          Task("watcher", ["work", "cleanup"], trigger_rule="one_failed")])
    return simulate(dag, outcomes={"watcher": ["fail"], **outcomes})


def after(rule: str) -> str:
    found: str = played(rule).final_states["after"]
    return found


def ended(trace: Any, task: str) -> int:
    tick: int = trace.changes[trace.labels.index(task)][-1][0]
    return tick


def facts() -> Mapping[str, Any]:
    run = {rule: played(rule) for rule in JOINS}
    skips = [rule for rule in trigger_rules.RULES if "skipped" in verdicts(rule).values()
             and "upstream_failed" not in verdicts(rule).values()]
    usual, flipped = order(1, 4), order(4, 1)
    kept = [name for name, scene in six().items() if simulate(scene).final_states["cleanup"] == "success"]
    setup = simulate(lent(), outcomes={"make": ["fail"]})
    quiet, loud = (simulate(lent(on_failure_fail_dagrun=flag), outcomes={"drop": ["fail"]}) for flag in (False, True))
    return {
        "rules": len(trigger_rules.RULES),
        "early": sum(bool(early(rule)) for rule in trigger_rules.RULES),
        "skips": len(skips),
        "skip_names": listed(skips, "and"),
        "fast": ended(run["all_success"], "fast"),
        "slow": ended(run["all_success"], "slow"),
        "starts": decided_at(run["always"]),
        "always": run["always"].final_states["after"],
        "all_failed": run["all_failed"].final_states["after"],
        "one_failed": run["one_failed"].final_states["after"],
        "one_success": run["one_success"].final_states["after"],
        "one_success_run": run["one_success"].run_state,
        "skip_first": usual.final_states["after"],
        "skip_first_run": usual.run_state,
        "fail_first": flipped.final_states["after"],
        "fail_first_run": flipped.run_state,
        "kept": len(kept),
        "tried": len(six()),
        "drop": played("all_done_setup_success").final_states["drop"],
        "drop_run": played("all_done_setup_success").run_state,
        "drop_no_setup": setup.final_states["drop"],
        "quiet": quiet.run_state,
        "loud": loud.run_state,
        "join_default": simulate(branched("all_success")).final_states["join"],
        "join_good": simulate(branched("none_failed_min_one_success")).final_states["join"],
        "none_failed_empty": simulate(branched("none_failed", ())).final_states["join"],
        "watched": watched(work=["fail"]).run_state,
        "unwatched": simulate(six()["its upstream fails"]).run_state,
        "calm": watched().final_states["watcher"],
    }


GIST = (
    "Work fails, branches leave work out, and still something has to be cleaned up, joined or reported. A task "
    "needs a way to say what it makes of that.",
    "A trigger rule is one task's question to the **states of its direct upstreams**. There are {rules}; the usual "
    "one is `all_success`.",
    "The scheduler counts how the direct upstreams ended and asks the rule. It answers run, wait, or **set a "
    "state**: `upstream_failed` or `skipped`, without any worker. {early} of the {rules} rules can answer before all "
    "upstreams are done. Once answered, the task is not asked again.",
    "A doorkeeper with a tally sheet: it counts who came out and how, and lets you in, keeps you waiting, or sends "
    "you home.",
    "Local and cheap: a rule sees its direct upstreams and nothing else. The price: what happened further up reaches "
    "it only as a state, a failure as `upstream_failed`, a branch as `skipped`, and it may be hidden on the way.",
    "“How do I join after a branch?” Say what the rule must do in three cases: one way taken, one way failed, "
    "nothing taken. Then name the rule.",
)

MAP = Map(
    "how a rule is asked",
    (
        Node("upstreams", "how they ended", "Only the direct ones. Of a mapped task every instance counts one."),
        Node("branch", "writes skipped", "A branch or short circuit that finishes writes `skipped` on what it does "
             "not follow. It does not ask their rules, so no rule can escape."),
        Node("counts", "a tally", "A rule never sees who, only how many: success, failed, upstream_failed, skipped, "
             "removed, and how many are not done."),
        Node("setups", "what it works under", "A task below a setup waits for it, and falls with it, whatever its "
             "rule. Only `always` escapes."),
        Node("rule", "one row of a table", "First what decides early, then what is said when all are done."),
        Node("run", "none → scheduled", "Now it may run. Whether there is room is another question, lesson 5."),
        Node("set a state", "skipped, upstream_failed", "The task is finished without having run: try 0, no worker, "
             "no log."),
        Node("wait", "stays none", "Something upstream is still open, and nothing so far decides."),
    ),
    (
        Edge("upstreams", "counts", "finished states", "Each that ends changes the tally, and the task is looked at.",
             "A missed change leaves the task in none although all is there."),
        Edge("counts", "rule", "the tally", "{early} of {rules} rules can decide on part of it.",
             "An upstream that never ends keeps every patient rule waiting: look at it, not at the task."),
        Edge("setups", "rule", "their states", "With a failed setup a task below becomes upstream_failed; a teardown "
             "without a setup that succeeded ends {drop_no_setup}.",
             "all_done does not help: work under a setup that failed does not run."),
        Edge("branch", "set a state", "skipped, at once", "An unfollowed clean-up is skipped, although its rule is "
             "all_done.", "Put what must run below the join, not directly below the branch."),
        Edge("rule", "run", "met", "With always that is at tick {starts}, before any upstream has started.",
             "The task runs although what it needs is not there: the rule is too generous."),
        Edge("rule", "set a state", "impossible", "all_success decides at tick {fast}, at the first failure, while the "
             "other upstream works on until tick {slow}.",
             "A rule that is too strict skips a join: {join_default} after a branch with all_success."),
        Edge("rule", "wait", "still open", "It is asked again when one more upstream ends.",
             "all_skipped with a removed upstream waits for ever."),
    ),
)


def _rule_or_kind() -> str:
    """The same failure seen through two rules, further down: does the second know of it?"""
    dag = Dag("hidden", [Task("a"), Task("b", "a", trigger_rule="all_done"), Task("c", "b")])
    return "success" if simulate(dag, outcomes={"a": ["fail"]}).final_states["c"] == "success" else "upstream_failed"


TEST = (
    Question(
        "a fails. b comes after a with rule all_done and succeeds. c comes after b with rule all_success. What "
        "becomes of c?",
        {
            "upstream_failed": "A rule sees direct upstreams only. The failure of a reached b, and b succeeded.",
            "success": "c asks only b, and b succeeded. A generous rule in the middle hides what happened above it.",
            "skipped": "Nothing was left out on purpose here.",
        },
        answer=_rule_or_kind,
    ),
    Question(
        "Two ways out of a branch, one is followed and succeeds. The join has the usual rule, all_success. What "
        "becomes of it?",
        {
            "it runs": "all_success wants success from **every** upstream, and one of the two is skipped.",
            "it is skipped": "The way not taken is skipped, and for all_success one skipped upstream is enough: "
            "{join_default}.",
            "it is upstream_failed": "Nothing failed. A skip makes all_success pass the skip on.",
        },
        answer=lambda: {"success": "it runs", "skipped": "it is skipped", "upstream_failed": "it is upstream_failed"}[
            simulate(branched("all_success")).final_states["join"]],
    ),
)


def _when(rule: str) -> str:
    trace = played(rule)
    return {"fast": "as soon as `fast` has ended", "slow": "when `slow` has ended too",
            "nobody": "before either has ended"}[freed_by(trace)]


ASKS = {
    "all_success": Question(
        "fast fails at tick {fast}, slow works on until tick {slow}. What is after at the end of tick {fast}?",
        {
            "none": "It would wait if slow could still change the outcome. It cannot: one failure is enough.",
            "upstream_failed": "One failed upstream makes “every upstream succeeded” impossible. The scheduler says so "
            "at once and does not wait for slow.",
            "failed": "failed means it ran and went wrong. after never ran.",
            "skipped": "That is what a skipped upstream would do. fast failed.",
        },
        answer=lambda: played("all_success").states_at(ended(played("all_success"), "fast"))["after"],
    ),
    "all_failed": Question(
        "fast fails, slow succeeds. In which state does after end?",
        {
            "success": "It wants **all** to fail, one did not.",
            "upstream_failed": "That name is for a failure that stops a task. Here it is a success that does.",
            "skipped": "One success makes the rule impossible, and then all_failed says skipped, never "
            "upstream_failed. It is for a fallback that is needed only if everything else went wrong.",
        },
        answer=lambda: after("all_failed"),
    ),
    "all_done": Question(
        "fast fails at tick {fast}, slow succeeds at tick {slow}. When is after scheduled?",
        {
            "before either has ended": "That would be the rule always, which asks nobody.",
            "as soon as `fast` has ended": "all_done decides nothing early: it waits for every upstream.",
            "when `slow` has ended too": "All are done then. How they ended does not matter to this rule.",
        },
        answer=lambda: _when("all_done"),
    ),
    "one_success": Question(
        "fast succeeds at tick {fast}, so after runs. Then slow fails. In which state does after end?",
        {
            "success": "One success was enough, and a rule is asked once. What slow does later does not call after "
            "back. The only leaf succeeded, so even the run is a {one_success_run}.",
            "upstream_failed": "It was decided before slow failed.",
            "skipped": "Nothing was skipped, and it had started already.",
        },
        answer=lambda: after("one_success"),
    ),
    "one_failed": Question(
        "Both upstreams succeed. In which state does after, an alarm with rule one_failed, end?",
        {
            "none": "All upstreams are done, so the question is closed: nothing can fail any more.",
            "skipped": "Nothing failed, so there is nothing to do. A skipped leaf does no harm to the run.",
            "upstream_failed": "No upstream failed, so there is nothing to pass on.",
            "success": "It would have to run, and it runs only after a failure.",
        },
        answer=lambda: after("one_failed"),
    ),
    "one_done": Question(
        "fast is skipped at tick {fast}, slow succeeds at tick {slow}. When is after scheduled?",
        {
            "before either has ended": "Only always does that. This rule wants one upstream to have run.",
            "as soon as `fast` has ended": "The name says done, the rule means success or failed. A skipped upstream "
            "does not count, nor does one that is upstream_failed.",
            "when `slow` has ended too": "slow is the first that *ran*. The skip of fast did not count.",
        },
        answer=lambda: _when("one_done"),
    ),
    "none_failed": Question(
        "Both upstreams are skipped. In which state does after end?",
        {
            "skipped": "Under all_success, yes. none_failed forgives skips.",
            "success": "None failed, and that is all it asks. It runs although **nothing** above it ran.",
            "upstream_failed": "It would be, had one of them failed. Both were left out.",
            "none": "Both are done, so there is nothing to wait for.",
        },
        answer=lambda: after("none_failed"),
    ),
    "none_failed_min_one_success": Question(
        "The same again: both upstreams are skipped. In which state does after end?",
        {
            "success": "That was none_failed. This one also wants a success.",
            "skipped": "Nothing failed, nothing succeeded: there is nothing to join, and the skip is passed on.",
            "upstream_failed": "It is said only if no success came and something other than skips was the cause, a "
            "removed upstream for instance.",
        },
        answer=lambda: after("none_failed_min_one_success"),
    ),
    "none_skipped": Question(
        "Both upstreams fail. In which state does after end?",
        {
            "success": "It forgives failures and minds skips only. Nothing was skipped, so it ran.",
            "upstream_failed": "none_skipped never says that: it asks about skips.",
            "skipped": "It would be, had one of them been skipped.",
        },
        answer=lambda: after("none_skipped"),
    ),
    "all_skipped": Question(
        "fast is skipped, slow succeeds. In which state does after end?",
        {
            "success": "It wants all of them skipped.",
            "skipped": "slow was not skipped, so the rule is impossible, and it says skipped itself. It is for the "
            "case in which every branch was left out.",
            "upstream_failed": "Like all_failed it answers skipped when it cannot hold, never upstream_failed.",
        },
        answer=lambda: after("all_skipped"),
    ),
    "all_done_min_one_success": Question(
        "fast is skipped at tick {fast}, slow would succeed at tick {slow}. In which state does after end?",
        {
            "success": "The name promises it, but a skipped upstream is not forgiven: skipped at once.",
            "skipped": "Failures are forgiven, skips are not. It does not even wait for slow.",
            "upstream_failed": "That is its answer when all are done without a success and without a skip.",
        },
        answer=lambda: after("all_done_min_one_success"),
    ),
    "all_done_setup_success": Question(
        "make, a setup, succeeds; work fails; drop is the teardown. In which state does drop end?",
        {
            "upstream_failed": "A teardown is there for exactly this case: what was made must be given back.",
            "success": "All are done and its setup succeeded, so there is something to give back. The run is still "
            "a {drop_run}, because a teardown is not asked when the run is judged.",
            "skipped": "That would be so had make been skipped: nothing made, nothing to give back.",
        },
        answer=lambda: played("all_done_setup_success").final_states["drop"],
    ),
    "always": Question(
        "fast fails at tick {fast}, slow ends at tick {slow}. When is after scheduled?",
        {
            "before either has ended": "It does not look at its upstreams at all. The arrows into it order nothing.",
            "as soon as `fast` has ended": "That would be one_failed or one_done.",
            "when `slow` has ended too": "That is all_done. Whoever wants a clean-up wants that one, not always.",
        },
        answer=lambda: _when("always"),
    ),
    "who_is_first": Question(
        "Rule all_success. One upstream is skipped early, another fails later. What is the task, and is the run "
        "called failed?",
        {
            "upstream_failed, run failed": "It would be, had the failure come first.",
            "skipped, run success": "The skip came first and decided. The failure came too late to be seen by anyone: "
            "skipped leaves do not fail a run.",
            "skipped, run failed": "The leaf is skipped, and leaves decide.",
        },
        answer=lambda: f"{order(1, 4).final_states['after']}, run {order(1, 4).run_state}",
    ),
    "clean_up_survives": Question(
        "Six Dags end in a task cleanup with rule all_done. Above it: a plain failure; a branch that does not follow "
        "it; a hard short circuit; a failed setup; a failed producer of the list it is mapped over; a skipped one. "
        "In how many does cleanup run?",
        {
            "6": "all_done asks how the **upstreams** ended. Five of these are decided elsewhere.",
            "5": "It survives even less: a branch, a short circuit, a setup and a producer all overrule it.",
            "1": "Only the plain failure. The others do not ask the rule: a branch writes skipped, a setup and a "
            "producer come before any rule.",
            "0": "It does survive a plain failure; that is what it is for.",
        },
        answer=lambda: sum(simulate(scene).final_states["cleanup"] == "success" for scene in six().values()),
    ),
    "nothing_made": Question(
        "Now make itself fails. What becomes of drop?",
        {
            "success": "There is nothing to give back, and it would fail looking for it.",
            "upstream_failed": "No setup of it succeeded, so the teardown cannot mean anything.",
            "skipped": "That is for a setup that was skipped.",
        },
        answer=lambda: simulate(lent(), outcomes={"make": ["fail"]}).final_states["drop"],
    ),
}

LADDER = (
    ("L1", "What does a trigger rule look at?",
     "The states of the direct upstream task instances, as counts. Not who, not why, not anything further up."),
    ("L2", "Which rule do you give a join after a branch?",
     "none_failed_min_one_success. all_success would be {join_default}; with none_failed it also runs when nothing "
     "was followed ({none_failed_empty})."),
    ("L3", "Which rules wait for all upstreams, and which do not?",
     "{early} of {rules} can decide early: the one_ rules run early, most others close early with a state. "
     "all_done and the teardown's rule never do. always decides before anything has happened."),
    ("L4", "upstream_failed or skipped: how does it matter?",
     "A failed-like leaf fails the run, a skipped leaf does not. And {skip_names} never say "
     "upstream_failed: when they cannot hold they say skipped."),
    ("L5", "What is all_done for, and what does it not survive?",
     "Clean-up after a failure. It does not survive an unfollowed branch, a hard short circuit, a failed setup "
     "above it, or a failed or skipped producer of the list it is mapped over: of {tried} tried here, {kept} ran."),
    ("L6", "Setup and teardown instead of all_done: what do you gain?",
     "drop ran although work failed ({drop}), and the run is still a {drop_run}. Without a setup that succeeded it "
     "does not run ({drop_no_setup}). And its own failure is ignored unless on_failure_fail_dagrun is set: {quiet} "
     "against {loud}."),
    ("L7", "Can the same outcomes give two verdicts?",
     "Yes. all_success, one skipped, one failed: skip first gives {skip_first} and a run {skip_first_run}, failure "
     "first gives {fail_first} and a run {fail_first_run}. Early rules are races."),
)

LESSON = Lesson(
    4, "Trigger rules", facts, GIST, MAP, TEST, ASKS, LADDER,
    misconceptions=(
        ("all_done means: it runs whatever happens.", "It asks its direct upstreams. A branch, a short circuit, a "
         "setup or a producer above can still close it."),
        ("one_done counts everything that is done.", "Only success and failed. Skipped and upstream_failed do not "
         "count."),
        ("always is the safe choice for clean-up.", "It starts at tick {starts}, before there is anything to clean "
         "up."),
        ("A rule that cannot hold gives upstream_failed.", "{skips} rules say skipped instead, and that can turn a "
         "failed run green."),
    ),
    traps=(
        ("“Use one_success for the join, one branch is enough.”", "It does not wait for the others and does not mind "
         "their failure. Ask what should happen if two ways are followed and one fails."),
        ("“The run is green, so the clean-up pattern works.”", "With all_done at the end a failed task still gives "
         "{unwatched}. With a watcher it is {watched}, and on a good day the watcher is {calm}."),
    ),
    checklist=(
        "say for each rule when it runs and what it says when it cannot",
        "name the rule for a join after a branch, and why not the neighbours",
        "list what all_done does not survive",
        "say when a teardown runs and whether its failure counts",
        "explain how one order of events makes a run green and another red",
    ),
    try_this="Take a Dag of yours that ends in a clean-up or a report. Write its rule down, and then three bad days: "
    "a failure, a skip, nothing to do. What does it do on each? Build it here and compare.",
)
