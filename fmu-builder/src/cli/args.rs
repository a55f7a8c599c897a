//! The words of the command line, with the help that explains them, and the values that they mean.

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand};

use super::compare::CompareArgs;
use super::manual::{CompletionsArgs, ManualArgs};
use crate::Libraries;
use crate::error::Error;
use crate::options::{
    BenchOptions, Compilation, Fmi, InspectOptions, JacobianPolicy, Limits, METHODS, Options, Partitioning,
    Preference, Run, TIME_LIMIT, TOLERANCE, TOTAL_LIMIT, TwinMode, WatchMode,
};
use crate::quantity::{self, split_names};
use crate::terminal::Colour;
use fmu_runtime::plan::Method;

/// A value that may be missing, as `read` understands it.
pub fn value<T>(text: &Option<String>, read: impl Fn(&str) -> Result<T, String>) -> Result<Option<T>, Error> {
    text.as_deref().map(read).transpose().map_err(Error::Usage)
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
pub struct BuildArgs {
    #[arg(skip)]
    pub input: PathBuf,
    #[arg(skip)]
    pub output: PathBuf,

    /// Communication step: 1e-3, 1ms, 100us [default: the FMU's own, or chosen]
    #[arg(long, value_name = "SECONDS", allow_hyphen_values = true, help_heading = "The step")]
    pub step: Option<String>,
    /// Internal steps in each communication step [default: 1, or as many as the tolerance needs]
    #[arg(long, value_name = "N", allow_hyphen_values = true, help_heading = "The step")]
    pub substeps: Option<String>,
    /// Most that a step may cost: 100us, 3f (evaluations), 25% [default: 10%, a soft border]
    #[arg(long, value_name = "COST", allow_hyphen_values = true, help_heading = "The step")]
    pub budget: Option<String>,
    /// What an evaluation takes on the target: then nothing is measured [default: measured here]
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true, help_heading = "The step")]
    pub evaluation_time: Option<String>,
    /// Error against an accurate solution that is accepted, relative [default: 0.01]
    #[arg(long, value_name = "ERROR", allow_hyphen_values = true, help_heading = "The step")]
    pub tolerance: Option<String>,
    /// Deviation at a single point that is accepted, relative [default: any]
    #[arg(long, value_name = "ERROR", allow_hyphen_values = true, help_heading = "The step")]
    pub peak_tolerance: Option<String>,

    /// Method: auto, lie (Euler), lie2, ros2, ros2l (order 2), ros34pw2 (3); ro2, ros3p, rodas3 (fresh A)
    #[arg(long, value_name = "NAME", value_parser = one_of(&METHODS), hide_possible_values = true, help_heading = "The method")]
    pub method: Option<MethodChoice>,
    /// Implicit states: auto (the cheapest choice that is accurate), mixed, implicit (all), explicit (none)
    #[arg(long, value_name = "WHICH", value_parser = one_of(&Partitioning::NAMES), hide_possible_values = true, help_heading = "The method")]
    pub mode: Option<Partitioning>,
    /// States that must be implicit: a,b
    #[arg(long, value_name = "NAMES", help_heading = "The method")]
    pub fast: Vec<String>,
    /// States that must be explicit: c,d
    #[arg(long, value_name = "NAMES", help_heading = "The method")]
    pub slow: Vec<String>,
    /// Jacobian renewed: auto, every (step), rolling (by parts), watched (when aged), frozen (at events)
    #[arg(long, value_name = "WHEN", value_parser = one_of(&JacobianPolicy::NAMES), hide_possible_values = true, help_heading = "The method")]
    pub jacobian: Option<JacobianPolicy>,
    /// Drop Jacobian entries as long as eigenvalues move by less than this share [default: where it pays]
    #[arg(long, value_name = "SHARE", allow_hyphen_values = true, help_heading = "The method")]
    pub rho: Option<String>,
    /// When a step shows that the plan does not hold: act (mend and report), report, off
    #[arg(long, value_name = "WHAT", value_parser = one_of(&WatchMode::NAMES), hide_possible_values = true, help_heading = "The method")]
    pub watch: Option<WatchMode>,
    /// Of plans within the tolerance: speed (the cheapest), balanced (the cheapest with margin), accuracy
    #[arg(long, value_name = "WHAT", value_parser = one_of(&Preference::NAMES), hide_possible_values = true, help_heading = "The method")]
    pub prefer: Option<Preference>,
    /// A second integration that tells the error at run time: auto (where the budget has room), on, off
    #[arg(long, value_name = "WHETHER", value_parser = one_of(&TwinMode::NAMES), hide_possible_values = true, help_heading = "The method")]
    pub twin: Option<TwinMode>,

    #[command(flatten)]
    pub run: RunArgs,
    #[command(flatten)]
    pub sources: SourceArgs,

    /// Write what was decided, and why, as a page
    #[arg(long, value_name = "FILE.html", help_heading = "The result")]
    pub report: Option<PathBuf>,
    /// The version of FMI that the new FMU is of: 2, 3 [default: the model's]
    #[arg(long, value_name = "VERSION", value_parser = one_of(&Fmi::NAMES), hide_possible_values = true, help_heading = "The result")]
    pub fmi: Option<Fmi>,
    /// Print the summary as JSON
    #[arg(long, help_heading = "The result")]
    pub json: bool,
    /// Print nothing but errors
    #[arg(long, short, help_heading = "The result")]
    pub quiet: bool,
    /// Print the details as well: solution, Jacobian, stability, events, step times
    #[arg(long, short, help_heading = "The result")]
    pub verbose: bool,
    /// Refuse what misses the tolerance on given or invented runs, the budget or the step
    #[arg(long, help_heading = "The result")]
    pub strict: bool,
    /// Keep pinned or explicit rows even if they are unstable
    #[arg(long, help_heading = "The result")]
    pub force: bool,
}

