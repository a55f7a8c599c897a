//! The command line: what can be asked for, and the help that teaches it.
//!
//! What is malformed as a command is a usage error (exit code 2, from clap). Values that are requests, such as a
//! step or a budget, stay text here: `quantity` judges them, and a refused request is exit code 1.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::error::ErrorKind;
use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};

use crate::quantity::split_names;

/// What the user asked for.
#[derive(Debug, Clone, PartialEq)]
pub enum Command {
    Build(BuildArgs),
    Inspect(InspectArgs),
    Bench(BenchArgs),
    Example(ExampleArgs),
    Worker(WorkerArgs),
}

/// The command line of this process; a usage error, `--help` and `--version` end it here.
pub fn parse() -> Command {
    parse_from(std::env::args_os()).unwrap_or_else(|error| error.exit())
}

/// As [`parse`], from any words; the first is the program's name.
pub fn parse_from<I, T>(words: I) -> Result<Command, clap::Error>
where
    I: IntoIterator<Item = T>,
    T: Into<OsString> + Clone,
{
    let Cli { command, files, mut build } = Cli::try_parse_from(words)?;
    if let Some(command) = command {
        return Ok(match command {
            Sub::Inspect(args) => Command::Inspect(args),
            Sub::Bench(args) => Command::Bench(args),
            Sub::Example(args) => Command::Example(args),
            Sub::Worker(args) => Command::Worker(args),
        });
    }
    let Some(Files { input, output }) = files else {
        return Err(
            Cli::command().error(ErrorKind::MissingRequiredArgument, "IN.fmu and OUT.fmu are missing")
        );
    };
    (build.input, build.output) = (input, output);
    // `fmu-build --quiet bench x.fmu` would otherwise read a file named bench and write x.fmu.
    if let Some(name) = Cli::command()
        .get_subcommands()
        .map(|sub| sub.get_name().to_string())
        .find(|name| build.input.as_os_str() == name.as_str() || build.output.as_os_str() == name.as_str())
    {
        return Err(Cli::command().error(
            ErrorKind::InvalidSubcommand,
            format!(
                "`{name}` is a command and must come first: fmu-build {name} ...; \
                 for a file of that name, write ./{name}"
            ),
        ));
    }
    build.fast = build.fast.iter().flat_map(|names| split_names(names)).collect();
    build.slow = build.slow.iter().flat_map(|names| split_names(names)).collect();
    Ok(Command::Build(build))
}

/// Build a real-time Co-Simulation FMU.
#[derive(Debug, Clone, PartialEq, Args)]
pub struct BuildArgs {
    /// The Model-Exchange FMU to read.
    #[arg(skip)]
    pub input: PathBuf,
    /// The Co-Simulation FMU to write.
    #[arg(skip)]
    pub output: PathBuf,

    /// Communication step: 1e-3, 1ms, 100us [default: the FMU's own, or chosen]
    #[arg(long, value_name = "SECONDS", allow_hyphen_values = true, help_heading = "The step")]
    pub step: Option<String>,
    /// Internal steps in each communication step [default: 1]
    #[arg(long, value_name = "N", allow_hyphen_values = true, help_heading = "The step")]
    pub substeps: Option<String>,
    /// Most that one step may cost: a time (100us) or evaluations of the model (3f)
    #[arg(long, value_name = "COST", allow_hyphen_values = true, help_heading = "The step")]
    pub budget: Option<String>,
    /// Error against an accurate solution that is accepted, relative [default: 0.01]
    #[arg(long, value_name = "ERROR", allow_hyphen_values = true, help_heading = "The step")]
    pub tolerance: Option<String>,

