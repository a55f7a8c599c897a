//! The command line: what can be asked for, the help that teaches it, and the values that it means.
//!
//! What is malformed as a command is a usage error (exit code 2, from clap). Values that are requests, such as a step or a
//! budget, are judged by `quantity`, and a refused one is exit code 1. Nothing behind this file knows of clap.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::error::ErrorKind;
use clap::{Args, CommandFactory, Parser, Subcommand};

use crate::Libraries;
use crate::error::Error;
use crate::options::{
    BenchOptions, InspectOptions, JacobianPolicy, Limits, METHODS, Mode, Options, Run, TIME_LIMIT, TOLERANCE,
    Watch,
};
use crate::quantity::{self, split_names};
use fmu_runtime::plan::Method;

/// What the user asked for.
#[derive(Debug, Clone, PartialEq)]
pub enum Command {
    Build(Box<Options>, Print),
    Inspect(InspectOptions, Print),
    Bench(BenchOptions, Print),
    /// Write an example, or list them all.
    Example {
        name: Option<String>,
        output: Option<PathBuf>,
    },
    /// The child process in which an FMU's code runs.
    Worker {
        request: PathBuf,
    },
}

/// How the answer is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Print {
    Text,
    Json,
    Nothing,
}

/// The command line of this process; a usage error, `--help` and `--version` end it here. `libraries` go into what is
/// built.
pub fn parse(libraries: Libraries) -> Result<Command, Error> {
    let words = parse_words(std::env::args_os()).unwrap_or_else(|error| error.exit());
    words.understood(libraries)
}

/// The words of a command line, put in their places; the first is the program's name.
fn parse_words<I, T>(words: I) -> Result<Words, clap::Error>
where
    I: IntoIterator<Item = T>,
    T: Into<OsString> + Clone,
{
    let Cli { command, files, mut build } = Cli::try_parse_from(words)?;
    if let Some(command) = command {
        return Ok(Words::Sub(Box::new(command)));
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
    Ok(Words::Build(Box::new(build)))
}

/// A well-formed command line whose values are still text.
#[derive(Debug)]
enum Words {
    Build(Box<BuildArgs>),
    Sub(Box<Sub>),
}

impl Words {
    fn understood(self, libraries: Libraries) -> Result<Command, Error> {
        Ok(match self {
            Words::Build(args) => {
                let print = match (args.json, args.quiet) {
                    (true, _) => Print::Json,
                    (false, true) => Print::Nothing,
                    (false, false) => Print::Text,
                };
                Command::Build(Box::new(args.options(libraries)?), print)
            }
            Words::Sub(sub) => match *sub {
                Sub::Inspect(args) => {
                    let print = if args.json { Print::Json } else { Print::Text };
                    Command::Inspect(args.options()?, print)
                }
                Sub::Bench(args) => {
                    let print = if args.json { Print::Json } else { Print::Text };
                    Command::Bench(args.options()?, print)
                }
                Sub::Example(ExampleArgs { name, output }) => Command::Example { name, output },
                Sub::Worker(WorkerArgs { request }) => Command::Worker { request },
            },
        })
    }
}

/// A value that may be missing, as `read` understands it.
fn value<T>(text: &Option<String>, read: impl Fn(&str) -> Result<T, String>) -> Result<Option<T>, Error> {
    text.as_deref().map(read).transpose().map_err(Error::Request)
}

/// None: chosen. An alias, since clap gives an `Option<Option<_>>` a meaning of its own.
type MethodChoice = Option<Method>;

/// One of a few words.
fn one_of<T: Copy + Send + Sync + 'static>(
    names: &'static [(&'static str, T)],
) -> impl TypedValueParser<Value = T> {
    let words = PossibleValuesParser::new(names.iter().map(|(name, _)| *name));
    // The parser lets only these words through.
    words.map(|word| names.iter().find(|(name, _)| **name == word).map_or(names[0].1, |(_, value)| *value))
}

/// Build a real-time Co-Simulation FMU.
#[derive(Debug, Clone, Args)]
struct BuildArgs {
    #[arg(skip)]
    input: PathBuf,
    #[arg(skip)]
    output: PathBuf,

