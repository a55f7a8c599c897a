//! Archives as they should not be, and what comes back of those that are fine.

use super::*;

/// One entry, written byte by byte: most of what is tested here no zip program would write.
#[derive(Clone)]
struct Raw {
    name: Vec<u8>,
    data: Vec<u8>,
    method: u16,
    flags: u16,
    mode: u32,
    declared: Option<u32>,
}

fn raw(name: &str) -> Raw {
    Raw { name: name.into(), data: b"content".to_vec(), method: 0, flags: 0, mode: 0o100_644, declared: None }
}

fn crc32(data: &[u8]) -> u32 {
    !data.iter().fold(!0u32, |crc, &byte| {
        (0..8).fold(crc ^ u32::from(byte), |c, _| if c & 1 == 1 { (c >> 1) ^ 0xedb8_8320 } else { c >> 1 })
    })
}

fn zip_bytes(entries: &[Raw]) -> Vec<u8> {
    let (mut body, mut directory) = (Vec::new(), Vec::new());
    for e in entries {
        let offset = body.len() as u32;
        let size = e.declared.unwrap_or(e.data.len() as u32);
        let mut common = Vec::new();
        for v in [20, e.flags, e.method, 0, 0x21] {
            common.extend(v.to_le_bytes());
        }
        for v in [crc32(&e.data), e.data.len() as u32, size] {
            common.extend(v.to_le_bytes());
        }
        common.extend((e.name.len() as u16).to_le_bytes());
        common.extend([0, 0]);
        body.extend(b"PK\x03\x04");
        body.extend(&common);
        body.extend(&e.name);
        body.extend(&e.data);
        directory.extend(b"PK\x01\x02\x1e\x03");
        directory.extend(&common);
        directory.extend([0; 6]);
        directory.extend((e.mode << 16).to_le_bytes());
        directory.extend(offset.to_le_bytes());
        directory.extend(&e.name);
    }
    let (start, n) = (body.len() as u32, entries.len() as u16);
    body.extend(&directory);
    body.extend(b"PK\x05\x06\0\0\0\0");
    body.extend(n.to_le_bytes());
    body.extend(n.to_le_bytes());
    body.extend((directory.len() as u32).to_le_bytes());
    body.extend(start.to_le_bytes());
    body.extend([0, 0]);
    body
}

struct Case {
    folder: tempfile::TempDir,
}

impl Case {
    fn new(bytes: &[u8]) -> Case {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("in.fmu"), bytes).unwrap();
        Case { folder }
    }
    fn fmu(&self) -> PathBuf {
        self.folder.path().join("in.fmu")
    }
    fn target(&self) -> PathBuf {
        self.folder.path().join("unpacked")
    }
    fn unpack(&self) -> Result<Unpacked, ArchiveError> {
        unpack(&self.fmu(), &self.target())
    }
}

fn refusal(entries: &[Raw]) -> (String, Refusal) {
    let case = Case::new(&zip_bytes(entries));
    let answer = match case.unpack() {
        Err(ArchiveError::Refused { entry, why, .. }) => (entry, why),
        other => panic!("{other:?}"),
    };
    let left = fs::read_dir(case.folder.path()).unwrap().count();
    assert!(left <= 2, "something was written outside the folder");
    answer
}

#[test]
fn a_plain_archive_comes_out_as_it_went_in() {
    let mut library = raw("binaries/linux64/m.so");
    library.mode = 0o100_755;
    let mut folder = raw("resources/");
    (folder.data, folder.mode) = (vec![], 0o040_755);
    let case = Case::new(&zip_bytes(&[raw("modelDescription.xml"), library, folder]));
    let entries = case.unpack().unwrap().entries;
    let names: Vec<_> = entries.iter().map(|e| (e.name.as_str(), e.is_dir, e.executable())).collect();
    let expected = [
        ("modelDescription.xml", false, false),
        ("binaries/linux64/m.so", false, true),
        ("resources", true, true),
    ];
    assert_eq!(names, expected);
    assert_eq!(fs::read(case.target().join("binaries/linux64/m.so")).unwrap(), b"content");
    assert!(case.target().join("resources").is_dir());
}

