//! The schema of FMI 2.0 as a table: what may stand where, in which order, and how values are written.
//!
//! Source: fmi2ModelDescription.xsd and the files that it includes. What follows from several elements
//! together (units, start values, indices) is not here; see `types`, `variables` and `structure`.

/// What an element may hold.
pub(crate) struct Rule {
    pub name: &'static str,
    pub attributes: &'static [(&'static str, Literal)],
    /// An element without one of these has no meaning and is taken out.
    pub required: &'static [&'static str],
    /// In the order that the schema demands.
    pub children: &'static [&'static Rule],
    /// May stand more than once in its parent.
    pub repeated: bool,
    /// The schema wants at least one child.
    pub container: bool,
    /// So many of the first children exclude one another.
    pub choice: usize,
    /// Vendor annotations: below `Tool` anything goes.
    pub annotations: bool,
}

/// How the value of an attribute is written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Literal {
    Text,
    Double,
    Int,
    Boolean,
    DateTime,
    OneOf(&'static [&'static str]),
    /// Judged later, together with others.
    Later,
}

use Literal::{Boolean, DateTime, Double, Int, Later, OneOf, Text};

const EMPTY: Rule = Rule {
    name: "",
    attributes: &[],
    required: &[],
    children: &[],
    repeated: false,
    container: false,
    choice: 0,
    annotations: false,
};

pub(crate) static ROOT: Rule = Rule {
    name: "fmiModelDescription",
    attributes: &[
        ("fmiVersion", Later),
        ("modelName", Text),
        ("guid", Text),
        ("description", Text),
        ("author", Text),
        ("version", Text),
        ("copyright", Text),
        ("license", Text),
        ("generationTool", Text),
        ("generationDateAndTime", DateTime),
        ("variableNamingConvention", OneOf(&["flat", "structured"])),
        ("numberOfEventIndicators", Later),
    ],
    children: &[
        &MODEL_EXCHANGE,
        &CO_SIMULATION,
        &UNIT_DEFINITIONS,
        &TYPE_DEFINITIONS,
        &LOG_CATEGORIES,
        &DEFAULT_EXPERIMENT,
        &VENDOR_ANNOTATIONS,
        &MODEL_VARIABLES,
        &MODEL_STRUCTURE,
    ],
    ..EMPTY
};

static MODEL_EXCHANGE: Rule = Rule {
    name: "ModelExchange",
    attributes: &[
        ("modelIdentifier", Text),
        ("needsExecutionTool", Boolean),
        ("completedIntegratorStepNotNeeded", Boolean),
        ("canBeInstantiatedOnlyOncePerProcess", Boolean),
        ("canNotUseMemoryManagementFunctions", Boolean),
        ("canGetAndSetFMUstate", Boolean),
        ("canSerializeFMUstate", Boolean),
        ("providesDirectionalDerivative", Boolean),
    ],
    children: &[&SOURCE_FILES],
    ..EMPTY
};

static CO_SIMULATION: Rule = Rule {
    name: "CoSimulation",
    attributes: &[
        ("modelIdentifier", Text),
        ("needsExecutionTool", Boolean),
        ("canHandleVariableCommunicationStepSize", Boolean),
        ("canInterpolateInputs", Boolean),
        ("maxOutputDerivativeOrder", Later),
        ("canRunAsynchronuously", Boolean),
        ("canBeInstantiatedOnlyOncePerProcess", Boolean),
        ("canNotUseMemoryManagementFunctions", Boolean),
        ("canGetAndSetFMUstate", Boolean),
        ("canSerializeFMUstate", Boolean),
        ("providesDirectionalDerivative", Boolean),
    ],
    children: &[&SOURCE_FILES],
    ..EMPTY
};

static SOURCE_FILES: Rule = Rule { name: "SourceFiles", children: &[&FILE], container: true, ..EMPTY };
static FILE: Rule =
    Rule { name: "File", attributes: &[("name", Text)], required: &["name"], repeated: true, ..EMPTY };

static UNIT_DEFINITIONS: Rule =
    Rule { name: "UnitDefinitions", children: &[&UNIT], container: true, ..EMPTY };
static UNIT: Rule = Rule {
    name: "Unit",
    attributes: &[("name", Text)],
    required: &["name"],
    children: &[&BASE_UNIT, &DISPLAY_UNIT],
    repeated: true,
    ..EMPTY
};
static BASE_UNIT: Rule = Rule {
    name: "BaseUnit",
    attributes: &[
        ("kg", Int),
        ("m", Int),
        ("s", Int),
        ("A", Int),
        ("K", Int),
        ("mol", Int),
        ("cd", Int),
        ("rad", Int),
        ("factor", Double),
        ("offset", Double),
    ],
    ..EMPTY
};
static DISPLAY_UNIT: Rule = Rule {
    name: "DisplayUnit",
    attributes: &[("name", Text), ("factor", Double), ("offset", Double)],
    required: &["name"],
    repeated: true,
    ..EMPTY
};

static TYPE_DEFINITIONS: Rule =
    Rule { name: "TypeDefinitions", children: &[&SIMPLE_TYPE], container: true, ..EMPTY };