    /// Communication step: 1e-3, 1ms, 100us [default: the FMU's own, or chosen]
    #[arg(long, value_name = "SECONDS", allow_hyphen_values = true, help_heading = "The step")]
    step: Option<String>,
    /// Internal steps in each communication step [default: 1, or as many as the tolerance needs]
    #[arg(long, value_name = "N", allow_hyphen_values = true, help_heading = "The step")]
    substeps: Option<String>,
    /// Most that one step may cost: 100us, 3f (evaluations), 25% (of the step) [default: 10%]
    #[arg(long, value_name = "COST", allow_hyphen_values = true, help_heading = "The step")]
    budget: Option<String>,
    /// What one evaluation of the model takes on the target [default: measured here]
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true, help_heading = "The step")]
    evaluation_time: Option<String>,
    /// Error against an accurate solution that is accepted, relative [default: 0.01]
    #[arg(long, value_name = "ERROR", allow_hyphen_values = true, help_heading = "The step")]
    tolerance: Option<String>,

    /// Integration method: auto, lie (linearly implicit Euler), lie2, ros2 (order 2), ros34pw2 (order 3)
    #[arg(long, value_name = "NAME", value_parser = one_of(&METHODS), hide_possible_values = true, help_heading = "The method")]
    method: Option<MethodChoice>,
    /// Implicit states: auto (the cheapest choice that is accurate), mixed, implicit (all), explicit (none)
    #[arg(long, value_name = "WHICH", value_parser = one_of(&Mode::NAMES), hide_possible_values = true, help_heading = "The method")]
    mode: Option<Mode>,
    /// States that must be implicit: a,b
    #[arg(long, value_name = "NAMES", help_heading = "The method")]
    fast: Vec<String>,
    /// States that must be explicit: c,d
    #[arg(long, value_name = "NAMES", help_heading = "The method")]
    slow: Vec<String>,
    /// Jacobian renewed: auto, every (step), rolling (by parts), watched (when aged), frozen (at events)
    #[arg(long, value_name = "WHEN", value_parser = one_of(&JacobianPolicy::NAMES), hide_possible_values = true, help_heading = "The method")]
    jacobian: Option<JacobianPolicy>,
    /// Drop Jacobian entries as long as eigenvalues move by less than this share [default: where it pays]
    #[arg(long, value_name = "SHARE", allow_hyphen_values = true, help_heading = "The method")]
    rho: Option<String>,
    /// When a step shows that the plan does not hold: act (mend and report), report, off
    #[arg(long, value_name = "WHAT", value_parser = one_of(&Watch::NAMES), hide_possible_values = true, help_heading = "The method")]
    watch: Option<Watch>,

    #[command(flatten)]
    run: RunArgs,

    /// Write what was decided, and why, as a page
    #[arg(long, value_name = "FILE.html", help_heading = "The result")]
    report: Option<PathBuf>,
    /// Print the summary as JSON
    #[arg(long, help_heading = "The result")]
    json: bool,
    /// Print nothing but errors
    #[arg(long, short, help_heading = "The result")]
    quiet: bool,
    /// Refuse if no plan is within the tolerance
    #[arg(long, help_heading = "The result")]
    strict: bool,
    /// Keep pinned or explicit rows even if they are unstable
    #[arg(long, help_heading = "The result")]
    force: bool,
}

impl BuildArgs {
    fn options(&self, libraries: Libraries) -> Result<Options, Error> {
        let names = |texts: &[String]| texts.iter().flat_map(|names| split_names(names)).collect();
        Ok(Options {
            input: self.input.clone(),
            output: self.output.clone(),
            libraries,
            step: value(&self.step, quantity::parse_duration)?,
            substeps: value(&self.substeps, substeps)?,
            budget: value(&self.budget, quantity::parse_budget)?,
            evaluation_time: value(&self.evaluation_time, |text| {
                quantity::parse_positive_time(text, "an evaluation's time")
            })?,
            tolerance: value(&self.tolerance, |text| quantity::parse_fraction(text, "a tolerance"))?
                .unwrap_or(TOLERANCE),
            method: self.method.flatten(),
            mode: self.mode.unwrap_or_default(),
            fast: names(&self.fast),
            slow: names(&self.slow),
            jacobian: self.jacobian.unwrap_or_default(),
            rho: value(&self.rho, |text| quantity::parse_fraction(text, "a share"))?,
            watch: self.watch.unwrap_or_default(),
            run: self.run.run()?,
            limits: self.run.limits.limits()?,
            report: self.report.clone(),
            strict: self.strict,
            force: self.force,
            progress: !self.quiet && !self.json,
        })
    }
}

fn substeps(text: &str) -> Result<u32, String> {
    let count = quantity::parse_count(text, "a number of sub-steps")?;
    let few = u32::try_from(count).ok().filter(|&count| count <= 1_000_000);
    few.ok_or_else(|| format!("{count} sub-steps in each step are too many; take a shorter --step"))
}

