//! Unzip an FMU safely; write one reproducibly.
//!
//! An FMU comes from elsewhere, so its archive is not trusted: every name is checked before
//! the first byte is written, and sizes are held to what the directory declares. A refusal names the entry.
//!
//! The archive that we write depends on its content alone: fixed times, permissions, order and compression
//! level. What is taken over from another archive is read from there again, not from where it was unpacked.

mod careful;

use crate::system;
use careful::Careful;
use std::collections::{HashMap, HashSet};
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use zip::result::ZipError;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, System, ZipArchive, ZipWriter};

/// Unpack `fmu` into the folder `into`, which is made if it is missing.
pub fn unpack(fmu: &Path, into: &Path) -> Result<Unpacked, ArchiveError> {
    unpack_within(fmu, into, &Limits::DEFAULT)
}

/// What an archive held, in its order. Names are normalised: `/` between the parts, none at the end.
#[derive(Debug)]
pub struct Unpacked {
    pub entries: Vec<UnpackedEntry>,
    path: PathBuf,
    /// Held open: another file of that name is not what was read.
    original: File,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnpackedEntry {
    /// Its number in the archive.
    pub index: usize,
    pub name: String,
    pub is_dir: bool,
    /// Permission bits, where the archive was made on a system that has them.
    pub mode: Option<u32>,
}

impl UnpackedEntry {
    pub fn executable(&self) -> bool {
        self.mode.is_some_and(|mode| mode & 0o111 != 0)
    }
}

/// One file of an archive to be written. A name that ends in `/` is an empty folder.
#[derive(Debug, Clone)]
pub struct Entry {
    pub name: String,
    pub content: Content,
    pub executable: bool,
}

#[derive(Debug, Clone)]
pub enum Content {
    Bytes(Vec<u8>),
    /// An entry of the original archive, by its number. The unpacked file is not asked: the model may have
    /// changed it.
    Original(usize),
}

/// Write `files` as an archive into `to`: the same files give the same bytes. `out` is its name in messages;
/// `original` is the archive that [`Content::Original`] speaks of.
///
/// `modelDescription.xml` comes first, for readers that stream; the rest follows in the byte order of the
/// names.
pub fn write(
    to: &File,
    out: &Path,
    mut files: Vec<Entry>,
    original: Option<&Unpacked>,
) -> Result<(), ArchiveError> {
    for file in &mut files {
        file.name = normal_name(&file.name)
            .map(|name| if file.name.ends_with(['/', '\\']) { name + "/" } else { name })
            .map_err(|why| refused(out, &file.name, why))?;
    }
    files.sort_by(|a, b| {
        let rank = |entry: &Entry| entry.name != "modelDescription.xml";
        (rank(a), &a.name).cmp(&(rank(b), &b.name))
    });
    let mut names = Names::default();
    for file in &files {
        let is_dir = file.name.ends_with('/');
        names.add(file.name.trim_end_matches('/'), is_dir).map_err(|why| refused(out, &file.name, why))?;
    }
    let mut to = Careful::new(BufWriter::new(to));
    let result = write_zip(&mut to, out, files, original);
    // What went wrong with the file comes first: the rest follows from it.
    match to.finish() {
        Err(error) => Err(io_error("write", out)(error)),
        Ok(()) => result,
    }
}

/// Do the two paths lead to one file? Links, soft and hard, are followed.
pub fn same_file(a: &Path, b: &Path) -> bool {
    match (fs::canonicalize(a), fs::canonicalize(b)) {
        (Ok(a), Ok(b)) if a == b => true,
        (Ok(a), Ok(b)) => system::same_inode(&a, &b),
        // A file that is not there yet: its folder decides, so that `./x` is `x`.
        (Err(_), Err(_)) => match (absent(a), absent(b)) {
            (Some(a), Some(b)) => a == b,
            _ => a == b,
        },
        _ => false,
    }
}

/// Why an archive was refused, or could not be written.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    #[error("{} is not a zip archive ({found}); an FMU is a zip file", path.display())]
    NotZip { path: PathBuf, found: String },
    #[error("{} is a damaged or truncated zip archive ({what}); copy it again, or export it again", path.display())]
    Damaged { path: PathBuf, what: String },
    #[error("{}: entry {entry:?} {why}", path.display())]
    Refused { path: PathBuf, entry: String, why: Refusal },
    #[error("{} holds {found} entries, more than the {limit} that are accepted; re-export it with fewer resources", path.display())]
    TooManyEntries { path: PathBuf, found: usize, limit: usize },
    #[error("cannot {doing} {}: {source}", path.display())]
    Io { doing: &'static str, path: PathBuf, source: io::Error },
}

/// What is wrong with one entry.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error("leads out of the archive (`..`); an FMU may name only files inside itself")]
    Escapes,
    #[error("has an absolute name; an FMU may name only files inside itself")]
    Absolute,
    #[error("is a link or a special file; replace it by the file itself")]
    Link,
    #[error("cannot be a file name ({0}); rename it")]
    BadName(&'static str),
    #[error("appears twice (the other is {0:?}); file systems differ on which one counts, so remove one")]
    Duplicate(String),
    #[error("is a file, but other entries lie inside it as in a folder; rename one")]
    FileAndFolder,
    #[error("is encrypted; decrypt the archive first")]
    Encrypted,
    #[error("is compressed with {0}; zip it again with deflate, which the FMI standard asks for")]
    Compression(String),
    #[error("is damaged ({0}); copy the FMU again, or export it again")]
    Damaged(String),
    #[error("would bring the unpacked FMU to {0} bytes, more than the {1} that are accepted")]
    TooLarge(u64, u64),
    #[error(
        "would bring the unpacked FMU to {0} bytes, more than {1} times the archive: it looks like a zip bomb"
    )]
    Bomb(u64, u64),
}