impl BuildArgs {
    pub fn options(&self, libraries: Libraries) -> Result<Options, Error> {
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
            peak_tolerance: value(&self.peak_tolerance, |text| {
                quantity::parse_fraction(text, "a peak tolerance")
            })?,
            method: self.method.flatten(),
            mode: self.mode.unwrap_or_default(),
            fast: names(&self.fast),
            slow: names(&self.slow),
            jacobian: self.jacobian.unwrap_or_default(),
            rho: value(&self.rho, |text| quantity::parse_fraction(text, "a share"))?,
            watch: self.watch.unwrap_or_default(),
            twin: self.twin.unwrap_or_default(),
            prefer: self.prefer.unwrap_or_default(),
            run: self.run.run()?,
            limits: self.run.limits()?,
            compilation: self.sources.compilation(),
            fmi: self.fmi,
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
pub struct RunArgs {
    /// Time to start at [default: the FMU's own]
    #[arg(long, value_name = "SECONDS", allow_hyphen_values = true)]
    pub start: Option<String>,
    /// Time to stop at [default: the FMU's own]
    #[arg(long, value_name = "SECONDS", allow_hyphen_values = true)]
    pub stop: Option<String>,
    /// Input signals: a header `time,u1,u2`, then rows; may be repeated, a run for each file
    #[arg(long, value_name = "FILE.csv")]
    pub inputs: Vec<PathBuf>,
    /// Start value of a parameter, input or state; may be repeated
    #[arg(long, value_name = "NAME=VALUE", allow_hyphen_values = true)]
    pub set: Vec<String>,
    /// Runs with signals of our own besides: how many, or none [default: as many as are useful]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub explore: Option<String>,
    /// Where an input or parameter may be in these runs; may be repeated
    #[arg(long, value_name = "NAME=LO:HI", allow_hyphen_values = true)]
    pub range: Vec<String>,
    #[command(flatten)]
    pub limits: LimitArgs,
    /// Runs at a time [default: as many as there are processors]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub jobs: Option<String>,
}

impl RunArgs {
    pub fn run(&self) -> Result<Run, Error> {
        let each = |texts: &[String]| texts.iter().map(|text| quantity::parse_set(text)).collect();
        let ranges: Result<_, String> = self.range.iter().map(|text| quantity::parse_range(text)).collect();
        Ok(Run {
            start: value(&self.start, |text| quantity::parse_time(text, "a start time"))?,
            stop: value(&self.stop, |text| quantity::parse_time(text, "a stop time"))?,
            inputs: self.inputs.clone(),
            set: Result::map_err(each(&self.set), Error::Usage)?,
            explore: value(&self.explore, quantity::parse_explore)?,
            ranges: ranges.map_err(Error::Usage)?,
        })
    }

    pub fn limits(&self) -> Result<Limits, Error> {
        let jobs = |text: &str| {
            let count = quantity::parse_count(text, "a number of jobs")?;
            Ok(u32::try_from(count).unwrap_or(u32::MAX))
        };
        Ok(Limits { jobs: value(&self.jobs, jobs)?, ..self.limits.limits()? })
    }
}

/// FMUs that bring their sources.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "FMUs with sources")]
pub struct SourceArgs {
    /// Compile the FMU's sources even where it has a binary for this platform
    #[arg(long)]
    pub from_sources: bool,
    /// The C compiler for them [default: cc, gcc or clang, whichever is found]
    #[arg(long, value_name = "COMMAND")]
    pub cc: Option<String>,
    /// Further options for it, separated by blanks
    #[arg(long, value_name = "OPTIONS", allow_hyphen_values = true)]
    pub cflags: Option<String>,
}

impl SourceArgs {
    pub fn compilation(&self) -> Compilation {
        let words = |text: &String| text.split_whitespace().map(str::to_string).collect();
        Compilation {
            from_sources: self.from_sources,
            cc: self.cc.clone(),
            cflags: self.cflags.as_ref().map_or(Vec::new(), words),
        }
    }
}

/// What the work itself may take.
#[derive(Debug, Clone, Default, Args)]
pub struct LimitArgs {
    /// Longest time the FMU's own code may run in all [default: 60s at a time, 10min in all]
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true)]
    pub time_limit: Option<String>,
    /// Most memory that the process with the FMU's code may take: 2GB
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true)]
    pub memory_limit: Option<String>,
    /// Let the FMU's code write files anywhere and use the network
    #[arg(long)]
    pub no_sandbox: bool,
}

