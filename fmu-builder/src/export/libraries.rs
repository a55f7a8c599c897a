//! The libraries that go into FMUs: one per platform, embedded in the executable by the build script.

use crate::archive::{Content, Entry};
use crate::options::Fmi;
use fmu_runtime::platform::{Format, PLATFORMS, Platform};
use std::fmt;
use std::path::Path;

/// What the executable embeds. A plain `cargo build` has its own platform's libraries only, a distribution has
/// them all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Libraries {
    /// The co-simulation runtime.
    pub runtimes: &'static [Library],
    /// The reference models.
    pub references: &'static [Library],
}

#[derive(PartialEq, Eq)]
pub struct Library {
    /// [`Platform::name`].
    pub platform: &'static str,
    pub bytes: &'static [u8],
}

/// The platforms of a new FMU.
#[derive(Clone, Debug, Default)]
pub struct Packed {
    /// Folders in `binaries/`.
    pub folders: Vec<String>,
    /// Folders for which the model has a library but the new FMU has none, and platforms that it could have if the
    /// model had a library for them; with the reason.
    pub missing: Vec<String>,
}

impl Libraries {
    /// A runtime for every library that the model brought, in the folder that the new FMU's version of FMI has for its platform.
    /// What a library is for says the file itself, since two platforms share the folder `linux64`.
    pub fn runtimes_for(
        &self,
        names: &[String],
        root: &Path,
        identifier: &str,
        fmi: Fmi,
    ) -> (Vec<Entry>, Packed) {
        let (mut entries, mut packed, mut used) = (Vec::new(), Packed::default(), Vec::new());
        for name in names {
            let Some((folder, file)) = name.strip_prefix("binaries/").and_then(|rest| rest.split_once('/'))
            else {
                continue;
            };
            // Not the model's own library, but one that it needs.
            if file.rsplit_once('.').is_none_or(|(stem, _)| stem != identifier) {
                continue;
            }
            let format = Format::of_file(&root.join(name));
            let runtime = self.runtimes.iter().find(|runtime| {
                let platform = runtime.platform();
                let here = platform.folders().any(|name| name == folder);
                here && file.ends_with(platform.suffix) && format == Some(platform.format)
            });
            match runtime {
                Some(runtime) => {
                    let platform = runtime.platform();
                    let folder = match fmi {
                        Fmi::Three => platform.tuple,
                        Fmi::Two if folder == platform.tuple => platform.name,
                        Fmi::Two => folder,
                    };
                    let name = platform.entry(folder, identifier);
                    if entries.iter().all(|entry: &Entry| entry.name != name) {
                        entries.push(library(name, runtime.bytes));
                        packed.folders.push(folder.to_string());
                        used.push(runtime.platform);
                    }
                }
                None => packed.missing.push(self.reason(folder, format)),
            }
        }
        for runtime in self.runtimes {
            if !used.contains(&runtime.platform) {
                packed.missing.push(format!("{} (the model has no library for it)", runtime.platform));
            }
        }
        (entries, packed)
    }

    fn reason(&self, folder: &str, format: Option<Format>) -> String {
        let known = PLATFORMS.iter().find(|platform| {
            platform.folders().any(|name| name == folder) && Some(platform.format) == format
        });
        match (known, format) {
            (Some(_), _) => format!("{folder} (this fmu-build has no runtime for it)"),
            (None, None) => format!("{folder} (its file is no library)"),
            (None, Some(format)) => format!("{folder} (its file is {format})"),
        }
    }

    /// The reference models' library for every platform that there is one for.
    pub fn references_for(&self, identifier: &str) -> impl Iterator<Item = Entry> {
        self.references.iter().map(move |reference| {
            let platform = reference.platform();
            library(platform.entry(platform.name, identifier), reference.bytes)
        })
    }
}

impl Library {
    /// The build script takes names from the table only.
    fn platform(&self) -> &'static Platform {
        PLATFORMS
            .iter()
            .find(|platform| platform.name == self.platform)
            .unwrap_or_else(|| unreachable!("{} is not in the table of platforms", self.platform))
    }
}

