//! Which files an FMU's library is made of, and how: from `sources/buildDescription.xml` (FMI 3.0 and 2.0.4) or `<SourceFiles>`
//! (FMI 2.0).
//!
//! Every name must lead to a file in the folder `sources` of the archive. The compiler is told of no other file.

use fmu_runtime::platform;
use model_description::{BuildConfiguration, ModelDescription, SourceFileSet, read_build_description};
use serde::{Deserialize, Serialize};
use std::path::{Component, Path};

/// One library.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Recipe {
    pub sets: Vec<Set>,
    pub libraries: Vec<String>,
    /// Where it is from, for people.
    pub said_by: String,
}

/// Files that are compiled alike; names are relative to `sources`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Set {
    pub files: Vec<String>,
    pub include: Vec<String>,
    /// `NAME` or `NAME=VALUE`.
    pub definitions: Vec<String>,
    /// The FMU's own options, for compilers like gcc.
    pub options: Vec<String>,
}

/// Longest buildDescription.xml that is read.
const LONGEST: u64 = 16 << 20;

impl Recipe {
    /// `None`: the FMU brings no sources.
    pub fn of(root: &Path, description: &ModelDescription) -> Result<Option<Recipe>, String> {
        let sources = root.join("sources");
        let file = sources.join("buildDescription.xml");
        let identifier = description.model_exchange.as_ref().map_or("", |it| it.model_identifier.as_str());
        let recipe = if let Ok(about) = std::fs::metadata(&file) {
            if about.len() > LONGEST {
                return Err(format!("sources/buildDescription.xml has {} bytes", about.len()));
            }
            let text = std::fs::read(&file).map_err(|error| format!("{}: {error}", file.display()))?;
            let read = read_build_description(&text).map_err(|error| {
                error.to_string().replace("modelDescription.xml", "sources/buildDescription.xml")
            })?;
            from_configurations(&read, identifier)?
        } else {
            let files = description.source_files();
            if files.is_empty() {
                return Ok(None);
            }
            Recipe {
                sets: vec![Set { files, ..Set::default() }],
                libraries: Vec::new(),
                said_by: "<SourceFiles> of modelDescription.xml".into(),
            }
        };
        recipe.check(&sources)?;
        Ok(Some(recipe))
    }

    pub fn files(&self) -> impl Iterator<Item = &str> {
        self.sets.iter().flat_map(|set| &set.files).map(String::as_str)
    }

    /// Some file is C++.
    pub fn is_cpp(&self) -> bool {
        let ends = [".cpp", ".cc", ".cxx", ".C"];
        self.files().any(|file| ends.iter().any(|end| file.ends_with(end)))
    }

    fn check(&self, sources: &Path) -> Result<(), String> {
        if self.files().next().is_none() {
            return Err(format!("{} lists no source file; export the FMU again", self.said_by));
        }
        let includes = self.sets.iter().flat_map(|set| &set.include);
        for name in self.files().chain(includes.map(String::as_str)) {
            let path = Path::new(name);
            let inside =
                path.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
            if !inside || name.contains(['\\', '\0']) || name.starts_with('-') {
                return Err(format!(
                    "{} names {name:?}, which leads out of the FMU's folder sources",
                    self.said_by
                ));
            }
            if !sources.join(path).exists() {
                return Err(format!(
                    "{} names {name}, which is not in the FMU's folder sources",
                    self.said_by
                ));
            }
        }
        let name = |name: &str| name.chars().all(|c| c.is_ascii_alphanumeric() || "_+.-".contains(c));
        match self.libraries.iter().find(|library| !name(library) || library.starts_with('-')) {
            Some(odd) => Err(format!("{} names the library {odd:?}, which is no name", self.said_by)),
            None => Ok(()),
        }
    }
}

fn from_configurations(read: &[BuildConfiguration], identifier: &str) -> Result<Recipe, String> {
    let host = [platform::HOST.tuple, platform::HOST.name];
    let fits = |it: &&BuildConfiguration| {
        let named = it.model_identifier == identifier || it.model_identifier.is_empty();
        named && it.platform.as_deref().is_none_or(|platform| host.contains(&platform))
    };
    let Some(configuration) = read.iter().find(fits) else {
        let found: Vec<String> = read
            .iter()
            .map(|it| {
                format!("{} for {}", it.model_identifier, it.platform.as_deref().unwrap_or("any platform"))
            })
            .collect();
        return Err(format!(
            "sources/buildDescription.xml has no BuildConfiguration for {identifier} on {} (it has: {}); export the FMU for it",
            host[0],
            found.join(", ")
        ));
    };
    let set = |set: &SourceFileSet| {
        let gcc = set.compiler.as_deref().is_none_or(|name| name.contains("gcc") || name.contains("clang"));
        let words = |text: &String| text.split_whitespace().map(str::to_string).collect();
        let definition = |(name, value): &(String, Option<String>)| match value {
            Some(value) if !value.is_empty() => format!("{name}={value}"),
            _ => name.clone(),
        };
        Set {
            files: set.files.clone(),
            include: set.include_directories.clone(),
            definitions: set.definitions.iter().map(definition).collect(),
            options: set.options.as_ref().filter(|_| gcc).map_or(Vec::new(), words),
        }
    };
    Ok(Recipe {
        sets: configuration.sets.iter().map(set).collect(),
        libraries: configuration.libraries.clone(),
        said_by: "sources/buildDescription.xml".into(),
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn recipe(files: &[&str]) -> Recipe {
        let files = files.iter().map(|file| file.to_string()).collect();
        Recipe { sets: vec![Set { files, ..Set::default() }], libraries: Vec::new(), said_by: "it".into() }
    }

    #[test]
    fn no_name_leads_out_of_the_archive() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a.c"), "").unwrap();
        assert_eq!(recipe(&["a.c"]).check(folder.path()), Ok(()));
        for odd in ["../a.c", "/etc/passwd", "b/../../a.c", "..\\a.c", "-fplugin=x.so"] {
            let refused = recipe(&["a.c", odd]).check(folder.path()).unwrap_err();
            assert!(refused.contains("leads out of the FMU"), "{odd}: {refused}");
        }
        assert!(recipe(&["b.c"]).check(folder.path()).unwrap_err().contains("which is not in"));
        assert!(recipe(&[]).check(folder.path()).unwrap_err().contains("lists no source file"));
    }

    #[test]
    fn only_a_configuration_for_this_platform_is_taken() {
        let of = |platform: Option<&str>| BuildConfiguration {
            model_identifier: "m".into(),
            platform: platform.map(str::to_string),
            ..BuildConfiguration::default()
        };
        assert!(from_configurations(&[of(Some("riscv-amiga")), of(None)], "m").is_ok());
        let refused = from_configurations(&[of(Some("riscv-amiga"))], "m").unwrap_err();
        assert!(refused.contains("m for riscv-amiga"), "{refused}");
    }
}