impl LimitArgs {
    pub fn limits(&self) -> Result<Limits, Error> {
        let time = value(&self.time_limit, |text| quantity::parse_positive_time(text, "a time limit"))?;
        Ok(Limits {
            time: time.unwrap_or(TIME_LIMIT),
            total: time.unwrap_or(TOTAL_LIMIT),
            memory: value(&self.memory_limit, |text| quantity::parse_memory(text, "a memory limit"))?,
            sandbox: !self.no_sandbox,
            jobs: None,
        })
    }
}

/// Show what an FMU is made of, and what would be decided.
#[derive(Debug, Clone, Args)]
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
    #[command(flatten)]
    pub sources: SourceArgs,
}

impl InspectArgs {
    pub fn options(&self) -> Result<InspectOptions, Error> {
        Ok(InspectOptions {
            input: self.input.clone(),
            svg: self.svg.clone(),
            run: self.run.run()?,
            limits: self.run.limits()?,
            compilation: self.sources.compilation(),
            progress: !self.quiet && !self.json,
        })
    }
}

/// Measure the step time of a built FMU on this machine.
#[derive(Debug, Clone, Args)]
pub struct BenchArgs {
    /// The Co-Simulation FMU to run
    #[arg(value_name = "OUT.fmu")]
    pub fmu: PathBuf,
    /// Steps to take [default: as many as fit in a few seconds]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub steps: Option<String>,
    /// Fail if a step takes longer; without it, steps beyond the communication step are counted
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true)]
    pub deadline: Option<String>,
    /// Steps that may miss the deadline before it is a failure [default: none]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub max_overruns: Option<String>,
    /// Take the steps in real time, as a test bench does
    #[arg(long)]
    pub pace: bool,
    /// Run at real-time priority (SCHED_FIFO), where the system allows it
    #[arg(long)]
    pub realtime: bool,
    /// Say what the model itself does that real time forbids: allocations, system calls, page faults, denormal numbers
    #[arg(long)]
    pub audit: bool,
    /// Do not read the outputs after each step
    #[arg(long)]
    pub no_outputs: bool,
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
    #[command(flatten)]
    pub limits: LimitArgs,
}