#[test]
fn names_that_leave_the_archive_are_refused() {
    for (name, why) in [
        ("../evil", Refusal::Escapes),
        ("a/../../evil", Refusal::Escapes),
        ("a\\..\\evil", Refusal::Escapes),
        ("..", Refusal::Escapes),
        ("/etc/evil", Refusal::Absolute),
        ("\\\\server\\evil", Refusal::Absolute),
        ("C:\\evil", Refusal::Absolute),
        ("c:evil", Refusal::Absolute),
        ("a\0b", Refusal::BadName("it contains a NUL byte")),
    ] {
        assert_eq!(refusal(&[raw("modelDescription.xml"), raw(name)]), (name.to_string(), why));
    }
}

#[test]
fn a_refused_archive_leaves_nothing_behind() {
    let case = Case::new(&zip_bytes(&[raw("modelDescription.xml"), raw("../evil")]));
    case.unpack().unwrap_err();
    assert!(!case.target().exists());
    assert!(!case.folder.path().join("evil").exists());
}

#[test]
fn links_and_special_files_are_refused() {
    for mode in [0o120_777, 0o010_644, 0o060_644] {
        let mut link = raw("resources/link");
        (link.mode, link.data) = (mode, b"/etc/passwd".to_vec());
        assert_eq!(refusal(&[link]), ("resources/link".into(), Refusal::Link));
    }
}

#[test]
fn duplicates_are_refused_in_every_disguise() {
    for (first, second) in
        [("a/b", "a/b"), ("a/b", "A/B"), ("a/b", "a\\b"), ("a/b", "a//b"), ("a", "./a"), ("É", "é")]
    {
        let (entry, why) = refusal(&[raw("modelDescription.xml"), raw(first), raw(second)]);
        assert_eq!((entry.as_str(), why), (second, Refusal::Duplicate(first.into())));
    }
    let mut folder = raw("a/");
    folder.data.clear();
    Case::new(&zip_bytes(&[folder.clone(), folder])).unpack().expect("a folder may be named twice");
}

#[test]
fn a_file_cannot_be_a_folder_too() {
    assert_eq!(refusal(&[raw("a"), raw("a/b")]), ("a/b".into(), Refusal::FileAndFolder));
    assert_eq!(refusal(&[raw("a/b"), raw("a")]), ("a".into(), Refusal::FileAndFolder));
    assert_eq!(refusal(&[raw("a/b"), raw("A")]), ("A".into(), Refusal::FileAndFolder));
}

#[test]
fn encryption_and_strange_compression_are_refused() {
    let mut secret = raw("secret");
    secret.flags = 1;
    assert_eq!(refusal(&[secret]), ("secret".into(), Refusal::Encrypted));
    let mut lzma = raw("lzma");
    lzma.method = 14;
    let (entry, why) = refusal(&[lzma]);
    assert_eq!(entry, "lzma");
    assert!(matches!(why, Refusal::Compression(_)), "{why}");
}

#[test]
fn backslashes_separate_folders() {
    let case = Case::new(&zip_bytes(&[raw("resources\\deep\\table.csv")]));
    assert_eq!(case.unpack().unwrap().entries[0].name, "resources/deep/table.csv");
    assert!(case.target().join("resources").join("deep").join("table.csv").is_file());
}

#[test]
fn names_in_code_page_437_are_read() {
    let mut german = raw("");
    german.name = b"resources/W\x84rme.txt".to_vec();
    let case = Case::new(&zip_bytes(&[german]));
    assert_eq!(case.unpack().unwrap().entries[0].name, "resources/Wärme.txt");
}

#[test]
fn what_is_no_archive_is_said_to_be_none() {
    let message = |bytes: &[u8]| Case::new(bytes).unpack().unwrap_err().to_string();
    let html = message(b"<!DOCTYPE html><html>");
    assert!(html.ends_with(
        "in.fmu is not a zip archive (it begins with \"<!DOCTYPE html><\"); an FMU is a zip file"
    ));
    assert!(message(b"\x7fELF\x02\x01\x01\0").contains("the bytes 7f 45 4c 46"));
    assert!(message(b"").contains("it is empty"));
    let case = Case::new(b"");
    let folder = unpack(case.folder.path(), &case.target()).unwrap_err().to_string();
    assert!(folder.contains("it is a folder"), "{folder}");
    let missing = unpack(&case.folder.path().join("no.fmu"), &case.target()).unwrap_err().to_string();
    assert!(missing.starts_with("cannot open "), "{missing}");
}