/// How much an archive may ask for. Deflate ends at 1032:1, so beyond the ratio lie only archives of zeros,
/// or whose entries share their data. Small archives may have any ratio.
struct Limits {
    entries: usize,
    total: u64,
    ratio: u64,
    ratio_from: u64,
}

impl Limits {
    const DEFAULT: Limits = Limits { entries: 200_000, total: 8 << 30, ratio: 1000, ratio_from: 64 << 20 };
}

fn unpack_within(fmu: &Path, into: &Path, limits: &Limits) -> Result<Unpacked, ArchiveError> {
    let mut archive = open(fmu)?;
    if archive.len() > limits.entries {
        let (found, limit) = (archive.len(), limits.entries);
        return Err(ArchiveError::TooManyEntries { path: fmu.into(), found, limit });
    }
    let archive_size = fs::metadata(fmu).map_err(io_error("read", fmu))?.len();
    if archive.has_duplicate_names()
        && let Some(name) = repeated_name(&mut archive, fmu)?
    {
        return Err(refused(fmu, &name, Refusal::Duplicate(name.clone())));
    }

    // All names and declared sizes first: a refused archive leaves nothing behind.
    let mut names = Names::default();
    let mut total: u64 = 0;
    let mut entries = Vec::with_capacity(archive.len());
    for index in 0..archive.len() {
        let found = archive.by_index_data(index).map_err(|e| damaged(fmu, e))?;
        let raw = found.name().map_err(|e| damaged(fmu, e))?.into_owned();
        let refuse = |why| refused(fmu, &raw, why);
        if found.encrypted() {
            return Err(refuse(Refusal::Encrypted));
        }
        let kind = (found.external_attributes() >> 16) & 0o170_000;
        let has_modes = matches!(found.system(), System::Unix | System::OsDarwin);
        if has_modes && !matches!(kind, 0 | 0o100_000 | 0o040_000) {
            return Err(refuse(Refusal::Link));
        }
        if !matches!(found.compression(), CompressionMethod::Stored | CompressionMethod::Deflated) {
            return Err(refuse(Refusal::Compression(format!("{:?}", found.compression()))));
        }
        let is_dir = raw.ends_with(['/', '\\']) || (has_modes && kind == 0o040_000);
        let name = normal_name(&raw).map_err(refuse)?;
        if name.is_empty() {
            continue; // "./", which some zip programs write
        }
        names.add(&name, is_dir).map_err(refuse)?;
        total = total.saturating_add(found.size());
        if total > limits.total {
            return Err(refuse(Refusal::TooLarge(total, limits.total)));
        }
        if total > limits.ratio_from && total / archive_size.max(1) > limits.ratio {
            return Err(refuse(Refusal::Bomb(total, limits.ratio)));
        }
        let mode = has_modes.then(|| (found.external_attributes() >> 16) & 0o777).filter(|&mode| mode != 0);
        entries.push(UnpackedEntry { index, name, is_dir, mode });
    }

    fs::create_dir_all(into).map_err(io_error("create the folder", into))?;
    let mut made = HashSet::new();
    for entry in &entries {
        let path = into.join(&entry.name);
        let folder = if entry.is_dir { path.as_path() } else { path.parent().unwrap_or(into) };
        if made.insert(folder.to_path_buf()) {
            fs::create_dir_all(folder).map_err(io_error("create the folder", folder))?;
        }
        if !entry.is_dir {
            extract(&mut archive, fmu, entry, &path)?;
        }
    }
    Ok(Unpacked { entries, path: fmu.into(), original: archive.into_inner().into_inner() })
}