    /// Implicit states: auto (the cheapest choice that is accurate), mixed, implicit (all), explicit (none)
    #[arg(
        long,
        value_name = "WHICH",
        value_enum,
        default_value_t,
        hide_default_value = true,
        hide_possible_values = true,
        help_heading = "The method"
    )]
    pub mode: Mode,
    /// States that must be implicit: a,b
    #[arg(long, value_name = "NAMES", help_heading = "The method")]
    pub fast: Vec<String>,
    /// States that must be explicit: c,d
    #[arg(long, value_name = "NAMES", help_heading = "The method")]
    pub slow: Vec<String>,
    /// When the Jacobian is renewed: auto, every (step), rolling (some of it each step), frozen (at events)
    #[arg(
        long,
        value_name = "WHEN",
        value_enum,
        default_value_t,
        hide_default_value = true,
        hide_possible_values = true,
        help_heading = "The method"
    )]
    pub jacobian: JacobianPolicy,
    /// Integration method: lie, the linearly implicit Euler step
    #[arg(
        long,
        value_name = "NAME",
        value_enum,
        default_value_t,
        hide_default_value = true,
        hide_possible_values = true,
        help_heading = "The method"
    )]
    pub method: Method,

    #[command(flatten)]
    pub run: RunArgs,

    /// Write what was decided, and why, as a page
    #[arg(long, value_name = "FILE.html", help_heading = "The result")]
    pub report: Option<PathBuf>,
    /// Print the summary as JSON
    #[arg(long, help_heading = "The result")]
    pub json: bool,
    /// Print nothing but errors
    #[arg(long, short, help_heading = "The result")]
    pub quiet: bool,
    /// Refuse if no plan is within the tolerance
    #[arg(long, help_heading = "The result")]
    pub strict: bool,
    /// Keep pinned or explicit rows even if they are unstable
    #[arg(long, help_heading = "The result")]
    pub force: bool,
}

/// How the FMU is run to be studied.
#[derive(Debug, Clone, Default, PartialEq, Args)]
pub struct RunArgs {
    /// Time to start at [default: the FMU's own]
    #[arg(
        long,
        value_name = "SECONDS",
        allow_hyphen_values = true,
        help_heading = "The run that is studied"
    )]
    pub start: Option<String>,
    /// Time to stop at [default: the FMU's own]
    #[arg(
        long,
        value_name = "SECONDS",
        allow_hyphen_values = true,
        help_heading = "The run that is studied"
    )]
    pub stop: Option<String>,
    /// Input signals: a header `time,u1,u2`, then rows
    #[arg(long, value_name = "FILE.csv", help_heading = "The run that is studied")]
    pub inputs: Option<PathBuf>,
    /// Start value of a parameter, input or state; may be repeated
    #[arg(
        long,
        value_name = "NAME=VALUE",
        allow_hyphen_values = true,
        help_heading = "The run that is studied"
    )]
    pub set: Vec<String>,
    /// Longest time the FMU's own code may run [default: 60s]
    #[arg(
        long,
        value_name = "DURATION",
        allow_hyphen_values = true,
        help_heading = "The run that is studied"
    )]
    pub time_limit: Option<String>,
}

/// Show what an FMU is made of, and what would be decided.
#[derive(Debug, Clone, PartialEq, Args)]
pub struct InspectArgs {
    /// The FMU to look at
    #[arg(value_name = "IN.fmu")]
    pub input: PathBuf,
    /// Print as JSON
    #[arg(long)]
    pub json: bool,
    /// Draw the structure of the Jacobian
    #[arg(long, value_name = "FILE.svg")]
    pub svg: Option<PathBuf>,
    /// Print nothing but the answer and errors
    #[arg(long, short)]
    pub quiet: bool,
    #[command(flatten)]
    pub run: RunArgs,
}

/// Measure the step time of a built FMU on this machine.
#[derive(Debug, Clone, PartialEq, Args)]
pub struct BenchArgs {
    /// The Co-Simulation FMU to run
    #[arg(value_name = "OUT.fmu")]
    pub fmu: PathBuf,
    /// Steps to take [default: as many as fit in a few seconds]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub steps: Option<String>,
    /// Fail if a step takes longer [default: the communication step]
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true)]
    pub deadline: Option<String>,
    /// Take the steps in real time, as a test bench does
    #[arg(long)]
    pub pace: bool,
    /// Run at real-time priority (SCHED_FIFO), where the system allows it
    #[arg(long)]
    pub realtime: bool,
    /// Input signals: a header `time,u1,u2`, then rows
    #[arg(long, value_name = "FILE.csv")]
    pub inputs: Option<PathBuf>,
    /// Write a page with the figures and a histogram
    #[arg(long, value_name = "FILE.html")]
    pub report: Option<PathBuf>,
    /// Print as JSON
    #[arg(long)]
    pub json: bool,
    /// Print nothing but the answer and errors
    #[arg(long, short)]
    pub quiet: bool,
    /// Longest time the FMU's own code may run [default: 60s]
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true)]
    pub time_limit: Option<String>,
}

