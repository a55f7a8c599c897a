//! Why a modelDescription.xml was refused: what was found, where, and what to do next.
//!
//! Only what cannot be understood is an error. What can be read in spite of a fault becomes a warning
//! of the `ModelDescription`, and is repaired in what is written.

/// Each message names the element, the attribute and the line, as far as there is one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    #[error("modelDescription.xml is not well-formed XML: line {line}, column {column}: {what}")]
    Malformed { line: usize, column: usize, what: String },

    #[error("modelDescription.xml declares the encoding \"{label}\", which is not known; save it as UTF-8")]
    Encoding { label: String },

    #[error(
        "modelDescription.xml, line {line}: the document type declares entities; they are refused, \
         because a few lines of them expand to gigabytes; remove the <!DOCTYPE>"
    )]
    Entities { line: usize },

    #[error(
        "modelDescription.xml, line {line}: elements are nested more than {limit} deep; no FMU needs that"
    )]
    TooDeep { line: usize, limit: usize },

    #[error(
        "modelDescription.xml, line {line}: the root element is <{found}>, expected <fmiModelDescription>; \
         is this the modelDescription.xml of an FMU?"
    )]
    NotModelDescription { found: String, line: usize },

    #[error(
        "modelDescription.xml, line {line}: fmiVersion=\"{found}\", that is {standard}; fmu-build reads FMI 2.0 and 3.0; \
         re-export the model as a Model-Exchange FMU of one of them"
    )]
    Version { found: String, standard: String, line: usize },

    #[error(
        "modelDescription.xml, line {line}: with the array \"{name}\" the model has more than {limit} scalars, which are too many; \
         export it with smaller arrays"
    )]
    TooManyScalars { name: String, line: usize, limit: u64 },

    #[error("modelDescription.xml, line {line}: {element} has no attribute \"{attribute}\"; {next}")]
    MissingAttribute { element: String, attribute: &'static str, line: usize, next: &'static str },

    #[error("modelDescription.xml, line {line}: {element} has {attribute}=\"{value}\"; expected {expected}")]
    BadAttribute { element: String, attribute: &'static str, value: String, line: usize, expected: String },

    #[error("modelDescription.xml, line {line}: {element} has no {child} element; {next}")]
    MissingElement { element: String, child: &'static str, line: usize, next: &'static str },

    #[error(
        "{model} has no <ModelExchange> element (it is for Co-Simulation only); re-export it for Model Exchange"
    )]
    NotModelExchange { model: String },

    #[error(
        "modelDescription.xml: <ModelExchange> has modelIdentifier={found:?}, which cannot be the name of a library; FMI \
         asks for a C identifier. Export the FMU again under another name"
    )]
    BadIdentifier { found: String },
}
