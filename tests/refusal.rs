//! Bad input is refused with what was found, where, and what to do; exit code 1; nothing written, nothing lost.

use crate::util::{data, edit_description, example, fmu_build, rewrite};
use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A folder with an output of an earlier day in it.
struct Bench {
    folder: TempDir,
}

const OLD: &[u8] = b"the FMU of yesterday";

impl Bench {
    fn new() -> Bench {
        Bench { folder: TempDir::new().unwrap() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn example(&self, name: &str) -> PathBuf {
        example(name, self.folder.path())
    }

    /// The whole message on standard error, which ends with a line feed. Checked twice: no output is left where there
    /// was none, and one that was there keeps its bytes. Nothing else appears in the folder either.
    fn refused(&self, input: &Path, options: &str) -> String {
        self.refused_with(1, input, options)
    }

    /// The same for an exit code: 1 for what cannot be done, 2 for what is not understood.
    fn refused_with(&self, code: i32, input: &Path, options: &str) -> String {
        let listing = || {
            let mut names: Vec<_> =
                std::fs::read_dir(&self.folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
            names.sort();
            names
        };
        let (absent, present) = (self.path("new.fmu"), self.path("old.fmu"));
        std::fs::write(&present, OLD).unwrap();
        let before = listing();
        let mut messages = [&absent, &present].map(|output| {
            let mut arguments = vec![input.as_os_str(), output.as_os_str()];
            arguments.extend(options.split_whitespace().map(OsStr::new));
            let result = fmu_build(arguments);
            let message = String::from_utf8(result.stderr).unwrap();
            assert_eq!(result.status.code(), Some(code), "{message}");
            assert!(result.stdout.is_empty(), "{}", String::from_utf8_lossy(&result.stdout));
            message
        });
        assert_eq!(std::fs::read(&present).unwrap(), OLD, "the output of yesterday was touched");
        assert_eq!(listing(), before, "something was left behind");
        let message = std::mem::take(&mut messages[0]);
        let message = message.strip_prefix("fmu-build: ").unwrap_or_else(|| panic!("{message}"));
        message.strip_suffix('\n').unwrap_or_else(|| panic!("{message}")).to_string()
    }
}

#[test]
fn not_a_zip() {
    let bench = Bench::new();
    let input = bench.path("in.fmu");
    std::fs::write(&input, "<html>not found</html>").unwrap();
    assert_eq!(
        bench.refused(&input, ""),
        format!(
            "{} is not a zip archive (it begins with \"<html>not found<\"); an FMU is a zip file",
            input.display()
        )
    );
    std::fs::write(&input, "").unwrap();
    let expected = format!("{} is not a zip archive (it is empty); an FMU is a zip file", input.display());
    assert_eq!(bench.refused(&input, ""), expected);
    let missing = bench.path("missing.fmu");
    let expected = format!("cannot open {}: No such file or directory (os error 2)", missing.display());
    assert_eq!(bench.refused(&missing, ""), expected);
}

#[test]
fn a_truncated_zip() {
    let bench = Bench::new();
    let input = bench.example("dahlquist");
    let bytes = std::fs::read(&input).unwrap();
    std::fs::write(&input, &bytes[..bytes.len() / 2]).unwrap();
    let message = bench.refused(&input, "");
    let expected = format!("{} is a damaged or truncated zip archive (", input.display());
    assert!(message.starts_with(&expected), "{message}");
    assert!(message.ends_with("); copy it again, or export it again"), "{message}");
}

#[test]
fn no_model_description() {
    let bench = Bench::new();
    let (input, bad) = (bench.example("dahlquist"), bench.path("in.fmu"));
    rewrite(&input, &bad, &|name, content| (name != "modelDescription.xml").then_some(content));
    assert_eq!(
        bench.refused(&bad, ""),
        format!("{} has no modelDescription.xml at its top level; an FMU must have one", bad.display())
    );
}

/// The folder was zipped instead of its content.
#[test]
fn a_folder_around_the_fmu() {
    let bench = Bench::new();
    let bad = bench.path("in.fmu");
    let mut writer = zip::ZipWriter::new(std::fs::File::create(&bad).unwrap());
    writer.start_file("dahlquist/modelDescription.xml", zip::write::SimpleFileOptions::default()).unwrap();
    writer.write_all(b"<x/>").unwrap();
    writer.finish().unwrap();
    let expected = format!(
        "{} has no modelDescription.xml at its top level (but dahlquist/modelDescription.xml: was the folder zipped \
         instead of its content?); an FMU must have one",
        bad.display()
    );
    assert_eq!(bench.refused(&bad, ""), expected);
}

#[test]
fn malformed_xml() {
    let bench = Bench::new();
    let (input, bad) = (bench.example("dahlquist"), bench.path("in.fmu"));
    edit_description(&input, &bad, "</ModelVariables>", "</ModelVariable>");
    let message = bench.refused(&bad, "");
    let expected = format!("{}: modelDescription.xml is not well-formed XML: line ", bad.display());
    assert!(message.starts_with(&expected), "{message}");
    assert!(message.contains("ModelVariable"), "{message}");
}

#[test]
fn other_versions_of_fmi() {
    let bench = Bench::new();
    let (input, bad) = (bench.example("dahlquist"), bench.path("in.fmu"));
    for (version, standard) in
        [("1.0", "FMI 1.0"), ("3.0-beta.1", "a draft of FMI 3.0"), ("7", "no version of FMI that is known")]
    {
        edit_description(&input, &bad, "fmiVersion=\"2.0\"", &format!("fmiVersion=\"{version}\""));
        let expected = format!(
            "{}: modelDescription.xml, line 2: fmiVersion=\"{version}\", that is {standard}; fmu-build reads FMI 2.0 and 3.0; \
             re-export the model as a Model-Exchange FMU of one of them",
            bad.display()
        );
        assert_eq!(bench.refused(&bad, ""), expected);
    }
}

#[test]
fn co_simulation_only() {
    let bench = Bench::new();
    let (input, bad) = (bench.example("dahlquist"), bench.path("in.fmu"));
    edit_description(&input, &bad, "<ModelExchange", "<CoSimulation");
    let expected = format!(
        "{}: dahlquist has no <ModelExchange> element (it is for Co-Simulation only); re-export it for Model Exchange",
        bad.display()
    );
    assert_eq!(bench.refused(&bad, ""), expected);
}

#[test]
fn what_fmu_build_wrote_is_not_its_input() {
    let bench = Bench::new();
    let (input, output) = (bench.example("dahlquist"), bench.path("out.fmu"));
    assert!(fmu_build([&input, &output]).status.success());
    let message = bench.refused(&output, "");
    assert!(message.contains("dahlquist has no <ModelExchange> element"), "{message}");
}

#[test]
fn no_binary_for_this_platform() {
    let bench = Bench::new();
    let (input, bad) = (bench.example("dahlquist"), bench.path("in.fmu"));
    let mut archive = zip::ZipArchive::new(std::fs::File::open(&input).unwrap()).unwrap();
    let mut writer = zip::ZipWriter::new(std::fs::File::create(&bad).unwrap());
    let mut xml = Vec::new();
    std::io::copy(&mut archive.by_name("modelDescription.xml").unwrap(), &mut xml).unwrap();
    let options = zip::write::SimpleFileOptions::default();
    for (name, content) in [
        ("modelDescription.xml", &xml[..]),
        ("binaries/darwin64/dahlquist.dylib", b"x"),
        ("binaries/win64/dahlquist.dll", b"x"),
    ] {
        writer.start_file(name, options).unwrap();
        writer.write_all(content).unwrap();
    }
    writer.finish().unwrap();
    let expected = format!(
        "{} has no binaries/linux64/dahlquist.so (binaries in it: binaries/darwin64/dahlquist.dylib, \
         binaries/win64/dahlquist.dll); export it for linux64, or run fmu-build on one of those platforms",
        bad.display()
    );
    assert_eq!(bench.refused(&bad, ""), expected);

    rewrite(&input, &bad, &|name, content| (!name.starts_with("binaries")).then_some(content));
    let message = bench.refused(&bad, "");
    assert!(message.contains("(binaries in it: none, it may be a source-code FMU)"), "{message}");
}

/// A library without `fmi2GetDerivatives` is no Model-Exchange library: here, an empty one, made by the C compiler.
#[test]
fn a_missing_symbol() {
    let bench = Bench::new();
    let (input, bad) = (bench.example("dahlquist"), bench.path("in.fmu"));
    let scratch = TempDir::new().unwrap();
    let (source, library) = (scratch.path().join("empty.c"), scratch.path().join("empty.so"));
    std::fs::write(&source, "int nothing_of_fmi(void) { return 0; }\n").unwrap();
    let made =
        std::process::Command::new("cc").args(["-shared", "-fPIC", "-o"]).arg(&library).arg(&source).status();
    assert!(made.unwrap().success());
    let library = std::fs::read(&library).unwrap();
    rewrite(&input, &bad, &|name, content| {
        Some(if name.starts_with("binaries") { library.clone() } else { content })
    });
    let message = bench.refused(&bad, "");
    let expected = "the FMU's library does not export fmi2";
    assert!(message.starts_with(expected), "{message}");
    assert!(
        message.contains(", which FMI 2.0 demands; is ") && message.ends_with("Export the FMU again"),
        "{message}"
    );
}

/// Not a library at all.
#[test]
fn a_library_that_is_none() {
    let bench = Bench::new();
    let (input, bad) = (bench.example("dahlquist"), bench.path("in.fmu"));
    rewrite(&input, &bad, &|name, content| {
        Some(if name.starts_with("binaries") { b"no ELF".to_vec() } else { content })
    });
    let message = bench.refused(&bad, "");
    assert!(message.starts_with("the FMU's library cannot be loaded: "), "{message}");
    assert!(
        message.ends_with("; install what it needs on this machine, or export it self-contained"),
        "{message}"
    );
}

#[test]
fn a_guid_that_is_not_the_librarys() {
    let bench = Bench::new();
    let guid = "{b4dc0de0-0000-4000-8000-000000000000}";
    let expected = format!(
        "the FMU's fmi2Instantiate returned NULL for GUID {guid}. It said: fmi2Error: fmi2Instantiate: the GUID {guid} belongs to no model \
         of this library. If the GUID of modelDescription.xml is not the library's, export the FMU again; if it must ask a licence server, let it with --no-sandbox"
    );
    assert_eq!(bench.refused(&bench.example("guid-mismatch"), ""), expected);
}

#[test]
fn instantiation_fails() {
    let bench = Bench::new();
    let message = bench.refused(&bench.example("bad-instantiate"), "");
    assert!(
        message.starts_with("the FMU's fmi2Instantiate returned NULL for GUID {bad-instantiate:"),
        "{message}"
    );
    assert!(
        message.contains(". It said: fmi2Error: fmi2Instantiate: the model refuses to be instantiated. "),
        "{message}"
    );
}

#[test]
fn initialisation_fails() {
    let bench = Bench::new();
    let expected = "the FMU's fmi2ExitInitializationMode returned fmi2Error. It said: fmi2Error: fmi2ExitInitializationMode: \
                    initial equations have no solution";
    assert_eq!(bench.refused(&bench.example("bad-init"), ""), expected);
}

#[test]
fn the_model_crashes() {
    let bench = Bench::new();
    let message = bench.refused(&bench.example("crash"), "");
    let end = "; check that it runs in another tool, or try other values with --set and --inputs";
    assert!(message.starts_with("the FMU crashed with SIGSEGV (segmentation fault) in fmi2"), "{message}");
    assert!(message.ends_with(end), "{message}");
}

/// The limit holds, and `--time-limit` is what the message says.
#[test]
fn the_model_hangs() {
    let bench = Bench::new();
    let input = bench.example("hang");
    let begin = Instant::now();
    let message = bench.refused(&input, "--time-limit 1s");
    assert!(begin.elapsed() < Duration::from_secs(15), "{:?}", begin.elapsed());
    assert!(message.starts_with("the FMU did not return within 1 s in fmi2"), "{message}");
    let end = "; give it more with --time-limit, or shorten the run with --stop";
    assert!(message.ends_with(end), "{message}");
}

#[test]
fn a_derivative_that_is_not_a_number() {
    let bench = Bench::new();
    let message = bench.refused(&bench.example("nan"), "");
    assert!(
        message.starts_with("the derivative of x is NaN at the start (t = 0); check the model's parameters"),
        "{message}"
    );
}

#[test]
fn output_and_input_are_one_file() {
    let bench = Bench::new();
    let input = bench.example("dahlquist");
    let before = std::fs::read(&input).unwrap();
    let link = bench.path("link.fmu");
    std::os::unix::fs::symlink(&input, &link).unwrap();
    let dotted = bench.folder.path().join(".").join("dahlquist.fmu");
    for output in [&input, &link, &dotted] {
        let result = fmu_build([&input, output]);
        assert_eq!(result.status.code(), Some(1));
        let expected = format!(
            "fmu-build: {} is the input and the output; name another file for the new FMU\n",
            output.display()
        );
        assert_eq!(String::from_utf8(result.stderr).unwrap(), expected);
    }
    assert_eq!(std::fs::read(&input).unwrap(), before);
}

#[test]
fn outputs_that_cannot_be_written() {
    let bench = Bench::new();
    let input = bench.example("dahlquist");
    let folder = bench.path("folder");
    std::fs::create_dir(&folder).unwrap();
    let nowhere = bench.path("nowhere").join("out.fmu");
    // Through a file as if it were a folder: not writable for anyone, root included.
    let through_file = input.join("out.fmu");
    let device = Path::new("/proc/out.fmu");
    for (output, expected) in [
        (
            folder.as_path(),
            format!(
                "cannot write {0}: it is a folder; name a file in it, such as {0}/out.fmu",
                folder.display()
            ),
        ),
        (
            nowhere.as_path(),
            format!(
                "cannot write {}: there is no folder {}; create it first",
                nowhere.display(),
                bench.path("nowhere").display()
            ),
        ),
        (
            through_file.as_path(),
            format!(
                "cannot write {}: there is no folder {}; create it first",
                through_file.display(),
                input.display()
            ),
        ),
        (device, "cannot write /proc/out.fmu: No such file or directory (os error 2)".into()),
    ] {
        let result = fmu_build([&input, output]);
        assert_eq!(result.status.code(), Some(1));
        let message = String::from_utf8(result.stderr).unwrap();
        assert_eq!(message, format!("fmu-build: {expected}\n"));
    }
}

#[test]
fn steps_that_are_none() {
    let bench = Bench::new();
    let input = bench.example("dahlquist");
    for step in ["0", "-1ms", "nan", "inf", "abc", "1e-400"] {
        let expected = format!(
            "{step:?} is not a step: it must be a positive number of seconds, such as 1e-3, 1ms or 100us"
        );
        assert_eq!(bench.refused_with(2, &input, &format!("--step {step}")), expected);
    }
    let expected = "a step of 20 s is longer than the run of 10 s (from 0 s to 10 s); give a shorter --step or a later --stop";
    assert_eq!(bench.refused(&input, "--step 20"), expected);
    let expected = "a step of 1e-300 s cuts the run of 10 s into 1e301 steps, more than 1e12: time itself is not known that finely; give a longer --step";
    assert_eq!(bench.refused(&input, "--step 1e-300"), expected);
    let expected = "\"0\" is not a number of sub-steps: it must be a whole number from 1 up";
    assert_eq!(bench.refused_with(2, &input, "--substeps 0"), expected);
    let expected = "\"0\" is not a number of jobs: it must be a whole number from 1 up";
    assert_eq!(bench.refused_with(2, &input, "--jobs 0"), expected);
    let expected = "\"0\" is not a tolerance: it must be a positive number, such as 0.01 or 1%";
    assert_eq!(bench.refused_with(2, &input, "--tolerance 0"), expected);
}

#[test]
fn runs_that_are_none() {
    let bench = Bench::new();
    let input = bench.example("dahlquist");
    let expected = "the run would stop at 1 s, not after its start at 2 s; give another --stop or --start";
    assert_eq!(bench.refused(&input, "--start 2 --stop 1"), expected);
    let message = bench.refused(&input, "--set nothing=1");
    assert!(
        message.starts_with("--set nothing=1: ") && message.ends_with(" has no variable nothing"),
        "{message}"
    );
    let expected = "--set k=fast: k is a Real, and \"fast\" is not; give such a value";
    assert_eq!(bench.refused(&input, "--set k=fast"), expected);
    let message = bench.refused(&input, "--fast y");
    assert!(message.starts_with("--fast y: no state has that name (states: x)"), "{message}");
    let message = bench.refused(&input, "--inputs nowhere.csv");
    assert!(message.contains("nowhere.csv"), "{message}");
}

/// Archives that would write outside themselves.
#[test]
fn hostile_archives() {
    let bench = Bench::new();
    let (input, bad) = (bench.example("dahlquist"), bench.path("in.fmu"));
    let xml = {
        let mut archive = zip::ZipArchive::new(std::fs::File::open(&input).unwrap()).unwrap();
        let mut xml = Vec::new();
        std::io::copy(&mut archive.by_name("modelDescription.xml").unwrap(), &mut xml).unwrap();
        xml
    };
    for (name, why) in [
        ("../evil", "leads out of the archive (`..`); an FMU may name only files inside itself"),
        ("/tmp/evil", "has an absolute name; an FMU may name only files inside itself"),
        ("a/../../evil", "leads out of the archive (`..`); an FMU may name only files inside itself"),
    ] {
        let mut writer = zip::ZipWriter::new(std::fs::File::create(&bad).unwrap());
        for (name, content) in [("modelDescription.xml", &xml[..]), (name, b"x")] {
            writer.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
            writer.write_all(content).unwrap();
        }
        writer.finish().unwrap();
        assert_eq!(bench.refused(&bad, ""), format!("{}: entry {name:?} {why}", bad.display()));
    }
    let mut writer = zip::ZipWriter::new(std::fs::File::create(&bad).unwrap());
    writer.start_file("modelDescription.xml", zip::write::SimpleFileOptions::default()).unwrap();
    writer.write_all(&xml).unwrap();
    writer.add_symlink("resources", "/etc", zip::write::SimpleFileOptions::default()).unwrap();
    writer.finish().unwrap();
    let expected = format!(
        "{}: entry \"resources\" is a link or a special file; replace it by the file itself",
        bad.display()
    );
    assert_eq!(bench.refused(&bad, ""), expected);
}

/// Mistakes that look like something else are named as what they are.
#[test]
fn mistakes_are_named() {
    let bench = Bench::new();
    let input = bench.example("dc-drive");
    let input = input.to_str().unwrap();
    let out = bench.path("x.fmu");
    let out = out.to_str().unwrap();
    for (code, arguments, words) in [
        (2, vec!["--step", "1", "ms", input, out], "write --step 1ms"),
        (2, vec!["--step", "1", "ms", input], "write --step 1ms"),
        (2, vec!["--stp", "1ms", input, out], "'--step' or '--stop'"),
        (2, vec!["insepct", input], "did you mean fmu-build inspect?"),
        (2, vec!["--budget", "10", input, out], "\"10\" is not a budget without a unit: write 10us"),
        (2, vec!["--memory-limit", "2", input, out], "it must be 32MB or more, such as 2GB"),
        (
            1,
            vec!["--range", "w_l=0:1", input, out],
            "w_l is an output; a range says where an input or a parameter may be",
        ),
    ] {
        let result = fmu_build(&arguments);
        let said = String::from_utf8_lossy(&result.stderr);
        assert_eq!(result.status.code(), Some(code), "{arguments:?}: {said}");
        assert!(said.contains(words), "{arguments:?}: {said}");
        assert!(!said.contains("panicked"), "{arguments:?}: {said}");
    }
    assert!(!Path::new(out).exists());
}

/// Usage is exit code 2, and says what is missing.
#[test]
fn usage_errors() {
    for (arguments, word) in [
        (vec![], "Usage"),
        (vec!["in.fmu"], "OUT.fmu"),
        (vec!["--stepp", "1", "a.fmu", "b.fmu"], "--step"),
        (vec!["--mode", "sideways", "a.fmu", "b.fmu"], "mixed"),
        (vec!["bench"], "OUT.fmu"),
    ] {
        let result = fmu_build(&arguments);
        let said = String::from_utf8_lossy(&result.stderr);
        assert_eq!(result.status.code(), Some(2), "{arguments:?}: {said}");
        assert!(said.contains(word), "{arguments:?}: {said}");
    }
}

/// The other commands refuse as well.
#[test]
fn commands_refuse_too() {
    let bench = Bench::new();
    let folder = bench.folder.path().to_str().unwrap();
    let dahlquist = data("mo2fmu_Dahlquist.fmu");
    let dahlquist = dahlquist.to_str().unwrap();
    let out = format!("{folder}/x.fmu");
    for (arguments, expected) in [
        (
            vec!["example", "perpetuum-mobile", &out],
            "no model is called perpetuum-mobile; there are: dahlquist, ".to_string(),
        ),
        (
            vec!["example", "heat-rod:3", &out],
            "heat-rod cannot have 3 cells; give a number from 10 to 10000".into(),
        ),
        (
            vec!["bench", dahlquist],
            format!("{dahlquist} was not made by fmu-build (it has no resources/plan.json)"),
        ),
        (vec!["inspect", "/nowhere.fmu"], "cannot open /nowhere.fmu: No such file or directory".into()),
    ] {
        let result = fmu_build(&arguments);
        let said = String::from_utf8_lossy(&result.stderr);
        assert_eq!(result.status.code(), Some(1), "{arguments:?}: {said}");
        assert!(said.starts_with(&format!("fmu-build: {expected}")), "{said}");
    }
    assert!(!Path::new(&out).exists());
}
