//! The platforms: the one table of FMI's folder names, library names, compiler targets and file formats.
//!
//! The build script includes this file too, so it uses nothing of the crate.

use std::fmt;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// A kind of machine that an FMU can carry a library for.
#[derive(Debug, PartialEq, Eq)]
pub struct Platform {
    /// The folder in `binaries/`, and its name everywhere else.
    pub name: &'static str,
    /// The folder in FMUs of FMI 3.0.
    pub tuple: &'static str,
    /// Another folder in which tools put this platform's libraries.
    pub other_folder: Option<&'static str>,
    /// The extension of a shared library, with its dot.
    pub suffix: &'static str,
    /// What a compiler puts before a library's name; FMI puts nothing.
    pub prefix: &'static str,
    /// The target that our libraries are compiled for.
    pub triple: &'static str,
    pub format: Format,
}

/// What a library's first bytes say of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Linux: `e_machine`.
    Elf(u16),
    /// Windows: `Machine` of the COFF header.
    Pe(u16),
    /// macOS: `cputype`.
    MachO(u32),
}

/// FMI 2.0 names the folders of x86 only. `aarch64-linux` and `aarch64-darwin` are FMI 3.0's names (`tuple`), which tools
/// use for 2.0 as well; FMPy looks in `linux64` on every 64-bit Linux.
pub static PLATFORMS: [Platform; 7] = [
    Platform {
        name: "linux64",
        tuple: "x86_64-linux",
        other_folder: None,
        suffix: ".so",
        prefix: "lib",
        triple: "x86_64-unknown-linux-gnu",
        format: Format::Elf(62),
    },
    Platform {
        name: "win64",
        tuple: "x86_64-windows",
        other_folder: None,
        suffix: ".dll",
        prefix: "",
        triple: "x86_64-pc-windows-gnu",
        format: Format::Pe(0x8664),
    },
    Platform {
        name: "aarch64-linux",
        tuple: "aarch64-linux",
        other_folder: Some("linux64"),
        suffix: ".so",
        prefix: "lib",
        triple: "aarch64-unknown-linux-gnu",
        format: Format::Elf(183),
    },
    Platform {
        name: "darwin64",
        tuple: "x86_64-darwin",
        other_folder: None,
        suffix: ".dylib",
        prefix: "lib",
        triple: "x86_64-apple-darwin",
        format: Format::MachO(0x0100_0007),
    },
    Platform {
        name: "aarch64-darwin",
        tuple: "aarch64-darwin",
        other_folder: Some("darwin64"),
        suffix: ".dylib",
        prefix: "lib",
        triple: "aarch64-apple-darwin",
        format: Format::MachO(0x0100_000c),
    },
    Platform {
        name: "linux32",
        tuple: "x86-linux",
        other_folder: None,
        suffix: ".so",
        prefix: "lib",
        triple: "i686-unknown-linux-gnu",
        format: Format::Elf(3),
    },
    Platform {
        name: "win32",
        tuple: "x86-windows",
        other_folder: None,
        suffix: ".dll",
        prefix: "",
        triple: "i686-pc-windows-gnu",
        format: Format::Pe(0x014c),
    },
];

/// The platform that this is compiled for.
pub static HOST: &Platform = &PLATFORMS[if cfg!(all(target_os = "linux", target_arch = "x86_64")) {
    0
} else if cfg!(all(windows, target_arch = "x86_64")) {
    1
} else if cfg!(all(target_os = "linux", target_arch = "aarch64")) {
    2
} else if cfg!(all(target_os = "macos", target_arch = "x86_64")) {
    3
} else if cfg!(all(target_os = "macos", target_arch = "aarch64")) {
    4
} else if cfg!(all(target_os = "linux", target_arch = "x86")) {
    5
} else if cfg!(all(windows, target_arch = "x86")) {
    6
} else {
    panic!("FMI has no folder for this platform")
}];

