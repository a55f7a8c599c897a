//! Command lines and what they mean.

#![allow(clippy::unwrap_used)]

use super::args::EXAMPLES;
use super::*;
use crate::options::{Budget, JacobianPolicy, Limits, NamedRange, Partitioning, Run, WatchMode};
use fmu_runtime::plan::Method;

const NONE: Libraries = Libraries { runtimes: &[], references: &[] };

fn understood(line: &str) -> Result<Command, Error> {
    parse_words(words(line)).unwrap_or_else(|e| panic!("{line}: {e}")).0.understood(NONE)
}

fn command(line: &str) -> Command {
    understood(line).unwrap_or_else(|e| panic!("{line}: {e}"))
}

fn usage_error(line: &str) -> String {
    let error = parse_words(words(line)).expect_err(line);
    assert_eq!(error.exit_code(), 2, "{line}");
    error.to_string()
}

fn words(line: &str) -> Vec<&str> {
    std::iter::once("fmu-build").chain(line.split_whitespace()).collect()
}

fn build(line: &str) -> (Options, Print) {
    match command(line) {
        Command::Build(options, print) => (*options, print),
        other => panic!("{line}: {other:?}"),
    }
}

#[test]
fn the_definition_is_consistent() {
    Cli::command().debug_assert();
}

#[test]
fn two_files_are_enough() {
    let (options, print) = build("in.fmu out.fmu");
    assert_eq!(print, Print::Text);
    assert_eq!(options, Options { progress: true, ..Options::new("in.fmu", "out.fmu", NONE) });
}

#[test]
fn every_build_option_is_read() {
    let (options, print) = build(
        "--step 1ms --substeps 4 --mode mixed --fast a,b[1,2] --fast c --slow d --jacobian rolling \
         --method lie --start -1 --stop 10 --inputs u.csv --inputs v.csv --set k=-5 --set m=2 \
         --tolerance 0.02 --budget 3f --evaluation-time 2us --rho 0.1 --watch report --explore 7 \
         --range u=-1:1 --jobs 3 --memory-limit 1GB --no-sandbox --report r.html --json --quiet --strict --force \
         --time-limit 5min in.fmu out.fmu",
    );
    let text = |a: &str, b: &str| (a.to_string(), b.to_string());
    let expected = Options {
        step: Some(1e-3),
        substeps: Some(4),
        budget: Some(Budget::Evaluations(3.0)),
        evaluation_time: Some(2e-6),
        tolerance: 0.02,
        method: Some(Method::Lie),
        mode: Partitioning::Mixed,
        fast: vec!["a".into(), "b[1,2]".into(), "c".into()],
        slow: vec!["d".into()],
        jacobian: JacobianPolicy::Rolling,
        rho: Some(0.1),
        watch: WatchMode::Report,
        run: Run {
            start: Some(-1.0),
            stop: Some(10.0),
            inputs: vec!["u.csv".into(), "v.csv".into()],
            set: vec![text("k", "-5"), text("m", "2")],
            explore: Some(7),
            ranges: vec![NamedRange { name: "u".into(), low: -1.0, high: 1.0 }],
        },
        limits: Limits {
            time: 300.0,
            total: 300.0,
            memory: Some(1_000_000_000),
            sandbox: false,
            jobs: Some(3),
        },
        report: Some("r.html".into()),
        strict: true,
        force: true,
        ..Options::new("in.fmu", "out.fmu", NONE)
    };
    assert_eq!((options, print), (expected, Print::Json));
    assert_eq!(build("in.fmu out.fmu --explore none").0.run.explore, Some(0));
    assert_eq!(build("in.fmu out.fmu --method auto").0.method, None);
    // Every method of the runtime can be asked for by its name.
    for method in Method::ALL {
        let line = format!("in.fmu out.fmu --method {}", method.name());
        assert_eq!(build(&line).0.method, Some(method));
    }
}