/// Write an example Model-Exchange FMU to try things with; without a name, list them.
#[derive(Debug, Clone, PartialEq, Args)]
pub struct ExampleArgs {
    /// Which one
    #[arg(value_name = "NAME")]
    pub name: Option<String>,
    /// Where to write it [default: NAME.fmu]
    #[arg(value_name = "OUT.fmu")]
    pub output: Option<PathBuf>,
}

/// The child process in which an FMU's code runs.
#[derive(Debug, Clone, PartialEq, Args)]
pub struct WorkerArgs {
    /// The file that holds the request
    #[arg(value_name = "REQUEST")]
    pub request: PathBuf,
}

// The values carry no doc comments: clap would show each on its own lines, and one page of help would be three.

/// Which states are implicit: what is cheapest within the tolerance, the fast ones, all, none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Mode {
    #[default]
    Auto,
    Mixed,
    Implicit,
    Explicit,
}

/// When the Jacobian is new: what is cheapest within the tolerance, at every step, a part at every step in
/// turn, only at the start, at events and at parameter changes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum JacobianPolicy {
    #[default]
    Auto,
    Every,
    Rolling,
    Frozen,
}

/// Linearly implicit Euler, so far the only one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Method {
    #[default]
    Lie,
}

#[derive(Debug, Parser)]
#[command(
    name = "fmu-build",
    bin_name = "fmu-build",
    version,
    about = ABOUT,
    long_about = None,
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    arg_required_else_help = true,
    override_usage = "fmu-build [OPTIONS] IN.fmu OUT.fmu\n       fmu-build inspect|bench|example ...",
    after_help = EXAMPLES
)]
struct Cli {
    #[command(subcommand)]
    command: Option<Sub>,
    #[command(flatten)]
    files: Option<Files>,
    #[command(flatten)]
    build: BuildArgs,
}

/// Apart from [`BuildArgs`], since the commands do without them.
#[derive(Debug, Args)]
struct Files {
    /// The Model-Exchange FMU to read
    #[arg(value_name = "IN.fmu")]
    input: PathBuf,
    /// The Co-Simulation FMU to write
    #[arg(value_name = "OUT.fmu")]
    output: PathBuf,
}

const ABOUT: &str = "\
Turn a Model-Exchange FMU (FMI 2.0) into a real-time Co-Simulation FMU.

The new FMU steps without iteration, without allocation and at a constant cost:
a linearly implicit Euler step, implicit only where the model is stiff.";

const EXAMPLES: &str = "\
Examples:
  fmu-build example dc-drive drive.fmu                # a model to try it with
  fmu-build --step 1ms drive.fmu realtime.fmu         # build for a 1 ms test bench
  fmu-build --step 1ms --budget 100us --inputs drive.csv --report why.html in.fmu out.fmu
  fmu-build bench realtime.fmu --deadline 1ms         # what does a step cost here?";

#[derive(Debug, Subcommand)]
enum Sub {
    Inspect(InspectArgs),
    Bench(BenchArgs),
    Example(ExampleArgs),
    #[command(hide = true)]
    Worker(WorkerArgs),
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn command(line: &str) -> Command {
        parse_from(words(line)).unwrap_or_else(|e| panic!("{line}: {e}"))
    }

    fn usage_error(line: &str) -> String {
        let error = parse_from(words(line)).expect_err(line);
        assert_eq!(error.exit_code(), 2, "{line}");
        error.to_string()
    }

    fn words(line: &str) -> Vec<&str> {
        std::iter::once("fmu-build").chain(line.split_whitespace()).collect()
    }