impl Platform {
    /// The folders of its libraries in `binaries/`, its own first.
    pub fn folders(&self) -> impl Iterator<Item = &'static str> {
        [self.name, self.tuple].into_iter().chain(self.other_folder)
    }

    /// The archive entry of a library.
    pub fn entry(&self, folder: &str, identifier: &str) -> String {
        format!("binaries/{folder}/{identifier}{}", self.suffix)
    }

    /// The library of an FMU unpacked at `root`. If it is in none of the folders, the place where it ought to be.
    pub fn library(&self, root: &Path, identifier: &str) -> PathBuf {
        let place = |folder| root.join(self.entry(folder, identifier));
        let is_ours = |path: &PathBuf| Format::of_file(path) == Some(self.format);
        let own = [self.name, self.tuple].map(place).into_iter().find(|path| path.is_file());
        own.or_else(|| self.other_folder.map(place).filter(is_ours)).unwrap_or_else(|| place(self.name))
    }

    /// How the compiler names the library of `package`.
    pub fn compiled(&self, package: &str) -> String {
        format!("{}{}{}", self.prefix, package.replace('-', "_"), self.suffix)
    }
}

impl Format {
    /// `None` for what is no library. Of a library for several processors (macOS), the first counts.
    pub fn of(bytes: &[u8]) -> Option<Format> {
        let two = |at: usize| Some(u16::from_le_bytes(bytes.get(at..at + 2)?.try_into().ok()?));
        let four = |at: usize| Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
        match bytes {
            [0x7f, b'E', b'L', b'F', ..] => Some(Format::Elf(two(18)?)),
            [b'M', b'Z', ..] => {
                let header = four(60)? as usize;
                (four(header)? == u32::from_le_bytes(*b"PE\0\0")).then_some(Format::Pe(two(header + 4)?))
            }
            [0xcf, 0xfa, 0xed, 0xfe, ..] => Some(Format::MachO(four(4)?)),
            [0xca, 0xfe, 0xba, 0xbe, ..] => Some(Format::MachO(four(8)?.swap_bytes())),
            _ => None,
        }
    }

    /// Likewise, of the head of a file.
    pub fn of_file(path: &Path) -> Option<Format> {
        let mut head = Vec::new();
        File::open(path).ok()?.take(4096).read_to_end(&mut head).ok()?;
        Format::of(&head)
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match PLATFORMS.iter().find(|platform| platform.format == *self) {
            Some(platform) => write!(f, "a library for {}", platform.name),
            None => write!(f, "a library for another processor ({self:?})"),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn this_program_has_the_format_of_its_platform() {
        let program = std::env::current_exe().unwrap();
        assert_eq!(Format::of_file(&program), Some(HOST.format));
        assert_eq!(HOST.suffix, std::env::consts::DLL_SUFFIX);
        assert_eq!(HOST.prefix, std::env::consts::DLL_PREFIX);
    }

    #[test]
    fn no_library_has_no_format() {
        for bytes in [
            &b""[..],
            b"\x7fELF",
            b"MZ",
            b"MZ\xff\xff\xff\xff",
            b"PK\x03\x04",
            &[b'M', b'Z', 0xff].repeat(30),
        ] {
            assert_eq!(Format::of(bytes), None, "{bytes:?}");
        }
    }

    /// FMPy's place for ARM libraries is the other tools' place for x86: the file decides.
    #[test]
    fn an_arm_library_in_linux64_is_found_and_an_x86_one_is_not() {
        let arm = &PLATFORMS[2];
        let root = std::env::temp_dir().join(format!("fmu-runtime-platform-{}", std::process::id()));
        let folder = root.join("binaries/linux64");
        std::fs::create_dir_all(&folder).unwrap();
        let mut elf = b"\x7fELF".to_vec();
        elf.resize(64, 0);
        for (machine, expected) in [(183, "binaries/linux64/m.so"), (62, "binaries/aarch64-linux/m.so")] {
            elf[18] = machine;
            std::fs::write(folder.join("m.so"), &elf).unwrap();
            assert_eq!(arm.library(&root, "m"), root.join(expected));
        }
        std::fs::remove_dir_all(&root).unwrap();
    }
}
