//! What builder and worker say to each other.
//!
//! The request is a file in the worker's own folder, written before the worker starts. Everything else goes
//! through a pipe from the worker to the builder: any number of reports, then one answer. The worker finds
//! the pipe's end as its standard input, which it writes to: standard output and error belong to the FMU,
//! which prints there.
//!
//! Messages are postcard, each behind its length. Unlike JSON it keeps NaN, infinities and every bit of a
//! number, and paths that are not Unicode (see [`path`]).

use super::confine::Confinement;
use crate::ability::{AGAIN, Lack};
use crate::system;
use fmu_runtime::fmi::Witness;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::any::Any;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// The name of the request's file.
pub const REQUEST: &str = "request.postcard";

/// The name of the file with the number of the FMU's last call.
pub const LAST_CALL: &str = "last-call";

/// Longest message that is read: the samples of the largest models take some hundred megabytes.
const LONGEST: u32 = 1 << 30;

/// What the worker is asked, and what it may take from the machine while it answers.
#[derive(Serialize, Deserialize)]
pub struct Envelope<Req> {
    pub confinement: Confinement,
    pub request: Req,
}

/// From worker to builder.
#[derive(Debug, Serialize, Deserialize)]
pub enum Message<Res> {
    /// The risky step that comes next, such as `fmi2EnterInitializationMode`.
    Phase(String),
    /// How much of the work is done, from 0 to 1.
    Progress(f64),
    Done(Res),
    Refused(Refusal),
}

/// Why there is no answer, for the user; and what the FMU could do without.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    pub message: String,
    pub lacks: Vec<Lack>,
}

impl From<String> for Refusal {
    fn from(message: String) -> Refusal {
        Refusal { message, lacks: Vec::new() }
    }
}

impl From<Vec<Lack>> for Refusal {
    fn from(lacks: Vec<Lack>) -> Refusal {
        let seen: Vec<&str> = lacks.iter().map(|lack| lack.seen.as_str()).collect();
        Refusal { message: seen.join("; "), lacks }
    }
}

pub fn encode<T: Serialize>(value: &T) -> Result<Vec<u8>, String> {
    postcard::to_stdvec(value).map_err(|error| error.to_string())
}

pub fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, String> {
    match postcard::take_from_bytes(bytes) {
        Ok((value, [])) => Ok(value),
        Ok((_, rest)) => Err(format!("{} bytes too many", rest.len())),
        Err(error) => Err(error.to_string()),
    }
}

/// Write one message: its length, then its bytes, in one call, so that a crash tears it at worst at the end.
pub fn send(to: &mut impl Write, message: &[u8]) -> io::Result<()> {
    let length = u32::try_from(message.len()).ok().filter(|&length| length <= LONGEST);
    let length = length.ok_or_else(|| io::Error::other("the message is too long"))?;
    let mut frame = Vec::with_capacity(4 + message.len());
    frame.extend(length.to_le_bytes());
    frame.extend(message);
    to.write_all(&frame)
}

/// Read one message; `None` at the end. The length is not trusted: memory is taken as the bytes arrive.
pub fn receive(from: &mut impl Read) -> io::Result<Option<Vec<u8>>> {
    let mut length = [0; 4];
    match from.read_exact(&mut length) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        Err(error) => return Err(error),
    }
    let length = u32::from_le_bytes(length);
    if length > LONGEST {
        return Err(io::Error::other(format!("a message of {length} bytes is announced")));
    }
    let mut message = Vec::new();
    from.take(length.into()).read_to_end(&mut message)?;
    Ok((message.len() == length as usize).then_some(message))
}

/// The worker's side: read the request, let `handler` answer it, send the answer.
///
/// An error value is an answer too: it becomes `WorkerError::Refused`.
pub fn serve<Req, Res>(
    request: &Path,
    handler: impl FnOnce(Req, &mut Reporter) -> Result<Res, Refusal>,
) -> ExitCode
where
    Req: DeserializeOwned,
    Res: Serialize,
{
    match answer(request, handler) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            let _ = writeln!(io::stderr(), "{message}");
            ExitCode::FAILURE
        }
    }
}

fn answer<Req: DeserializeOwned, Res: Serialize>(
    request: &Path,
    handler: impl FnOnce(Req, &mut Reporter) -> Result<Res, Refusal>,
) -> Result<(), String> {
    let trouble = |error: io::Error| format!("{}: {error}", request.display());
    // A file of our own: what the FMU does to its standard input does not concern it.
    let pipe = system::own_stdin().map_err(|error| format!("the builder cannot be reached: {error}"))?;
    let bytes = fs::read(request).map_err(trouble)?;
    let word = File::options().read(true).write(true).open(request.with_file_name(LAST_CALL));
    let witness = word.ok().and_then(|word| system::share_word(&word)).map(Witness::new).unwrap_or_default();
    // The worker's folder is in the builder's.
    let lock =
        request.ancestors().nth(2).map_or(PathBuf::new(), |scratch| scratch.join(crate::scratch::LOCK));
    let Envelope { confinement, request } =
        decode(&bytes).map_err(|error| format!("{} is no request: {error}", request.display()))?;
    // It holds for the threads that are started from here on.
    confinement.apply()?;
    system::end_with_parent(&lock);

    let mut reporter =
        Reporter { pipe, witness, phase: "", fraction: 0.0, sent: None, instances: 0, kept: Vec::new() };
    let answer = match handler(request, &mut reporter) {
        Ok(answer) => Message::Done(answer),
        Err(refusal) => Message::Refused(refusal),
    };
    let bytes = encode(&answer).map_err(|error| format!("the answer cannot be encoded: {error}"))?;
    send(&mut reporter.pipe, &bytes).map_err(|error| format!("the answer cannot be sent: {error}"))?;
    // Now an FMU may crash or hang while it is freed.
    drop(reporter);
    Ok(())
}

