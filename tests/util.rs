//! Run `fmu-build`, unpack what it wrote, fit a convergence order.

use crate::driver::Exported;
use std::ffi::OsStr;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;
use zip::write::SimpleFileOptions;
use zip::{ZipArchive, ZipWriter};

pub fn fmu_build<S: AsRef<OsStr>>(arguments: impl IntoIterator<Item = S>) -> Output {
    Command::new(env!("CARGO_BIN_EXE_fmu-build")).args(arguments).output().unwrap()
}

/// Run a command line that must succeed; its standard output.
pub fn succeed<S: AsRef<OsStr>>(arguments: impl IntoIterator<Item = S>) -> String {
    let output = fmu_build(arguments);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "fmu-build failed: {said}");
    String::from_utf8(output.stdout).unwrap()
}

/// One of the Modelica-compiled FMUs.
pub fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

/// A reference model as a Model-Exchange FMU in `folder`.
pub fn example(name: &str, folder: &Path) -> PathBuf {
    let path = folder.join(format!("{}.fmu", name.replace(':', "-")));
    succeed([OsStr::new("example"), name.as_ref(), path.as_ref()]);
    path
}

/// Build a reference model, or a file of `tests/data`, and unpack the result. `options` is split at blanks.
pub fn build(model: &str, options: &str) -> Exported {
    let folder = TempDir::new().unwrap();
    let output = folder.path().join("out.fmu");
    std::fs::copy(cache::built(model, options).join("out.fmu"), &output).unwrap();
    Exported::unpack(&output, folder)
}

/// The summary of the same build.
pub fn summary(model: &str, options: &str) -> serde_json::Value {
    let text = std::fs::read(cache::built(model, options).join("summary.json")).unwrap();
    serde_json::from_slice(&text).unwrap()
}

/// FMUs that were built once, for all tests that want the same one.
///
/// They lie in `target/tmp/fmus`, each in a folder named by a hash of the executable, the model and the
/// options: a new executable finds nothing and builds anew. A folder appears by renaming, whole, so that
/// tests in other threads and processes may share it.
mod cache {
    use super::{build_file, data, example};
    use std::collections::HashMap;
    use std::hash::{DefaultHasher, Hash, Hasher};
    use std::path::{Path, PathBuf};
    use std::sync::{Arc, LazyLock, Mutex};

    static EXECUTABLE: LazyLock<u64> =
        LazyLock::new(|| hash(&std::fs::read(env!("CARGO_BIN_EXE_fmu-build")).unwrap()));

    /// One lock for each FMU: others that want it wait until it is there.
    static LOCKS: LazyLock<Mutex<HashMap<PathBuf, Arc<Mutex<()>>>>> = LazyLock::new(Mutex::default);

    /// The folder with `out.fmu` and `summary.json`.
    pub fn built(model: &str, options: &str) -> PathBuf {
        let input = if model.ends_with(".fmu") { std::fs::read(data(model)).unwrap() } else { Vec::new() };
        let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join("fmus");
        let folder = root.join(format!("{:016x}", hash(&(*EXECUTABLE, model, input, options))));
        let lock = LOCKS.lock().unwrap().entry(folder.clone()).or_default().clone();
        // A test that failed while it built leaves nothing half-done.
        let _guard = lock.lock().unwrap_or_else(|failed| failed.into_inner());
        if !folder.exists() {
            std::fs::create_dir_all(&root).unwrap();
            let aside = tempfile::tempdir_in(&root).unwrap();
            let input = if model.ends_with(".fmu") { data(model) } else { example(model, aside.path()) };
            let summary = build_file(&input, &aside.path().join("out.fmu"), options);
            std::fs::write(aside.path().join("summary.json"), summary.to_string()).unwrap();
            // Another process may have been faster: then its folder counts.
            if let Err(error) = std::fs::rename(aside.path(), &folder) {
                assert!(folder.exists(), "{}: {error}", folder.display());
            }
        }
        folder
    }

    fn hash(value: &impl Hash) -> u64 {
        let mut hasher = DefaultHasher::new();
        value.hash(&mut hasher);
        hasher.finish()
    }
}