/// Cut anywhere, an archive is refused; it never panics and never comes out whole.
#[test]
fn truncated_archives_are_refused() {
    let whole = zip_bytes(&[raw("modelDescription.xml"), raw("a/b")]);
    for length in 1..whole.len() {
        let message = Case::new(&whole[..length]).unpack().unwrap_err().to_string();
        assert!(length < 2 || message.contains("damaged or truncated"), "{length}: {message}");
    }
}

#[test]
fn changed_content_is_noticed() {
    let mut bytes = zip_bytes(&[raw("a")]);
    let at = bytes.windows(7).position(|w| w == b"content").unwrap();
    bytes[at] ^= 1;
    let message = Case::new(&bytes).unpack().unwrap_err().to_string();
    assert!(message.contains("entry \"a\" is damaged"), "{message}");
}

#[test]
fn an_entry_that_lies_about_its_size_is_refused() {
    for lie in [3, 70] {
        let mut liar = raw("liar");
        liar.declared = Some(lie);
        let (entry, why) = refusal(&[liar]);
        assert_eq!(entry, "liar");
        assert!(matches!(why, Refusal::Damaged(_)), "{lie}: {why}");
    }
}

#[test]
fn bombs_are_refused_by_what_they_declare() {
    let limits = Limits { entries: 3, total: 10_000, ratio: 10, ratio_from: 1000 };
    let unpack = |entries: &[Raw]| {
        let case = Case::new(&zip_bytes(entries));
        unpack_within(&case.fmu(), &case.target(), &limits).unwrap_err()
    };
    let mut bomb = raw("bomb");
    bomb.declared = Some(9_999);
    let refused = unpack(&[bomb.clone()]);
    assert!(matches!(refused, ArchiveError::Refused { why: Refusal::Bomb(9_999, 10), .. }), "{refused}");
    bomb.declared = Some(10_001);
    let refused = unpack(&[bomb]);
    assert!(matches!(refused, ArchiveError::Refused { why: Refusal::TooLarge(10_001, _), .. }), "{refused}");
    let many = unpack(&[raw("a"), raw("b"), raw("c"), raw("d")]);
    assert!(matches!(many, ArchiveError::TooManyEntries { found: 4, limit: 3, .. }), "{many}");
}

fn file(name: &str, bytes: &[u8]) -> Entry {
    Entry { name: name.into(), content: Content::Bytes(bytes.to_vec()), executable: false }
}

fn pack(out: &Path, files: Vec<Entry>) -> Result<(), ArchiveError> {
    write(&File::create(out).unwrap(), out, files, None)
}

#[test]
fn the_same_files_give_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let (one, two) = (folder.path().join("one.fmu"), folder.path().join("two.fmu"));
    let library = Entry { executable: true, ..file("binaries/m.so", b"library") };
    pack(&one, vec![file("a", b"1"), library, file("modelDescription.xml", b"<x/>"), file("r/", b"")])
        .unwrap();
    pack(
        &two,
        vec![
            file("r/", b""),
            Entry { executable: true, ..file("binaries\\m.so", b"library") },
            file("modelDescription.xml", b"<x/>"),
            file("a", b"1"),
        ],
    )
    .unwrap();
    assert_eq!(fs::read(&one).unwrap(), fs::read(&two).unwrap());
    let unpacked = unpack(&one, &folder.path().join("out")).unwrap();
    let names: Vec<_> = unpacked.entries.iter().map(|e| (e.name.as_str(), e.mode)).collect();
    let expected = [
        ("modelDescription.xml", Some(0o644)),
        ("a", Some(0o644)),
        ("binaries/m.so", Some(0o755)),
        ("r", Some(0o755)),
    ];
    assert_eq!(names, expected);
    assert_eq!(fs::read(folder.path().join("out/binaries/m.so")).unwrap(), b"library");
}

#[test]
fn names_that_no_archive_may_have_are_not_written() {
    let folder = tempfile::tempdir().unwrap();
    assert!(pack(&folder.path().join("x"), vec![file("a", b""), file("A", b"")]).is_err());
    assert!(pack(&folder.path().join("x"), vec![file("../a", b"")]).is_err());
}