static SIMPLE_TYPE: Rule = Rule {
    name: "SimpleType",
    attributes: &[("name", Text), ("description", Text)],
    required: &["name"],
    children: &[&REAL_TYPE, &INTEGER_TYPE, &BOOLEAN_TYPE, &STRING_TYPE, &ENUMERATION_TYPE],
    repeated: true,
    container: true,
    choice: 5,
    ..EMPTY
};
static REAL_TYPE: Rule = Rule {
    name: "Real",
    attributes: &[
        ("quantity", Text),
        ("unit", Text),
        ("displayUnit", Text),
        ("relativeQuantity", Boolean),
        ("min", Double),
        ("max", Double),
        ("nominal", Double),
        ("unbounded", Boolean),
    ],
    ..EMPTY
};
static INTEGER_TYPE: Rule =
    Rule { name: "Integer", attributes: &[("quantity", Text), ("min", Int), ("max", Int)], ..EMPTY };
static BOOLEAN_TYPE: Rule = Rule { name: "Boolean", ..EMPTY };
static STRING_TYPE: Rule = Rule { name: "String", ..EMPTY };
static ENUMERATION_TYPE: Rule =
    Rule { name: "Enumeration", attributes: &[("quantity", Text)], children: &[&ITEM], ..EMPTY };
static ITEM: Rule = Rule {
    name: "Item",
    attributes: &[("name", Text), ("value", Int), ("description", Text)],
    required: &["name", "value"],
    repeated: true,
    ..EMPTY
};

static LOG_CATEGORIES: Rule =
    Rule { name: "LogCategories", children: &[&CATEGORY], container: true, ..EMPTY };
static CATEGORY: Rule = Rule {
    name: "Category",
    attributes: &[("name", Text), ("description", Text)],
    required: &["name"],
    repeated: true,
    ..EMPTY
};

static DEFAULT_EXPERIMENT: Rule = Rule {
    name: "DefaultExperiment",
    attributes: &[("startTime", Double), ("stopTime", Double), ("tolerance", Double), ("stepSize", Double)],
    ..EMPTY
};

static VENDOR_ANNOTATIONS: Rule = Rule { name: "VendorAnnotations", annotations: true, ..EMPTY };
static ANNOTATIONS: Rule = Rule { name: "Annotations", annotations: true, ..EMPTY };

static MODEL_VARIABLES: Rule = Rule { name: "ModelVariables", children: &[&SCALAR_VARIABLE], ..EMPTY };
static SCALAR_VARIABLE: Rule = Rule {
    name: "ScalarVariable",
    attributes: &[
        ("name", Text),
        ("valueReference", Later),
        ("description", Text),
        ("causality", Later),
        ("variability", Later),
        ("initial", Later),
        ("canHandleMultipleSetPerTimeInstant", Boolean),
    ],
    children: &[&REAL, &INTEGER, &BOOLEAN, &STRING, &ENUMERATION, &ANNOTATIONS],
    repeated: true,
    choice: 5,
    ..EMPTY
};
static REAL: Rule = Rule {
    name: "Real",
    attributes: &[
        ("declaredType", Text),
        ("quantity", Text),
        ("unit", Text),
        ("displayUnit", Text),
        ("relativeQuantity", Boolean),
        ("min", Double),
        ("max", Double),
        ("nominal", Double),
        ("unbounded", Boolean),
        ("start", Double),
        ("derivative", Later),
        ("reinit", Boolean),
    ],
    ..EMPTY
};
static INTEGER: Rule = Rule {
    name: "Integer",
    attributes: &[("declaredType", Text), ("quantity", Text), ("min", Int), ("max", Int), ("start", Int)],
    ..EMPTY
};
static BOOLEAN: Rule =
    Rule { name: "Boolean", attributes: &[("declaredType", Text), ("start", Boolean)], ..EMPTY };
static STRING: Rule =
    Rule { name: "String", attributes: &[("declaredType", Text), ("start", Text)], ..EMPTY };
static ENUMERATION: Rule = Rule {
    name: "Enumeration",
    attributes: &[("declaredType", Text), ("quantity", Text), ("min", Int), ("max", Int), ("start", Int)],
    ..EMPTY
};

static MODEL_STRUCTURE: Rule =
    Rule { name: "ModelStructure", children: &[&OUTPUTS, &DERIVATIVES, &INITIAL_UNKNOWNS], ..EMPTY };
static OUTPUTS: Rule = Rule { name: "Outputs", children: &[&UNKNOWN], container: true, ..EMPTY };
static DERIVATIVES: Rule = Rule { name: "Derivatives", children: &[&UNKNOWN], container: true, ..EMPTY };
static INITIAL_UNKNOWNS: Rule =
    Rule { name: "InitialUnknowns", children: &[&UNKNOWN], container: true, ..EMPTY };
static UNKNOWN: Rule = Rule {
    name: "Unknown",
    attributes: &[("index", Later), ("dependencies", Later), ("dependenciesKind", Later)],
    repeated: true,
    ..EMPTY
};