/// The summary that `--json` prints.
pub fn build_file(input: &Path, output: &Path, options: &str) -> serde_json::Value {
    let mut arguments = vec![input.as_os_str(), output.as_os_str(), OsStr::new("--json")];
    arguments.extend(options.split_whitespace().map(OsStr::new));
    serde_json::from_str(&succeed(arguments)).unwrap()
}

/// A change to one file of an archive: its new content, or `None` to leave it out.
pub type Change<'a> = dyn Fn(&str, Vec<u8>) -> Option<Vec<u8>> + 'a;

/// Copy an archive, with changes.
pub fn rewrite(from: &Path, to: &Path, change: &Change) {
    let mut archive = ZipArchive::new(std::fs::File::open(from).unwrap()).unwrap();
    let mut writer = ZipWriter::new(std::fs::File::create(to).unwrap());
    for index in 0..archive.len() {
        let mut file = archive.by_index(index).unwrap();
        let name = file.name().unwrap().into_owned();
        let mut content = Vec::new();
        file.read_to_end(&mut content).unwrap();
        if let Some(content) = change(&name, content) {
            writer.start_file(name, SimpleFileOptions::default().unix_permissions(0o755)).unwrap();
            writer.write_all(&content).unwrap();
        }
    }
    writer.finish().unwrap();
}

/// Replace text in modelDescription.xml, which must be there.
pub fn edit_description(from: &Path, to: &Path, old: &str, new: &str) {
    rewrite(from, to, &|name, content| {
        if name != "modelDescription.xml" {
            return Some(content);
        }
        let text = String::from_utf8(content).unwrap();
        assert!(text.contains(old), "{old} is not in the description");
        Some(text.replace(old, new).into_bytes())
    });
}

pub fn unzip(fmu: &Path, folder: &Path) {
    ZipArchive::new(std::fs::File::open(fmu).unwrap()).unwrap().extract(folder).unwrap();
}

/// The slope of log(error) over log(h), by least squares.
pub fn order(h: &[f64], errors: &[f64]) -> f64 {
    let x: Vec<f64> = h.iter().map(|h| h.ln()).collect();
    let y: Vec<f64> = errors.iter().map(|e| e.ln()).collect();
    let mean = |v: &[f64]| v.iter().sum::<f64>() / v.len() as f64;
    let (mx, my) = (mean(&x), mean(&y));
    let covariance: f64 = x.iter().zip(&y).map(|(x, y)| (x - mx) * (y - my)).sum();
    covariance / x.iter().map(|x| (x - mx).powi(2)).sum::<f64>()
}

/// Classical Runge-Kutta, the reference where no formula is known: fourth order, so with steps a
/// thousandth of the time scale its error is near rounding.
pub fn runge_kutta<const N: usize>(
    f: impl Fn(f64, &[f64; N]) -> [f64; N],
    mut x: [f64; N],
    start: f64,
    span: f64,
    steps: usize,
) -> [f64; N] {
    let h = span / steps as f64;
    let moved = |x: &[f64; N], k: &[f64; N], by: f64| std::array::from_fn(|i| x[i] + by * k[i]);
    for n in 0..steps {
        let t = start + n as f64 * h;
        let k1 = f(t, &x);
        let k2 = f(t + h / 2.0, &moved(&x, &k1, h / 2.0));
        let k3 = f(t + h / 2.0, &moved(&x, &k2, h / 2.0));
        let k4 = f(t + h, &moved(&x, &k3, h));
        x = std::array::from_fn(|i| x[i] + h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]));
    }
    x
}

/// Solve a small dense system by elimination with partial pivoting.
pub fn solve<const N: usize>(mut a: [[f64; N]; N], mut b: [f64; N]) -> [f64; N] {
    for k in 0..N {
        let pivot = (k..N).max_by(|&i, &j| a[i][k].abs().total_cmp(&a[j][k].abs())).unwrap();
        a.swap(k, pivot);
        b.swap(k, pivot);
        for i in k + 1..N {
            let factor = a[i][k] / a[k][k];
            let pivot_row = a[k];
            for (value, above) in a[i].iter_mut().zip(pivot_row).skip(k) {
                *value -= factor * above;
            }
            b[i] -= factor * b[k];
        }
    }
    for i in (0..N).rev() {
        for j in i + 1..N {
            b[i] -= a[i][j] * b[j];
        }
        b[i] /= a[i][i];
    }
    b
}