/// Refused with exit code 2 and a better message than clap's.
#[test]
fn impossible_values_are_requests_that_are_refused() {
    for step in ["0", "-1", "-1ms", "nan", "-inf", "abc"] {
        let refused = understood(&format!("--step {step} in.fmu out.fmu")).unwrap_err();
        assert!(refused.to_string().contains("is not a step"), "{step}: {refused}");
    }
    for line in [
        "--substeps -2",
        "--substeps 2e6",
        "--budget -3f",
        "--budget -3%",
        "--tolerance 0",
        "--rho -1",
        "--explore all",
        "--range u=2:1",
        "--jobs 0",
        "--memory-limit much",
        "--evaluation-time 0",
        "--set k",
        "--time-limit -1",
    ] {
        let refused = understood(&format!("{line} in.fmu out.fmu")).unwrap_err();
        assert!(matches!(refused, Error::Usage(_)), "{line}: {refused}");
    }
}

#[test]
fn usage_errors_say_what_is_missing() {
    let one = usage_error("in.fmu");
    assert!(one.contains("OUT.fmu") && !one.contains("<IN.fmu>"), "{one}");
    assert!(usage_error("--step 1ms").contains("IN.fmu"));
    assert!(usage_error("a.fmu b.fmu c.fmu").contains("c.fmu"));
    assert!(usage_error("--mode fast a.fmu b.fmu").contains("mixed"));
    assert!(usage_error("--stepp 1 a.fmu b.fmu").contains("'--step'"));
    assert!(usage_error("inspect").contains("IN.fmu"));
    assert!(usage_error("bench").contains("OUT.fmu"));
    usage_error("");
}

#[test]
fn commands_have_their_own_arguments() {
    let Command::Inspect(options, print) =
        command("inspect in.fmu --json --svg a.svg --set k=1 --start -2 --stop 3")
    else {
        panic!()
    };
    assert_eq!((options.input, print, options.svg), ("in.fmu".into(), Print::Json, Some("a.svg".into())));
    assert_eq!((options.run.set, options.run.start), (vec![("k".to_string(), "1".to_string())], Some(-2.0)));
    assert!(!options.progress);
    let Command::Bench(options, print) =
        command("bench out.fmu --steps 100 --deadline 1ms --json --inputs u.csv --pace")
    else {
        panic!()
    };
    assert_eq!((options.steps, options.deadline, options.pace), (Some(100), Some(1e-3), true));
    assert_eq!((print, options.inputs), (Print::Json, Some("u.csv".into())));
    assert_eq!(command("example"), Command::Example { name: None, output: None, inputs: None });
    let named = Command::Example { name: Some("ball".into()), output: Some("b.fmu".into()), inputs: None };
    assert_eq!(command("example ball b.fmu"), named);
    assert_eq!(command("worker r.json"), Command::Worker { request: "r.json".into() });
}

#[test]
fn a_file_may_be_named_like_a_command() {
    assert_eq!(build("./inspect ./bench").0.input, PathBuf::from("./inspect"));
    let misplaced = usage_error("--quiet bench x.fmu");
    assert!(misplaced.contains("must come first") && misplaced.contains("./bench"), "{misplaced}");
    usage_error("in.fmu bench");
}

#[test]
fn help_teaches_with_examples_and_hides_the_worker() {
    let help = parse_words(["fmu-build", "--help"]).unwrap_err();
    assert_eq!(help.exit_code(), 0);
    let help = help.to_string();
    assert!(help.contains("Examples:") && help.contains("--step <SECONDS>"), "{help}");
    let widest = help.lines().map(|line| line.chars().count()).max();
    assert!(help.lines().count() < 72 && widest <= Some(125), "help must fit a page: {help}");
    assert!(!help.contains("worker") && !help.contains("WorkerArgs"));
    let version = parse_words(["fmu-build", "-V"]).unwrap_err().to_string();
    assert_eq!(version.trim(), format!("fmu-build {}", env!("CARGO_PKG_VERSION")));
}

/// The examples in the help are commands that work.
#[test]
fn the_examples_are_valid() {
    for line in EXAMPLES.lines().skip(1) {
        let line = line.split('#').next().unwrap().trim().strip_prefix("fmu-build ").unwrap();
        command(line);
    }
}