/// How the FMU is run to be studied.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "The runs that are studied")]
struct RunArgs {
    /// Time to start at [default: the FMU's own]
    #[arg(long, value_name = "SECONDS", allow_hyphen_values = true)]
    start: Option<String>,
    /// Time to stop at [default: the FMU's own]
    #[arg(long, value_name = "SECONDS", allow_hyphen_values = true)]
    stop: Option<String>,
    /// Input signals: a header `time,u1,u2`, then rows; may be repeated, a run for each file
    #[arg(long, value_name = "FILE.csv")]
    inputs: Vec<PathBuf>,
    /// Start value of a parameter, input or state; may be repeated
    #[arg(long, value_name = "NAME=VALUE", allow_hyphen_values = true)]
    set: Vec<String>,
    /// Runs with signals of our own besides: how many, or none [default: as many as are useful]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    explore: Option<String>,
    /// Where an input or parameter may be in these runs; may be repeated
    #[arg(long, value_name = "NAME=LO:HI", allow_hyphen_values = true)]
    range: Vec<String>,
    #[command(flatten)]
    limits: LimitArgs,
}

impl RunArgs {
    fn run(&self) -> Result<Run, Error> {
        let each = |texts: &[String]| texts.iter().map(|text| quantity::parse_set(text)).collect();
        let ranges: Result<_, String> = self.range.iter().map(|text| quantity::parse_range(text)).collect();
        Ok(Run {
            start: value(&self.start, |text| quantity::parse_time(text, "a start time"))?,
            stop: value(&self.stop, |text| quantity::parse_time(text, "a stop time"))?,
            inputs: self.inputs.clone(),
            set: Result::map_err(each(&self.set), Error::Request)?,
            explore: value(&self.explore, quantity::parse_explore)?,
            ranges: ranges.map_err(Error::Request)?,
        })
    }
}

/// What the work itself may take.
#[derive(Debug, Clone, Default, Args)]
struct LimitArgs {
    /// Longest time the FMU's own code may run [default: 60s]
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true)]
    time_limit: Option<String>,
    /// Most memory that the process with the FMU's code may take: 2GB
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true)]
    memory_limit: Option<String>,
    /// Let the FMU's code write files anywhere
    #[arg(long)]
    no_sandbox: bool,
    /// Runs at a time [default: as many as there are processors]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    jobs: Option<String>,
}

impl LimitArgs {
    fn limits(&self) -> Result<Limits, Error> {
        let jobs = |text: &str| {
            let count = quantity::parse_count(text, "a number of jobs")?;
            Ok(u32::try_from(count).unwrap_or(u32::MAX))
        };
        Ok(Limits {
            time: value(&self.time_limit, |text| quantity::parse_positive_time(text, "a time limit"))?
                .unwrap_or(TIME_LIMIT),
            memory: value(&self.memory_limit, |text| quantity::parse_memory(text, "a memory limit"))?,
            sandbox: !self.no_sandbox,
            jobs: value(&self.jobs, jobs)?,
        })
    }
}

/// Show what an FMU is made of, and what would be decided.
#[derive(Debug, Clone, Args)]
struct InspectArgs {
    /// The FMU to look at
    #[arg(value_name = "IN.fmu")]
    input: PathBuf,
    /// Print as JSON
    #[arg(long)]
    json: bool,
    /// Draw the structure of the Jacobian
    #[arg(long, value_name = "FILE.svg")]
    svg: Option<PathBuf>,
    /// Print nothing but the answer and errors
    #[arg(long, short)]
    quiet: bool,
    #[command(flatten)]
    run: RunArgs,
}

impl InspectArgs {
    fn options(&self) -> Result<InspectOptions, Error> {
        Ok(InspectOptions {
            input: self.input.clone(),
            svg: self.svg.clone(),
            run: self.run.run()?,
            limits: self.run.limits.limits()?,
            progress: !self.quiet && !self.json,
        })
    }
}

