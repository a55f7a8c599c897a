//! Random input for everything that reads what others wrote, and random calls of the C interface against a
//! model of its state machine. Nothing may panic, hang or crash; what is accepted must be consistent.
//!
//! A few thousand of each are part of the tests, always the same ones; `tests/run` then tries new ones for a
//! minute, and `tests/fuzz/run` ten million.

mod mutate;
mod seeds;

use crate::driver::{ERROR, Exported, Fmu, OK};
use crate::util::{build, data, example};
use fmu_runtime::lu::Factors;
use fmu_runtime::plan::Plan;
use model_description::CoSimulation;
use mutate::{Random, bytes, folder};
use seeds::fuzz;
use serde_json::Value;
use std::io::Read;
use std::path::Path;
use std::ptr;
use tempfile::TempDir;

/// Descriptions of the reference models, of models from tools, and of those that break the rules.
fn descriptions() -> Vec<Vec<u8>> {
    let folder = TempDir::new().unwrap();
    let examples = ["dahlquist", "bouncing-ball", "all-types"].map(|name| example(name, folder.path()));
    let real = ["mo2fmu_Dahlquist.fmu", "mo2fmu_BouncingBall.fmu"].map(data);
    let read = |path: &Path| {
        let mut archive = zip::ZipArchive::new(std::fs::File::open(path).unwrap()).unwrap();
        let mut xml = Vec::new();
        archive.by_name("modelDescription.xml").unwrap().read_to_end(&mut xml).unwrap();
        xml
    };
    examples.iter().chain(&real).map(|path| read(path)).collect()
}

#[test]
fn description() {
    let corpus = descriptions();
    let words = [
        "<",
        ">",
        "/>",
        "\"",
        "=",
        "&amp;",
        "&#0;",
        "&x;",
        "<!--",
        "-->",
        "<![CDATA[",
        "]]>",
        "<?",
        "?>",
        "<!DOCTYPE a [",
        "xmlns:q=\"\"",
        "µ",
        "名",
        "\u{feff}",
        "NaN",
        "INF",
        "-1",
        "4294967296",
        "1e400",
        "true",
        "derivative=\"1\"",
        "dependencies=\"\"",
        "dependenciesKind=\"constant\"",
        "causality=\"input\"",
        "<Real/>",
        "<Unknown index=\"1\"/>",
        "encoding=\"UTF-16\"",
    ];
    let request = CoSimulation { guid: "g".into(), step_size: 1e-3, ..CoSimulation::default() };
    fuzz("description", 1000, |random| {
        let Ok(model) = model_description::read(&bytes(random, &corpus, &words)) else { return false };
        model_description::read(&model.write()).expect("what is written as it was is read again");
        let rewritten =
            model_description::read(&model.into_co_simulation(&request)).expect("so is what is rewritten");
        assert_eq!(rewritten.warnings, [""; 0], "nothing is left to mend");
        true
    });
}

#[test]
fn archive() {
    let folder = folder();
    let small = |files: &[(&str, &str)]| {
        use std::io::Write;
        let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
        for (name, content) in files {
            writer.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
            writer.write_all(content.as_bytes()).unwrap();
        }
        writer.finish().unwrap().into_inner()
    };
    let corpus = [
        small(&[("modelDescription.xml", "<x/>"), ("binaries/linux64/m.so", "x"), ("resources/a", "")]),
        small(&[("a/b/c", &"long ".repeat(300)), ("a/b/d", "2"), ("a/", "")]),
        small(&[]),
    ];
    let words =
        ["PK\x03\x04", "PK\x01\x02", "PK\x05\x06", "..", "/", "\\", "C:", "\0", "\u{ff}\u{ff}", "a/b"];
    let (fmu, inside) = (folder.path().join("x.fmu"), folder.path().join("x"));
    fuzz("archive", 2000, |random| {
        std::fs::write(&fmu, bytes(random, &corpus, &words)).unwrap();
        let unpacked = fmu_builder::archive::unpack(&fmu, &inside);
        let _ = std::fs::remove_dir_all(&inside);
        let strays = std::fs::read_dir(folder.path()).unwrap().count();
        assert_eq!(strays, 1, "something lies outside the folder");
        unpacked.is_ok()
    });
}