    fn build(line: &str) -> BuildArgs {
        match command(line) {
            Command::Build(args) => args,
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn the_definition_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn two_files_are_enough() {
        let args = build("in.fmu out.fmu");
        assert_eq!((args.input, args.output), ("in.fmu".into(), "out.fmu".into()));
        assert_eq!((args.mode, args.jacobian, args.method), (Mode::Auto, JacobianPolicy::Auto, Method::Lie));
        assert_eq!((args.step, args.run), (None, RunArgs::default()));
    }

    #[test]
    fn every_build_option_is_read() {
        let args = build(
            "--step 1ms --substeps 4 --mode mixed --fast a,b[1,2] --fast c --slow d --jacobian rolling \
             --method lie --start -1 --stop 10 --inputs u.csv --set k=-5 --set m=2 --tolerance 0.02 \
             --budget 3f --report r.html --json --quiet --strict --force --time-limit 5min in.fmu out.fmu",
        );
        let some = |text: &str| Some(text.to_string());
        assert_eq!((args.step, args.substeps), (some("1ms"), some("4")));
        assert_eq!((args.mode, args.jacobian), (Mode::Mixed, JacobianPolicy::Rolling));
        assert_eq!((args.fast, args.slow), (vec!["a".into(), "b[1,2]".into(), "c".into()], vec!["d".into()]));
        assert_eq!((args.run.start, args.run.stop), (some("-1"), some("10")));
        assert_eq!(args.run.inputs, Some("u.csv".into()));
        assert_eq!(args.run.set, ["k=-5", "m=2"]);
        assert_eq!((args.tolerance, args.budget), (some("0.02"), some("3f")));
        assert_eq!(args.report, Some("r.html".into()));
        assert!(args.json && args.quiet && args.strict && args.force);
        assert_eq!(args.run.time_limit, some("5min"));
    }

    /// Refused later, with exit code 1 and a better message than clap's.
    #[test]
    fn impossible_values_reach_the_caller() {
        for step in ["0", "-1", "-1ms", "nan", "-inf", "abc"] {
            assert_eq!(build(&format!("--step {step} in.fmu out.fmu")).step.as_deref(), Some(step));
        }
        assert_eq!(build("in.fmu out.fmu --substeps -2").substeps.as_deref(), Some("-2"));
        assert_eq!(build("in.fmu out.fmu --budget -3f").budget.as_deref(), Some("-3f"));
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
        let Command::Inspect(args) =
            command("inspect in.fmu --json --svg a.svg --set k=1 --start -2 --stop 3")
        else {
            panic!()
        };
        assert_eq!((args.input, args.json, args.svg), ("in.fmu".into(), true, Some("a.svg".into())));
        assert_eq!((args.run.set, args.run.start), (vec!["k=1".to_string()], Some("-2".into())));
        let Command::Bench(args) =
            command("bench out.fmu --steps 100 --deadline 1ms --json --inputs u.csv --pace")
        else {
            panic!()
        };
        assert_eq!((args.steps.as_deref(), args.deadline.as_deref()), (Some("100"), Some("1ms")));
        assert!(args.json && args.pace);
        assert_eq!(command("example"), Command::Example(ExampleArgs { name: None, output: None }));
        let named = ExampleArgs { name: Some("ball".into()), output: Some("b.fmu".into()) };
        assert_eq!(command("example ball b.fmu"), Command::Example(named));
        assert_eq!(command("worker r.json"), Command::Worker(WorkerArgs { request: "r.json".into() }));
    }

    #[test]
    fn a_file_may_be_named_like_a_command() {
        assert_eq!(build("./inspect ./bench").input, PathBuf::from("./inspect"));
        let misplaced = usage_error("--quiet bench x.fmu");
        assert!(misplaced.contains("must come first") && misplaced.contains("./bench"), "{misplaced}");
        usage_error("in.fmu bench");
    }

    #[test]
    fn help_teaches_with_examples_and_hides_the_worker() {
        let help = parse_from(["fmu-build", "--help"]).unwrap_err();
        assert_eq!(help.exit_code(), 0);
        let help = help.to_string();
        assert!(help.contains("Examples:") && help.contains("--step <SECONDS>"), "{help}");
        let widest = help.lines().map(|line| line.chars().count()).max();
        assert!(help.lines().count() < 60 && widest <= Some(125), "help must fit a page: {help}");
        assert!(!help.contains("worker") && !help.contains("WorkerArgs"));
        let version = parse_from(["fmu-build", "-V"]).unwrap_err().to_string();
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
}