impl BenchArgs {
    pub fn options(&self) -> Result<BenchOptions, Error> {
        Ok(BenchOptions {
            fmu: self.fmu.clone(),
            steps: value(&self.steps, |text| quantity::parse_count(text, "a number of steps"))?,
            deadline: value(&self.deadline, |text| quantity::parse_positive_time(text, "a deadline"))?,
            max_overruns: value(&self.max_overruns, |text| match text.trim() {
                "0" => Ok(0),
                _ => quantity::parse_count(text, "a number of steps"),
            })?,
            pace: self.pace,
            realtime: self.realtime,
            audit: self.audit,
            outputs: !self.no_outputs,
            inputs: self.inputs.clone(),
            report: self.report.clone(),
            limits: self.limits.limits()?,
            progress: !self.quiet && !self.json,
        })
    }
}

/// Write an example Model-Exchange FMU to try things with; without a name, list them.
#[derive(Debug, Clone, Args)]
pub struct ExampleArgs {
    /// Which one
    #[arg(value_name = "NAME")]
    pub name: Option<String>,
    /// Where to write it [default: NAME.fmu]
    #[arg(value_name = "OUT.fmu")]
    pub output: Option<PathBuf>,
    /// Write input signals for it as well
    #[arg(long, value_name = "FILE.csv")]
    pub inputs: Option<PathBuf>,
}

/// The child process in which an FMU's code runs.
#[derive(Debug, Clone, Args)]
pub struct WorkerArgs {
    /// The file that holds the request
    #[arg(value_name = "REQUEST")]
    pub request: PathBuf,
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
    disable_help_subcommand = true,
    override_usage = "fmu-build [OPTIONS] IN.fmu OUT.fmu\n       fmu-build inspect|bench|compare|example ...",
    after_help = EXAMPLES
)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Option<Sub>,
    #[command(flatten)]
    pub files: Option<Files>,
    #[command(flatten)]
    pub build: BuildArgs,
    /// Colours: auto (on a terminal), always, never
    #[arg(long, global = true, value_name = "WHEN", value_parser = one_of(&Colour::NAMES), hide_possible_values = true, hide = true)]
    pub color: Option<Colour>,
}

/// Apart from [`BuildArgs`], since the commands do without them.
#[derive(Debug, Args)]
pub struct Files {
    /// The Model-Exchange FMU to read
    #[arg(value_name = "IN.fmu")]
    pub input: PathBuf,
    /// The Co-Simulation FMU to write
    #[arg(value_name = "OUT.fmu")]
    pub output: PathBuf,
}

const ABOUT: &str = "\
Turn a Model-Exchange FMU (FMI 2.0) into a real-time Co-Simulation FMU: fixed steps, no iteration, no allocation.

The cheapest plan on average is taken that keeps 2/3 of the tolerance on all runs, given and invented (--prefer).";

pub const EXAMPLES: &str = "\
Examples:
  fmu-build example dc-drive drive.fmu --inputs drive.csv   # a model to try it with, and signals for it
  fmu-build --step 1ms --budget 100us --inputs drive.csv --report why.html drive.fmu realtime.fmu
  fmu-build compare drive.fmu realtime.fmu --inputs drive.csv       # how far apart are the two?
  fmu-build bench realtime.fmu --deadline 1ms               # what does a step cost here?";

#[derive(Debug, Subcommand)]
pub enum Sub {
    Inspect(InspectArgs),
    Bench(BenchArgs),
    Compare(CompareArgs),
    #[command(hide = true)]
    Completions(CompletionsArgs),
    #[command(hide = true, name = "man")]
    Manual(ManualArgs),
    Example(ExampleArgs),
    #[command(hide = true)]
    Worker(WorkerArgs),
}