#[test]
fn inputs() {
    let folder = folder();
    let path = folder.path().join("u.csv");
    let corpus: Vec<Vec<u8>> = [
        "time,u,v\n0,1,2\n0.5,3,4\n1,5,6\n",
        "\u{feff}\"time\";\"a,b\"\r\n0,5;1e3\r\n1;-2\r\n",
        "time\tx\n0\ttrue\n1\tfalse\n",
        "# comment\ntime, name\n0, \"one \"\"two\"\"\"\n0, b\n",
    ]
    .iter()
    .map(|text| text.as_bytes().to_vec())
    .collect();
    let words = [
        "\"", ",", ";", "\t", "\n", "\r", "NaN", "inf", "-", "1e999", "0x1", "time", "\u{feff}", "\0",
        "\u{ff}", "1,5", "",
    ];
    fuzz("inputs", 4000, |random| {
        std::fs::write(&path, bytes(random, &corpus, &words)).unwrap();
        let Ok(table) = fmu_builder::inputs::InputTable::read_with(&path, |_| false) else { return false };
        assert!(table.times().is_sorted(), "time goes back");
        assert!(table.times().iter().all(|time| time.is_finite()), "time is not a number");
        for column in 0..table.names().count() {
            for time in [f64::NEG_INFINITY, -1.0, 0.0, 0.3, 1.0, 1e300] {
                let _ = (table.value_continuous(column, time), table.value_held(column, time));
            }
        }
        true
    });
}

/// Change one value somewhere in the plan.
fn change(random: &mut Random, value: &mut Value) {
    match value {
        Value::Array(items) if !items.is_empty() => {
            let at = random.below(items.len());
            match random.below(12) {
                0 => drop(items.remove(at)),
                1 => items.insert(at, items[at].clone()),
                2 => items.swap(at, 0),
                _ => change(random, &mut items[at]),
            }
        }
        Value::Object(fields) if !fields.is_empty() => {
            let at = random.below(fields.len());
            let Some((_, field)) = fields.iter_mut().nth(at) else { return };
            change(random, field);
        }
        Value::Number(number) => {
            let near = number.as_i64().unwrap_or(0);
            let odd = [0, 1, near + 1, near - 1, near * 2, 7, 1 << 20, u32::MAX.into(), -1];
            *value = match random.below(8) {
                0 => Value::from(f64::from_bits(random.next())),
                _ => Value::from(*random.pick(&odd)),
            };
        }
        Value::String(text) => text.push_str(["x", "/..", "c", "r", ""][random.below(5)]),
        Value::Bool(flag) => *flag = !*flag,
        other => *other = Value::from(1),
    }
}

/// A plan that passes its check can be executed: no index is out of range, whatever the numbers are.
#[test]
fn plan() {
    let plans = ["dahlquist", "bouncing-ball", "dc-drive", "heat-rod:10"].map(|model| {
        let exported = build(model, "--step 0.01");
        let text = std::fs::read(exported.root.join("resources/plan.json")).unwrap();
        serde_json::from_slice::<Value>(&text).unwrap()
    });
    fuzz("plan", 50_000, |random| {
        let mut value = random.pick(&plans).clone();
        for _ in 0..random.below(4) {
            change(random, &mut value);
        }
        let Ok(plan) = serde_json::from_value::<Plan>(value) else { return false };
        if plan.check().is_err() {
            return false;
        }
        let Ok(mut factors) = Factors::<f64>::new(&plan.elimination, &plan.jacobian) else { return false };
        let jacobian: Vec<f64> =
            plan.jacobian.rows.iter().map(|_| random.below(2000) as f64 - 1000.0).collect();
        let mut balance = factors.balance();
        if factors.refactor(1e-3, &jacobian, &mut balance).is_ok() {
            factors.solve(&mut vec![1.0; plan.states.names.len()]);
        }
        true
    });
}

