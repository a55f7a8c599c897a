//! What the model's calls cost, and what follows from it: evaluations are timed as the runtime makes them, budgets hold exactly, invented runs that make no sense choose nothing.
//!
//! Prices are compared with each other, or given: the machine is busy.

use crate::util::{build, example, fmu_build, summary};
use serde_json::Value;
use tempfile::TempDir;

fn number(summary: &Value, key: &str) -> f64 {
    summary[key].as_f64().unwrap_or_else(|| panic!("{key} in {summary}"))
}

fn warnings(summary: &Value) -> Vec<String> {
    summary["warnings"].as_array().unwrap().iter().map(|it| it.as_str().unwrap().to_string()).collect()
}

/// What was said with this exit code.
fn refused(code: i32, model: &str, options: &str) -> String {
    let folder = TempDir::new().unwrap();
    let input = example(model, folder.path());
    let output = folder.path().join("out.fmu");
    let files = [input.to_str().unwrap().to_string(), output.to_str().unwrap().to_string()];
    let run = fmu_build(files.into_iter().chain(options.split_whitespace().map(String::from)));
    assert_eq!(run.status.code(), Some(code), "{model} {options}");
    assert!(!output.exists());
    String::from_utf8(run.stderr).unwrap()
}

/// The vehicle remembers its last evaluation: asked again for the same it answers at once. With 4 µs of work its evaluation takes many times that of the same vehicle without; the minimum over remembered
/// calls was the same for both.
#[test]
fn a_model_that_remembers_is_timed_with_its_work() {
    let of = |work: &str| {
        number(&summary(&format!("vehicle:8:{work}"), "--explore none --stop 0.2"), "evaluation_time_ns")
    };
    let (idle, busy) = (of("0ns"), of("4us"));
    assert!(busy > 8.0 * idle, "{busy} ns with work, {idle} ns without");
}

/// What the build tells of an evaluation is what `bench` measures of the same FMU: within a factor of three. It was off by 300.
#[test]
fn bench_sees_the_same_evaluation() {
    let exported = build("vehicle:8:4us", "--explore none --stop 0.2");
    let told = number(&summary("vehicle:8:4us", "--explore none --stop 0.2"), "evaluation_time_ns");
    let run = fmu_build(["bench", exported.file.to_str().unwrap(), "--json", "--steps", "500"]);
    let measured: Value = serde_json::from_slice(&run.stdout).unwrap();
    let ratio = told / number(&measured, "evaluation_time_ns");
    assert!((1.0 / 3.0..3.0).contains(&ratio), "told {told} ns, {ratio} times what bench measures");
}

/// These do ten times the work where their bodies move. One rests for the first half of its run, the other for all of the given run and moves only on invented ones. The longest counts, and it is told.
#[test]
fn an_evaluation_that_takes_longer_elsewhere_is_told_and_counts() {
    for model in ["iterating:8:1us", "resting:8:1us"] {
        let found = summary(model, "--explore 2 --stop 1.5");
        let said = warnings(&found).join("; ");
        assert!(said.contains("the longest counts"), "{model}: {said}");
        let bound = number(&found, "evaluations_worst_step") * number(&found, "substeps");
        let (worst, longest) =
            (number(&found, "evaluation_time_worst_ns"), number(&found, "longest_step_ns"));
        assert!(longest >= bound * worst, "{model}: {longest} for {bound} of {worst}");
        let resting = number(&summary("vehicle:8:1us", "--explore none --stop 0.2"), "evaluation_time_ns");
        assert!(worst > 4.0 * resting, "{model}: {worst} ns, the same work at rest takes {resting} ns");
    }
}

/// A budget in seconds is bound x time of an evaluation, to the last digit, not to a power of four: just above what the plan takes it is kept, just below another plan is.
#[test]
fn a_budget_is_held_exactly() {
    let options = |budget: f64| {
        format!("--twin off --evaluation-time 10us --method lie --jacobian watched --budget {budget}us")
    };
    let free = summary("van-der-pol", "--twin off --evaluation-time 10us --method lie --jacobian watched");
    let longest = 1e-3 * number(&free, "longest_step_ns");
    assert!(longest >= 10.0 * number(&free, "evaluations_worst_step"), "{longest}");
    let kept = summary("van-der-pol", &options(longest + 0.001));
    assert_eq!(kept["jacobian"], "watched");
    let less = summary("van-der-pol", &options(longest - 0.001));
    assert!(1e-3 * number(&less, "longest_step_ns") < longest - 0.001, "{less}");
    assert!(less["partition"] != kept["partition"], "{less}");
    let said = refused(1, "van-der-pol", "--method lie --mode implicit --jacobian watched --budget 2f");
    assert!(
        said.contains("no stable plan fits the budget") && said.contains("allow that with --budget"),
        "{said}"
    );
    assert!(!said.contains("shorter --step"), "{said}");
}