/// A disk that is full after some bytes.
struct Disk {
    content: io::Cursor<Vec<u8>>,
    room: u64,
}

impl Write for Disk {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let free = self.room.saturating_sub(self.content.position());
        match free.min(bytes.len() as u64) as usize {
            0 => Err(io::ErrorKind::StorageFull.into()),
            some => self.content.write(&bytes[..some]),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Seek for Disk {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.content.seek(to)
    }
}

/// Wherever the disk is full, the zip writer does not notice, so that it prints nothing; we do.
#[test]
fn a_disk_may_be_full_anywhere() {
    let files = || -> Vec<Entry> {
        let random: Vec<u8> = (0..2000u32).map(|i| (i.wrapping_mul(i) >> 3) as u8).collect();
        ["a", "b", "c/d"].map(|name| file(name, &random)).into()
    };
    let folder = tempfile::tempdir().unwrap();
    pack(&folder.path().join("x"), files()).unwrap();
    let length = fs::metadata(folder.path().join("x")).unwrap().len();
    let write = |room: u64| {
        let mut disk = Careful::new(Disk { content: io::Cursor::new(Vec::new()), room });
        let unnoticed = write_zip(&mut disk, Path::new("out.fmu"), files(), None).is_ok();
        (unnoticed, disk.finish().is_ok())
    };
    assert_eq!(write(length), (true, true));
    for room in 0..length {
        assert_eq!(write(room), (true, false), "{room} of {length} bytes");
    }
}

/// A full disk is one message of ours, and no line of the zip writer's.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_said_once() {
    let full = File::options().write(true).open("/dev/full").unwrap();
    let files = (0..2000).map(|i| file(&format!("{i}"), b"content")).collect();
    let message = write(&full, Path::new("out.fmu"), files, None).unwrap_err().to_string();
    assert_eq!(message, "cannot write out.fmu: No space left on device (os error 28)");
}

/// What is taken over is what was read, whatever the model did to the unpacked files and somebody to the
/// archive's name.
#[cfg(unix)]
#[test]
fn what_is_taken_over_comes_from_the_original() {
    let case = Case::new(&zip_bytes(&[raw("modelDescription.xml"), raw("resources/table")]));
    let unpacked = case.unpack().unwrap();
    let table = case.target().join("resources/table");
    fs::remove_file(&table).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", &table).unwrap();
    fs::remove_file(case.fmu()).unwrap();
    fs::write(case.fmu(), b"another").unwrap();
    let out = case.folder.path().join("out.fmu");
    let entries = unpacked.entries.iter().map(|entry| Entry {
        name: entry.name.clone(),
        content: Content::Original(entry.index),
        executable: false,
    });
    write(&File::create(&out).unwrap(), &out, entries.collect(), Some(&unpacked)).unwrap();
    unpack(&out, &case.folder.path().join("again")).unwrap();
    assert_eq!(fs::read(case.folder.path().join("again/resources/table")).unwrap(), b"content");
}

/// Ten thousand entries in hundreds of folders come back, every one.
#[test]
fn many_entries_come_back() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out.fmu");
    let files = (0..10_000).map(|i| file(&format!("resources/{}/{i}", i % 400), b"x"));
    pack(&out, files.collect()).unwrap();
    let unpacked = unpack(&out, &folder.path().join("in")).unwrap();
    let files = unpacked.entries.iter().filter(|entry| !entry.is_dir).count();
    assert_eq!(files, 10_000);
}

#[cfg(unix)]
#[test]
fn one_file_under_two_names_is_one_file() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::write(at("a"), b"").unwrap();
    fs::write(at("b"), b"").unwrap();
    std::os::unix::fs::symlink(at("a"), at("soft")).unwrap();
    fs::hard_link(at("a"), at("hard")).unwrap();
    assert!(same_file(&at("a"), &at("a")));
    assert!(same_file(&at("a"), &at("soft")));
    assert!(same_file(&at("hard"), &at("soft")));
    assert!(!same_file(&at("a"), &at("b")));
    assert!(!same_file(&at("a"), &at("new")));
    assert!(same_file(&at("new"), &at("./new")));
}