/// Tells the builder what the worker is about to do, so that a crash can be named.
pub struct Reporter {
    /// Dropped first, before what is kept: then the builder knows that nothing more is to come.
    pipe: File,
    /// Told of each call of the FMU.
    pub witness: Witness,
    phase: &'static str,
    fraction: f64,
    sent: Option<Instant>,
    instances: u32,
    kept: Vec<Box<dyn Any>>,
}

impl Reporter {
    /// One more instance of the FMU: how many there have been.
    pub fn count_instance(&mut self) -> u32 {
        self.instances += 1;
        self.instances
    }

    /// Name a step on the way to a running model. In a process that has had an instance already, all of them
    /// are that of another one.
    pub fn opening(&mut self, name: &'static str) {
        self.phase(if self.instances > 1 { AGAIN } else { name });
    }

    /// Drop this only when the answer was sent.
    pub fn keep(&mut self, what: impl Any) {
        self.kept.push(Box::new(what));
    }

    /// Name a risky step before it is taken. Costs one write, and nothing if the name is as before.
    pub fn phase(&mut self, name: &'static str) {
        if self.phase != name {
            self.phase = name;
            self.send(&Message::Phase(name.into()));
        }
    }

    /// Tell how far the work is, from 0 to 1. Sent ten times a second at most.
    pub fn progress(&mut self, fraction: f64) {
        let due = self.sent.is_none_or(|at| at.elapsed() >= Duration::from_millis(100));
        let over = fraction >= 1.0 && self.fraction < 1.0;
        self.fraction = fraction;
        if due || over {
            self.send(&Message::Progress(fraction));
            self.sent = Some(Instant::now());
        }
    }

    /// Failures are ignored: without a builder the worker ends soon (`end_with_parent`).
    fn send(&mut self, message: &Message<()>) {
        if let Ok(bytes) = encode(message) {
            let _ = send(&mut self.pipe, &bytes);
        }
    }
}

/// Paths as the system has them: serde's own way refuses those that are not Unicode.
/// For use with `#[serde(with = "crate::lab::protocol::path")]`.
pub mod path {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use std::ffi::OsString;
    use std::path::{Path, PathBuf};

    pub fn serialize<S: Serializer>(path: &Path, to: S) -> Result<S::Ok, S::Error> {
        path.as_os_str().serialize(to)
    }

    pub fn deserialize<'a, D: Deserializer<'a>>(from: D) -> Result<PathBuf, D::Error> {
        OsString::deserialize(from).map(PathBuf::from)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn every_number_survives() {
        let numbers = vec![f64::NAN, f64::INFINITY, -0.0, 5e-324, 0.1];
        let read: Message<Vec<f64>> = decode(&encode(&Message::Done(numbers.clone())).unwrap()).unwrap();
        let Message::Done(read) = read else { panic!("{read:?}") };
        let bits = |numbers: &[f64]| numbers.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&read), bits(&numbers));
    }

    #[cfg(unix)]
    #[test]
    fn every_path_survives() {
        use std::os::unix::ffi::OsStrExt;
        use std::path::PathBuf;
        #[derive(Serialize, Deserialize)]
        struct Paths(#[serde(with = "super::path")] PathBuf);
        let odd = PathBuf::from(std::ffi::OsStr::from_bytes(b"/tmp/caf\xe9"));
        let Paths(read) = decode(&encode(&Paths(odd.clone())).unwrap()).unwrap();
        assert_eq!(read, odd);
    }

    #[test]
    fn torn_and_endless_messages_are_seen() {
        let mut sent = Vec::new();
        send(&mut sent, b"hello").unwrap();
        send(&mut sent, b"").unwrap();
        let mut pipe = &sent[..];
        assert_eq!(receive(&mut pipe).unwrap().unwrap(), b"hello");
        assert_eq!(receive(&mut pipe).unwrap().unwrap(), b"");
        assert!(receive(&mut pipe).unwrap().is_none());
        assert!(receive(&mut &sent[..7]).unwrap().is_none());
        assert!(receive(&mut &[0xff, 0xff, 0xff, 0xff, 1][..]).is_err());
    }
}