/// The default budget is a soft border. The arm's watched plan takes 32 evaluations at most: with 4 µs each that is 13 % of a step. It stays, with a third of the cost of what keeps 10 %. Far beyond the border others win.
#[test]
fn a_tenth_of_the_step_is_a_soft_border() {
    let cheap = summary("arm", "--evaluation-time 2.6us");
    let beyond = summary("arm", "--evaluation-time 4us");
    assert!(number(&cheap, "longest_step_share") < 0.1 && number(&beyond, "longest_step_share") > 0.11);
    for key in ["method", "jacobian", "evaluations_per_step", "error"] {
        assert_eq!(cheap[key], beyond[key], "{key}");
    }
    assert!(number(&beyond, "evaluations_per_step") < 4.0, "{beyond}");
    assert!(warnings(&beyond)[0].contains("% of the communication step"), "{:?}", warnings(&beyond));
}

/// What cannot be in time is the first warning, with the figures; `--strict` refuses it. It does not go into the FMU: a measured time differs from build to build.
#[test]
fn what_is_not_in_time_is_said_first() {
    let options = "--evaluation-time 200us --method ros34pw2 --jacobian every --explore none";
    let found = summary("arm", options);
    let (first, share) = (&warnings(&found)[0], number(&found, "longest_step_share"));
    assert!(share > 1.0, "{found}");
    assert!(first.starts_with("longest step ") && first.contains("not a real-time FMU at 1 ms"), "{first}");
    assert!(first.contains(&format!("{:.0} % of the step", 100.0 * share)), "{first}");
    assert!(refused(1, "arm", &format!("{options} --strict")).contains("not a real-time FMU at 1 ms"));
    let certificate =
        std::fs::read_to_string(build("arm", options).root.join("resources/certificate.json")).unwrap();
    for word in ["real-time FMU", "longest_step_ns", "evaluation_time"] {
        assert!(!certificate.contains(word), "{word}");
    }
}

/// Every step takes an evaluation: what leaves no room for one is refused with the figures and with what would do.
#[test]
fn what_leaves_no_room_for_an_evaluation_is_refused() {
    for (options, parts) in [
        (
            "--evaluation-time 2ms --step 1ms",
            ["2 ms, longer than the communication step of 1 ms", "--step of 4 ms"],
        ),
        ("--evaluation-time 5us --budget 1us", ["the budget of 1 µs", "--budget 10us"]),
        (
            "--evaluation-time 5us --budget 0.1% --step 1ms",
            ["the budget of 1 µs (0.1 % of the step)", "--step of 10 ms"],
        ),
        ("--budget 0.5f", ["the budget of 0.5 evaluations", "takes 1 at least"]),
    ] {
        let said = refused(1, "dc-drive", options);
        assert!(parts.iter().all(|part| said.contains(part)), "{options}: {said}");
    }
    // No budget at all: a usage error.
    let said = refused(2, "dc-drive", "--budget 0");
    assert!(said.contains("is not a budget") && said.contains("positive"), "{said}");
    // A step that nobody asked for refuses nothing: every other tool runs such an FMU.
    let found = summary("dc-drive", "--evaluation-time 2ms");
    assert!(warnings(&found)[0].contains("not a real-time FMU at 1 ms"), "{:?}", warnings(&found));
}

/// Nobody says what the pump delivers. With 1 m³/s, the guess, its pressures are 1e13 Pa, 1e8 times their nominal value: the guess is narrowed until they are not, that is printed, and neither
/// the sizes that the watch divides by nor the number of internal steps follow from it.
#[test]
fn an_input_without_a_range_follows_what_the_model_answers() {
    let found = summary("pump", "--twin off");
    let ranges = found["ranges"].to_string();
    assert!(ranges.contains("q = -0.0001 … 0.0001 m3/s") && ranges.contains("narrowed to 1e-4"), "{ranges}");
    let plan = std::fs::read_to_string(build("pump", "--twin off").root.join("resources/plan.json")).unwrap();
    let plan: Value = serde_json::from_str(&plan).unwrap();
    for size in plan["states"]["sizes"].as_array().unwrap() {
        assert!((1e4..=2e6).contains(&size.as_f64().unwrap()), "{size}");
    }
    assert!(number(&found, "substeps") * number(&found, "evaluations_per_step") <= 3.0, "{found}");
    let given = summary("pump", "--range q=0:2e-4");
    assert!(given["ranges"].to_string().contains("--range"), "{}", given["ranges"]);
}

