//! What an FMU says of its own sources: `<SourceFiles>` in a description of FMI 2.0, `sources/buildDescription.xml` since.

use crate::error::Error;
use crate::model::ModelDescription;
use crate::parse::parse;
use crate::tree::{Element, local};

/// How one library can be made of sources.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BuildConfiguration {
    pub model_identifier: String,
    /// The only platform that it is for, such as `x86_64-linux`.
    pub platform: Option<String>,
    pub sets: Vec<SourceFileSet>,
    /// Names of libraries that it is linked with.
    pub libraries: Vec<String>,
}

/// Files that are compiled alike. All names are relative to the folder `sources`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SourceFileSet {
    pub language: Option<String>,
    /// The compiler that `options` are for.
    pub compiler: Option<String>,
    pub options: Option<String>,
    pub files: Vec<String>,
    /// Name and value.
    pub definitions: Vec<(String, Option<String>)>,
    pub include_directories: Vec<String>,
}

/// Read a buildDescription.xml.
pub fn read_build_description(bytes: &[u8]) -> Result<Vec<BuildConfiguration>, Error> {
    let document = parse(bytes, &mut Vec::new())?;
    let root = &document.root;
    if local(&root.name) != "fmiBuildDescription" {
        return Err(Error::NotModelDescription { found: root.name.clone(), line: root.line });
    }
    Ok(named(root, "BuildConfiguration").map(configuration).collect())
}

impl ModelDescription {
    /// The files in `<SourceFiles>` of `<ModelExchange>`, if there are any.
    pub fn source_files(&self) -> Vec<String> {
        let exchange = named(&self.original.root, "ModelExchange").next();
        let lists = exchange.into_iter().flat_map(|exchange| named(exchange, "SourceFiles"));
        let files = lists.flat_map(|list| named(list, "File")).filter_map(|file| file.get("name"));
        files.map(str::to_string).collect()
    }
}

fn named<'a>(element: &'a Element, name: &'a str) -> impl Iterator<Item = &'a Element> {
    element.elements().filter(move |child| local(&child.name) == name)
}

fn configuration(element: &Element) -> BuildConfiguration {
    let text = |name: &str| element.get(name).map(str::to_string);
    BuildConfiguration {
        model_identifier: text("modelIdentifier").unwrap_or_default(),
        platform: text("platform"),
        sets: named(element, "SourceFileSet").map(set).collect(),
        libraries: named(element, "Library").filter_map(|it| it.get("name")).map(str::to_string).collect(),
    }
}

fn set(element: &Element) -> SourceFileSet {
    let text = |element: &Element, name: &str| element.get(name).map(str::to_string);
    let names = |list: &str| named(element, list).filter_map(|it| text(it, "name")).collect();
    let needed = |it: &&Element| it.get("optional") != Some("true") || it.get("value").is_some();
    let definitions = named(element, "PreprocessorDefinition").filter(needed);
    SourceFileSet {
        language: text(element, "language"),
        compiler: text(element, "compiler"),
        options: text(element, "compilerOptions"),
        files: names("SourceFile"),
        definitions: definitions.filter_map(|it| Some((text(it, "name")?, text(it, "value")))).collect(),
        include_directories: names("IncludeDirectory"),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_build_description_is_read() {
        let xml = br#"<?xml version="1.0"?>
<fmiBuildDescription fmiVersion="3.0">
  <BuildConfiguration modelIdentifier="m" platform="x86_64-linux">
    <SourceFileSet language="C99" compiler="gcc" compilerOptions="-O1 -g">
      <SourceFile name="a.c"/><SourceFile name="b/c.c"/>
      <PreprocessorDefinition name="N" value="3"/>
      <PreprocessorDefinition name="FREE" optional="true"/>
      <IncludeDirectory name="b"/>
    </SourceFileSet>
    <Library name="m" external="true"/>
  </BuildConfiguration>
</fmiBuildDescription>"#;
        let read = read_build_description(xml).unwrap();
        assert_eq!(read.len(), 1);
        assert_eq!(read[0].libraries, ["m"]);
        let set = &read[0].sets[0];
        assert_eq!(set.files, ["a.c", "b/c.c"]);
        assert_eq!(set.definitions, [("N".to_string(), Some("3".to_string()))]);
        assert_eq!(set.include_directories, ["b"]);
        assert!(read_build_description(b"<html/>").is_err());
    }
}