fn open(fmu: &Path) -> Result<ZipArchive<BufReader<File>>, ArchiveError> {
    let not_zip = |found: String| ArchiveError::NotZip { path: fmu.into(), found };
    // Before it is opened: a pipe that nobody writes to would keep us waiting.
    let about = fs::metadata(fmu).map_err(io_error("open", fmu))?;
    if !about.is_file() && !about.is_dir() {
        return Err(not_zip("it is a pipe or a device; copy its content to a file first".into()));
    }
    let mut file = File::open(fmu).map_err(io_error("open", fmu))?;
    if about.is_dir() {
        return Err(not_zip("it is a folder".into()));
    }
    let mut head = Vec::new();
    Read::by_ref(&mut file).take(16).read_to_end(&mut head).map_err(io_error("read", fmu))?;
    file.seek(SeekFrom::Start(0)).map_err(io_error("read", fmu))?;
    ZipArchive::new(BufReader::new(file)).map_err(|e| match e {
        ZipError::Io(e) if e.kind() != io::ErrorKind::UnexpectedEof => io_error("read", fmu)(e),
        e if head.starts_with(b"PK") => damaged(fmu, e),
        _ if head.is_empty() => not_zip("it is empty".into()),
        _ => not_zip(format!("it begins with {}", shown(&head))),
    })
}

fn extract(
    archive: &mut ZipArchive<BufReader<File>>,
    fmu: &Path,
    entry: &UnpackedEntry,
    path: &Path,
) -> Result<(), ArchiveError> {
    let broken = |what: String| refused(fmu, &entry.name, Refusal::Damaged(what));
    let mut content = archive.by_index(entry.index).map_err(|e| broken(e.to_string()))?;
    let declared = content.size();
    // `create_new`: nothing that lies there already, a link least of all, is written through.
    let mut file =
        OpenOptions::new().write(true).create_new(true).open(path).map_err(io_error("write", path))?;
    let mut written: u64 = 0;
    let mut buffer = vec![0; 64 << 10];
    loop {
        let n = match content.read(&mut buffer) {
            Ok(0) => break,
            Ok(n) => n,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
            Err(e) => return Err(broken(e.to_string())),
        };
        written += n as u64;
        if written > declared {
            break;
        }
        file.write_all(&buffer[..n]).map_err(io_error("write", path))?;
    }
    if written != declared {
        return Err(broken(format!("it declares {declared} bytes but holds {written}")));
    }
    system::set_executable(&file, entry.executable()).map_err(io_error("write", path))
}

/// The first file that the central directory lists twice. The zip crate keeps only the last of such
/// entries and says that there were some, not which.
fn repeated_name(
    archive: &mut ZipArchive<BufReader<File>>,
    fmu: &Path,
) -> Result<Option<String>, ArchiveError> {
    let mut file = BufReader::new(File::open(fmu).map_err(io_error("open", fmu))?);
    file.seek(SeekFrom::Start(archive.central_directory_start())).map_err(io_error("read", fmu))?;
    let mut seen = HashSet::new();
    loop {
        let mut header = [0u8; 46];
        if file.read_exact(&mut header).is_err() || !header.starts_with(b"PK\x01\x02") {
            return Ok(None); // only folders were repeated, which is harmless
        }
        let length = |at: usize| usize::from(u16::from_le_bytes([header[at], header[at + 1]]));
        let mut name = vec![0; length(28)];
        file.read_exact(&mut name).map_err(io_error("read", fmu))?;
        file.seek_relative((length(30) + length(32)) as i64).map_err(io_error("read", fmu))?;
        if !name.ends_with(b"/") && !name.ends_with(b"\\") && !seen.insert(name.clone()) {
            return Ok(Some(String::from_utf8_lossy(&name).into_owned()));
        }
    }
}

/// The name with `/` between its parts and nothing at the ends, or why it cannot be used.
/// Backslashes count as separators: some Windows tools write them, against the zip standard.
fn normal_name(raw: &str) -> Result<String, Refusal> {
    if raw.len() > 4096 {
        return Err(Refusal::BadName("longer than 4096 bytes"));
    }
    if raw.contains('\0') {
        return Err(Refusal::BadName("it contains a NUL byte"));
    }
    if raw.starts_with(['/', '\\']) || matches!(raw.as_bytes(), [c, b':', ..] if c.is_ascii_alphabetic()) {
        return Err(Refusal::Absolute);
    }
    if system::COLON_IS_SPECIAL && raw.contains(':') {
        return Err(Refusal::BadName("Windows gives the colon another meaning"));
    }
    let parts: Vec<&str> = raw.split(['/', '\\']).filter(|part| !matches!(*part, "" | ".")).collect();
    if parts.contains(&"..") {
        return Err(Refusal::Escapes);
    }
    if parts.len() > 100 {
        return Err(Refusal::BadName("more than 100 folders deep"));
    }
    Ok(parts.join("/"))
}

/// The names of one archive, compared as a case-insensitive file system does.
#[derive(Default)]
struct Names {
    seen: HashMap<String, Seen>,
}