/// With its parameter doubled the model grows by a half in each step, and every plan is off by far more than 100 %: that run is told of and chooses nothing, not eight internal steps either.
#[test]
fn a_run_on_which_every_plan_is_off_chooses_nothing() {
    let found = summary("runaway", "--twin off");
    let runs = found["explored"]["runs"].as_array().unwrap();
    assert!(runs.iter().any(|run| run["counts"] == false), "{runs:?}");
    assert!(runs.iter().any(|run| run["counts"] == true), "{runs:?}");
    assert!(number(&found["explored"], "error") <= 0.01, "{}", found["explored"]);
    assert_eq!(number(&found, "substeps"), 1.0);
    assert!(number(&found, "evaluations_per_step") <= 3.0, "{found}");
    assert!(warnings(&found).iter().any(|it| it.contains("chose nothing")), "{:?}", warnings(&found));
}

/// The default plan takes at most a quarter more evaluations than the cheapest method that keeps two thirds of the tolerance on all runs, with a watched Jacobian and one internal step: for models with as many states and indicators as
/// those that took five to ten times what suffices.
#[test]
fn the_default_plan_is_the_cheapest_that_holds_with_margin() {
    for model in [
        "friction-row:18:25:230ns",
        "friction-row:8:54",
        "friction-row:36:98:2us",
        "robot",
        "dc-drive",
        "drive-line",
    ] {
        let cost = |found: &Value| number(found, "evaluations_per_step") * number(found, "substeps");
        let error = |found: &Value| {
            let explored = found["explored"]["error"].as_f64().unwrap_or(0.0);
            number(found, "error").max(explored)
        };
        let auto = summary(model, "--twin off");
        assert!(error(&auto) <= 0.01, "{model}: {}", error(&auto));
        let mut cheapest = f64::INFINITY;
        for method in ["lie", "lie2", "ros2", "ros34pw2"] {
            let one = summary(model, &format!("--method {method} --substeps 1 --twin off"));
            if error(&one) <= 0.00667 {
                cheapest = cheapest.min(cost(&one));
            }
        }
        assert!(cost(&auto) <= 1.25 * cheapest, "{model}: {} where {cheapest} suffice", cost(&auto));
    }
}

/// Indicators whose reading takes eight evaluations are timed, and they are in the longest step.
#[test]
fn indicators_that_cost_more_than_an_evaluation_count() {
    let of = |factor: usize| summary(&format!("friction-row:8:12:2us:{factor}"), "--explore none --stop 0.2");
    let (cheap, dear) = (of(0), of(8));
    let ratio = |found: &Value| number(found, "indicator_time_ns") / number(found, "evaluation_time_ns");
    assert!(ratio(&cheap) < 0.5 && (4.0..16.0).contains(&ratio(&dear)), "{} {}", ratio(&cheap), ratio(&dear));
    let alone = number(&dear, "evaluations_worst_step") * number(&dear, "evaluation_time_ns");
    assert!(number(&dear, "longest_step_ns") >= alone + number(&dear, "indicator_time_ns"), "{dear}");
}

/// Whatever the models do on their runs, events included: no step exceeds the bound that is printed. The builder would say so.
#[test]
fn no_step_of_a_verified_run_exceeds_its_bound() {
    for model in
        ["bouncing-ball", "stick-slip", "sampled-controller", "thermostat", "van-der-pol", "clutches"]
    {
        let found = summary(model, "--explore 2");
        let kinds: Vec<&str> =
            found["warning_kinds"].as_array().unwrap().iter().filter_map(|it| it["kind"].as_str()).collect();
        assert!(!kinds.contains(&"bound_exceeded"), "{model}: {}", found["warnings"]);
        let seen = number(&found, "evaluations_worst_communication_step");
        let bound = number(&found["worst_step"], "evaluations");
        assert!(seen <= bound, "{model}: {seen} evaluations where {bound} are the most");
    }
}

/// Of the same trials, speed costs no more than the balance, and accuracy errs no more. Every plan but the chosen one says why it lost.
#[test]
fn a_preference_is_followed_and_every_plan_says_why_it_lost() {
    let of =
        |prefer: &str| summary("pump", &format!("--twin off --explore 2 --substeps 1 --prefer {prefer}"));
    let [speed, balanced, accuracy] = ["speed", "balanced", "accuracy"].map(of);
    let cost = |of: &Value| number(of, "evaluations_per_step");
    let error = |of: &Value| number(of, "error").max(number(&of["explored"], "error"));
    assert!(cost(&speed) <= cost(&balanced), "{} and {}", cost(&speed), cost(&balanced));
    assert!(error(&accuracy) <= error(&balanced), "{} and {}", error(&accuracy), error(&balanced));
    for found in [&speed, &balanced, &accuracy] {
        let trials = found["trials"].as_array().unwrap();
        assert_eq!(trials.iter().filter(|trial| trial["chosen"] == true).count(), 1, "{found}");
        for trial in trials {
            assert_eq!(trial["lost"].is_string(), trial["chosen"] == false, "{trial}");
        }
    }
}