/// Measure the step time of a built FMU on this machine.
#[derive(Debug, Clone, Args)]
struct BenchArgs {
    /// The Co-Simulation FMU to run
    #[arg(value_name = "OUT.fmu")]
    fmu: PathBuf,
    /// Steps to take [default: as many as fit in a few seconds]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    steps: Option<String>,
    /// Fail if a step takes longer [default: the communication step]
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true)]
    deadline: Option<String>,
    /// Take the steps in real time, as a test bench does
    #[arg(long)]
    pace: bool,
    /// Run at real-time priority (SCHED_FIFO), where the system allows it
    #[arg(long)]
    realtime: bool,
    /// Say what the model itself does that real time forbids: files, waits, page faults, threads
    #[arg(long)]
    audit: bool,
    /// Input signals: a header `time,u1,u2`, then rows
    #[arg(long, value_name = "FILE.csv")]
    inputs: Option<PathBuf>,
    /// Write a page with the figures and a histogram
    #[arg(long, value_name = "FILE.html")]
    report: Option<PathBuf>,
    /// Print as JSON
    #[arg(long)]
    json: bool,
    /// Print nothing but the answer and errors
    #[arg(long, short)]
    quiet: bool,
    /// Longest time the FMU's own code may run [default: 60s]
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true)]
    time_limit: Option<String>,
    /// Most memory that the process with the FMU's code may take: 2GB
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true)]
    memory_limit: Option<String>,
    /// Let the FMU's code write files anywhere
    #[arg(long)]
    no_sandbox: bool,
}

impl BenchArgs {
    fn options(&self) -> Result<BenchOptions, Error> {
        let limits = LimitArgs {
            time_limit: self.time_limit.clone(),
            memory_limit: self.memory_limit.clone(),
            no_sandbox: self.no_sandbox,
            jobs: None,
        };
        Ok(BenchOptions {
            fmu: self.fmu.clone(),
            steps: value(&self.steps, |text| quantity::parse_count(text, "a number of steps"))?,
            deadline: value(&self.deadline, |text| quantity::parse_positive_time(text, "a deadline"))?,
            pace: self.pace,
            realtime: self.realtime,
            audit: self.audit,
            inputs: self.inputs.clone(),
            report: self.report.clone(),
            limits: limits.limits()?,
            progress: !self.quiet && !self.json,
        })
    }
}

/// Write an example Model-Exchange FMU to try things with; without a name, list them.
#[derive(Debug, Clone, Args)]
struct ExampleArgs {
    /// Which one
    #[arg(value_name = "NAME")]
    name: Option<String>,
    /// Where to write it [default: NAME.fmu]
    #[arg(value_name = "OUT.fmu")]
    output: Option<PathBuf>,
}

/// The child process in which an FMU's code runs.
#[derive(Debug, Clone, Args)]
struct WorkerArgs {
    /// The file that holds the request
    #[arg(value_name = "REQUEST")]
    request: PathBuf,
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
    use crate::options::{Budget, Range};

    const NONE: Libraries = Libraries { runtimes: &[], references: &[] };

    fn understood(line: &str) -> Result<Command, Error> {
        parse_words(words(line)).unwrap_or_else(|e| panic!("{line}: {e}")).understood(NONE)
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
            mode: Mode::Mixed,
            fast: vec!["a".into(), "b[1,2]".into(), "c".into()],
            slow: vec!["d".into()],
            jacobian: JacobianPolicy::Rolling,
            rho: Some(0.1),
            watch: Watch::Report,
            run: Run {
                start: Some(-1.0),
                stop: Some(10.0),
                inputs: vec!["u.csv".into(), "v.csv".into()],
                set: vec![text("k", "-5"), text("m", "2")],
                explore: Some(7),
                ranges: vec![Range { name: "u".into(), low: -1.0, high: 1.0 }],
            },
            limits: Limits { time: 300.0, memory: Some(1_000_000_000), sandbox: false, jobs: Some(3) },
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

    /// Refused with exit code 1 and a better message than clap's.
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
            assert!(matches!(refused, Error::Request(_)), "{line}: {refused}");
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
        assert_eq!(
            (options.run.set, options.run.start),
            (vec![("k".to_string(), "1".to_string())], Some(-2.0))
        );
        assert!(!options.progress);
        let Command::Bench(options, print) =
            command("bench out.fmu --steps 100 --deadline 1ms --json --inputs u.csv --pace")
        else {
            panic!()
        };
        assert_eq!((options.steps, options.deadline, options.pace), (Some(100), Some(1e-3), true));
        assert_eq!((print, options.inputs), (Print::Json, Some("u.csv".into())));
        assert_eq!(command("example"), Command::Example { name: None, output: None });
        let named = Command::Example { name: Some("ball".into()), output: Some("b.fmu".into()) };
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
        assert!(help.lines().count() < 65 && widest <= Some(125), "help must fit a page: {help}");
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
}