impl fmt::Debug for Library {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} bytes", self.platform, self.bytes.len())
    }
}

fn library(name: String, bytes: &'static [u8]) -> Entry {
    Entry { name, content: Content::Bytes(bytes.to_vec()), executable: true }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::archive;

    const LIBRARIES: Libraries = Libraries {
        runtimes: &[
            Library { platform: "linux64", bytes: b"x86" },
            Library { platform: "aarch64-linux", bytes: b"arm" },
        ],
        references: &[],
    };

    fn elf(machine: u8) -> Vec<u8> {
        let mut bytes = b"\x7fELF".to_vec();
        bytes.resize(64, 0);
        bytes[18] = machine;
        bytes
    }

    fn packed(files: &[(&str, Vec<u8>)]) -> (Vec<(String, Vec<u8>)>, Packed) {
        let folder = tempfile::tempdir().unwrap();
        let (fmu, root) = (folder.path().join("m.fmu"), folder.path().join("m"));
        let entries = files.iter().map(|(name, bytes)| Entry {
            name: name.to_string(),
            content: Content::Bytes(bytes.clone()),
            executable: false,
        });
        archive::write(&std::fs::File::create(&fmu).unwrap(), &fmu, entries.collect(), None).unwrap();
        let names: Vec<String> =
            archive::unpack(&fmu, &root).unwrap().entries.into_iter().map(|entry| entry.name).collect();
        let (entries, packed) = LIBRARIES.runtimes_for(&names, &root, "m", Fmi::Two);
        let content = |entry: Entry| match entry.content {
            Content::Bytes(bytes) => (entry.name, bytes),
            Content::Original(_) => panic!("{} is not embedded", entry.name),
        };
        (entries.into_iter().map(content).collect(), packed)
    }

    #[test]
    fn a_runtime_goes_beside_every_library_of_the_model_that_has_one() {
        let mut pe = b"MZ".to_vec();
        pe.resize(60, 0);
        pe.extend([64, 0, 0, 0, b'P', b'E', 0, 0, 0x64, 0x86]);
        let (entries, packed) = packed(&[
            ("binaries/linux64/m.so", elf(62)),
            ("binaries/linux64/helper.so", elf(62)),
            ("binaries/aarch64-linux/m.so", elf(183)),
            ("binaries/win64/m.dll", pe),
            ("binaries/win32/m.dll", elf(62)),
            ("binaries/darwin64/m.dylib", b"junk".to_vec()),
            ("resources/binaries/linux64/m.so", elf(62)),
        ]);
        // In the order of the archive, which is that of the names.
        let expected = [("binaries/aarch64-linux/m.so", b"arm"), ("binaries/linux64/m.so", b"x86")];
        assert_eq!(entries, expected.map(|(name, bytes)| (name.to_string(), bytes.to_vec())));
        assert_eq!(packed.folders, ["aarch64-linux", "linux64"]);
        let missing = [
            "darwin64 (its file is no library)",
            "win32 (its file is a library for linux64)",
            "win64 (this fmu-build has no runtime for it)",
        ];
        assert_eq!(packed.missing, missing);
    }

    #[test]
    fn what_the_model_lacks_is_not_packed_and_said() {
        let (entries, packed) = packed(&[("binaries/linux64/m.so", elf(62))]);
        assert_eq!(entries.len(), 1);
        assert_eq!(packed.folders, ["linux64"]);
        assert_eq!(packed.missing, ["aarch64-linux (the model has no library for it)"]);
    }

    /// Where FMPy looks on ARM.
    #[test]
    fn an_arm_library_in_linux64_gets_the_arm_runtime() {
        let (entries, packed) = packed(&[("binaries/linux64/m.so", elf(183))]);
        assert_eq!(entries, [("binaries/linux64/m.so".to_string(), b"arm".to_vec())]);
        // Not of the folder's name: there is no library for x86 in it.
        assert_eq!(packed.missing, ["linux64 (the model has no library for it)"]);
    }
}