/// What another program made of a saved state is refused, or can be restored and stepped on.
#[test]
fn serialised_state() {
    let exported = build("bouncing-ball", "--step 0.01");
    let mut fmu = exported.start(0.0, &[]);
    let mut states: Vec<Vec<u8>> = Vec::new();
    for k in 0..4 {
        let state = fmu.save(ptr::null_mut());
        states.push(fmu.serialize(state));
        fmu.free(state);
        fmu.steps(k as f64 * 0.3, 0.01, 30);
    }
    let words = ["\0\0\0\0\0\0\0\0", "\u{7f}\u{7f}\u{7f}", "\x01", "\x00"];
    let clean = fmu.save(ptr::null_mut());
    fuzz("serialised state", 200_000, |random| {
        let Ok(state) = fmu.deserialize(&bytes(random, &states, &words)) else { return false };
        // SAFETY: a state of this instance.
        let status = unsafe { (fmu.f.fmi2SetFMUstate)(fmu.c, state) };
        if status == OK {
            let time = fmu.last_successful_time();
            let _ = fmu.try_step(time, 0.01);
        }
        fmu.free(state);
        fmu.restore(clean);
        true
    });
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Mode {
    Instantiated,
    Initialisation,
    Stepping,
    Terminated,
}

/// The instance as FMI 2.0 describes it: in which mode, after how many steps. Whoever does not call
/// `fmi2SetupExperiment` starts at 0.
#[derive(Clone, Copy, Debug)]
struct Expected {
    mode: Mode,
    steps: usize,
}

const FRESH: Expected = Expected { mode: Mode::Instantiated, steps: 0 };
const H: f64 = 0.01;
const STEPS: usize = 400;

/// Any sequence of calls: each is answered as the state machine of FMI 2.0 says, one that is refused changes
/// nothing, and the values after k steps are those of an undisturbed run, bit by bit, however the instance
/// came there.
#[test]
fn sequences_of_calls() {
    let exported = build("bouncing-ball", "--step 0.01");
    let values = |fmu: &mut Fmu| [fmu.real("h"), fmu.real("v")].map(f64::to_bits);
    let mut undisturbed = exported.start(0.0, &[]);
    let mut known = vec![values(&mut undisturbed)];
    for k in 0..STEPS {
        undisturbed.step(k as f64 * H, H);
        known.push(values(&mut undisturbed));
    }
    fuzz("sequences of calls", 4000, |random| sequence(random, &exported, &known));
}

fn sequence(random: &mut Random, exported: &Exported, known: &[[u64; 2]]) -> bool {
    let mut fmu = exported.instantiate();
    let mut now = FRESH;
    let mut saved: Vec<(*mut std::ffi::c_void, Expected)> = Vec::new();
    for _ in 0..60 {
        let before = now;
        // Half of the calls are those that lead on; the others are anything.
        let call = match (random.below(2), now.mode) {
            (0, Mode::Instantiated) => random.below(2),
            (0, Mode::Initialisation) => 2,
            (0, Mode::Stepping) => 3,
            _ => random.below(12),
        };
        let (status, legal) = match call {
            0 => (fmu.setup(0.0, None), now.mode == Mode::Instantiated),
            1 => {
                let legal = now.mode == Mode::Instantiated;
                if legal {
                    now.mode = Mode::Initialisation;
                }
                (fmu.enter(), legal)
            }
            2 => {
                let legal = now.mode == Mode::Initialisation;
                if legal {
                    now.mode = Mode::Stepping;
                }
                (fmu.exit(), legal)
            }
            3 => {
                let legal = now.mode == Mode::Stepping && now.steps + 1 < known.len();
                if now.mode == Mode::Stepping && !legal {
                    return true; // as far as the values are known
                }
                now.steps += usize::from(legal);
                (fmu.try_step(before.steps as f64 * H, H), legal)
            }
            4 => {
                let legal = now.mode == Mode::Stepping;
                if legal {
                    now.mode = Mode::Terminated;
                }
                (fmu.terminate(), legal)
            }
            5 => {
                now = FRESH;
                (fmu.reset(), true)
            }
            6 => {
                saved.push((fmu.save(ptr::null_mut()), now));
                (OK, true)
            }
            7 if !saved.is_empty() => {
                let (state, then) = *random.pick(&saved);
                fmu.restore(state);
                now = then;
                (OK, true)
            }
            8 => (fmu.try_step(before.steps as f64 * H + 0.5 * H, H), false),
            9 => (fmu.try_step(before.steps as f64 * H, *random.pick(&[-H, f64::NAN, f64::INFINITY])), false),
            10 => {
                let (reference, mut value) = (*random.pick(&[u32::MAX, 1 << 30, 77_777]), 0.0);
                // SAFETY: one reference, one value.
                (unsafe { (fmu.f.fmi2GetReal)(fmu.c, &reference, 1, &mut value) }, false)
            }
            _ => {
                // SAFETY: no arrays are needed for no values; other pointers are null.
                let status = unsafe {
                    match random.below(3) {
                        0 => (fmu.f.fmi2GetReal)(fmu.c, ptr::null(), 1, ptr::null_mut()),
                        1 => (fmu.f.fmi2SetReal)(fmu.c, ptr::null(), 3, ptr::null()),
                        _ => (fmu.f.fmi2CancelStep)(fmu.c),
                    }
                };
                (status, false)
            }
        };
        let expected = if legal { OK } else { ERROR };
        assert_eq!(status, expected, "call {call} in {before:?}: {:?}", fmu.messages().last());
        if now.mode == Mode::Stepping {
            assert_eq!([fmu.real("h"), fmu.real("v")].map(f64::to_bits), known[now.steps], "{now:?}");
        }
    }
    for (state, _) in saved {
        fmu.free(state);
    }
    true
}