enum Seen {
    Folder,
    File(String),
}

impl Names {
    fn add(&mut self, name: &str, is_dir: bool) -> Result<(), Refusal> {
        let key = name.to_lowercase();
        for (slash, _) in key.match_indices('/') {
            if let Seen::File(_) = self.seen.entry(key[..slash].into()).or_insert(Seen::Folder) {
                return Err(Refusal::FileAndFolder);
            }
        }
        match (self.seen.get(&key), is_dir) {
            (None, true) => self.seen.insert(key, Seen::Folder),
            (None, false) => self.seen.insert(key, Seen::File(name.into())),
            (Some(Seen::Folder), true) => None, // said twice, harmless
            (Some(Seen::File(other)), false) => return Err(Refusal::Duplicate(other.clone())),
            _ => return Err(Refusal::FileAndFolder),
        };
        Ok(())
    }
}

fn write_zip<W: Write + Seek>(
    to: &mut Careful<W>,
    out: &Path,
    files: Vec<Entry>,
    original: Option<&Unpacked>,
) -> Result<(), ArchiveError> {
    let zip_error = |e: ZipError| match e {
        ZipError::Io(e) => io_error("write", out)(e),
        e => io_error("write", out)(io::Error::other(e)),
    };
    let mut source = original.map(Unpacked::reopen).transpose()?;
    let mut zip = ZipWriter::new(to);
    for entry in files {
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Deflated)
            .compression_level(Some(6))
            .last_modified_time(DateTime::default()) // 1980-01-01 00:00
            .system(System::Unix)
            .unix_permissions(if entry.executable || entry.name.ends_with('/') { 0o755 } else { 0o644 });
        if entry.name.ends_with('/') {
            zip.add_directory(&*entry.name, options).map_err(zip_error)?;
            continue;
        }
        match entry.content {
            Content::Bytes(bytes) => {
                let large = bytes.len() as u64 >= zip::ZIP64_BYTES_THR;
                zip.start_file(&*entry.name, options.large_file(large)).map_err(zip_error)?;
                zip.write_all(&bytes).map_err(io_error("write", out))?;
            }
            Content::Original(index) => {
                let (Some(archive), Some(original)) = (&mut source, original) else {
                    return Err(refused(out, &entry.name, Refusal::Damaged("it has no original".into())));
                };
                let broken = |e: String| refused(&original.path, &entry.name, Refusal::Damaged(e));
                let mut content = archive.by_index(index).map_err(|e| broken(e.to_string()))?;
                // Deflate can grow a file a little: decide on zip64 well below the limit.
                let large = content.size() >= zip::ZIP64_BYTES_THR - (64 << 20);
                zip.start_file(&*entry.name, options.large_file(large)).map_err(zip_error)?;
                copy(&mut content, &mut zip, &original.path, out)?;
            }
        }
    }
    zip.finish().map_err(zip_error)?;
    Ok(())
}

impl Unpacked {
    /// The archive again, whatever lies under its name by now.
    fn reopen(&self) -> Result<ZipArchive<BufReader<File>>, ArchiveError> {
        let file = self.original.try_clone().map_err(io_error("read", &self.path))?;
        ZipArchive::new(BufReader::new(file)).map_err(|e| damaged(&self.path, e))
    }
}

/// `io::copy`, except that the error says which side failed.
fn copy(from: &mut impl Read, to: &mut impl Write, source: &Path, out: &Path) -> Result<(), ArchiveError> {
    let mut buffer = vec![0; 64 << 10];
    loop {
        match from.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(n) => to.write_all(&buffer[..n]).map_err(io_error("write", out))?,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(io_error("read", source)(e)),
        }
    }
}

/// The full path of a file that does not exist, in a folder that does.
fn absent(path: &Path) -> Option<PathBuf> {
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    Some(fs::canonicalize(folder).ok()?.join(path.file_name()?))
}

/// The first bytes of a file, for a person: as text where they are text.
fn shown(head: &[u8]) -> String {
    if head.iter().all(|b| (b' '..=b'~').contains(b) || b"\r\n\t".contains(b)) {
        format!("{:?}", String::from_utf8_lossy(head))
    } else {
        let hex: Vec<String> = head.iter().take(8).map(|b| format!("{b:02x}")).collect();
        format!("the bytes {}", hex.join(" "))
    }
}

fn io_error(doing: &'static str, path: &Path) -> impl Fn(io::Error) -> ArchiveError {
    move |source| ArchiveError::Io { doing, path: path.into(), source }
}

fn damaged(path: &Path, what: ZipError) -> ArchiveError {
    ArchiveError::Damaged { path: path.into(), what: what.to_string() }
}

fn refused(path: &Path, entry: &str, why: Refusal) -> ArchiveError {
    ArchiveError::Refused { path: path.into(), entry: entry.into(), why }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
